import { randomBytes } from 'node:crypto';
import { expect, it } from 'vitest';
import { AccountProblem, GatewaySilence } from '../../gateways/gateway.ts';
import { createSecretBox } from '../../postgres/secret-box.ts';
import { adapterOf, aPayment } from './subject.ts';

const payment = { ...aPayment({ amount: 5_000, currency: 'EUR' }), reference: 'x' };
const account = { kind: 'sandbox', credentials: { secretKey: 'sk_test_1' } } as const;
const otherRing = createSecretBox({
  currentId: 'k2',
  keys: new Map([['k2', randomBytes(32)]]),
});
const noJson = { open: () => 'sk_test_1' };

it.each([
  ['a key that is missing here', 'stripe', otherRing, 'SECRETS_KEY holds no key named'],
  ['what was sealed is no JSON', 'stripe', noJson, 'The credentials of account cannot be read'],
  ['a driver of another version', 'newer', undefined, 'There is no gateway driver named newer'],
])('%s ends no payment: it is as if the gateway were silent', async (_what, driver, box, says) => {
  const adapter = adapterOf(driver, account, box ? { openedBy: box } : {});
  for (const call of [adapter.open, adapter.verify, adapter.inquire]) {
    const error: unknown = await call(payment).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(GatewaySilence);
    expect(error).not.toBeInstanceOf(AccountProblem);
    expect(String(error)).toContain(says);
    expect(String(error)).not.toContain('sk_test');
  }
});
