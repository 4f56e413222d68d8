import { randomBytes } from 'node:crypto';
import { MockAgent } from 'undici';
import { expect, it } from 'vitest';
import { AccountProblem, GatewayUnavailable } from '../../../gateways/errors.ts';
import type { Account } from '../../../gateways/gateway.ts';
import { createSecretBox } from '../../../postgres/secrets/secret-box.ts';
import { adapterOf, aGatewayPayment } from '../../support/gateways/fixture.ts';

const payment = { ...aGatewayPayment({ amount: 5_000, currency: 'EUR' }), reference: 'x' };
const account = { kind: 'sandbox', credentials: { secretKey: 'sk_test_1' } } as const;
const otherRing = createSecretBox({
  currentId: 'k2',
  keys: new Map([['k2', randomBytes(32)]]),
});
const notJson = { open: () => 'sk_test_1' };

it.each([
  ['a missing key', 'stripe', otherRing, 'SECRETS_KEY holds no key named'],
  ['credentials that are not JSON', 'stripe', notJson, 'The credentials of account cannot be read'],
  ['a driver of another version', 'newer', undefined, 'There is no gateway driver named newer'],
])(
  'throws GatewayUnavailable for %s, so that no payment ends',
  async (_name, driver, box, text) => {
    const adapter = adapterOf(driver, account, box ? { openWith: box } : {});
    for (const call of [adapter.open, adapter.verify, adapter.inquire]) {
      const error: unknown = await call(payment).catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(GatewayUnavailable);
      expect(error).not.toBeInstanceOf(AccountProblem);
      expect(String(error)).toContain(text);
      expect(String(error)).not.toContain('sk_test');
    }
  },
);

const host = {
  test: 'https://sandbox.zarinpal.com',
  live: 'https://payment.zarinpal.com',
  zibal: 'https://gateway.zibal.ir',
  payping: 'https://api.payping.ir',
  stripe: 'https://api.stripe.com',
  sep: 'https://sep.shaparak.ir',
};
const merchantId = '0b8a7e1c-6c1d-4a53-9f5e-2f6a1c9d7e42';
const [testAuthority = '', liveAuthority = ''] = ['S', 'A'].map((first) => first.padEnd(36, '0'));
const authorityIs = (authority: string) => ({ data: { code: 100, authority } });
const token = 'token-0123456789';
const page = 'https://checkout.stripe.example/c/pay';
const session = (mode: string) => ({ id: `cs_${mode}_7`, livemode: mode === 'live', url: page });

type Case = [
  string,
  Account['kind'],
  credentials: object,
  at: string,
  response: object,
  page: string,
];

it.each<Case>([
  ['zarinpal', 'sandbox', { merchantId }, host.test, authorityIs(testAuthority), testAuthority],
  ['zarinpal', 'live', { merchantId }, host.live, authorityIs(liveAuthority), liveAuthority],
  ['zibal', 'sandbox', { merchant: 'zibal' }, host.zibal, { result: 100, trackId: 7 }, '7'],
  ['zibal', 'live', { merchant: 'of-a-shop' }, host.zibal, { result: 100, trackId: 7 }, '7'],
  ['payping', 'sandbox', { testToken: token }, host.payping, { paymentCode: 'pc7' }, 'pc7'],
  ['payping', 'live', { liveToken: token }, host.payping, { paymentCode: 'pc7' }, 'pc7'],
  ['stripe', 'sandbox', { secretKey: 'sk_test_0123' }, host.stripe, session('test'), page],
  ['stripe', 'live', { secretKey: 'sk_live_0123' }, host.stripe, session('live'), page],
  ['sep', 'live', { terminalId: '2015' }, host.sep, { status: 1, token: 't7' }, 't7'],
])(
  "%s, %s: calls the provider's own host with its credentials, and redirects the payer there",
  async (driver, kind, credentials, at, response, end) => {
    const agent = new MockAgent();
    agent.disableNetConnect();
    let sent = '';
    agent
      .get(at)
      .intercept({ path: () => true, method: 'POST' })
      .reply(({ headers, body }) => {
        sent = JSON.stringify([headers, body]);
        return { statusCode: 200, data: response };
      });
    const adapter = adapterOf(driver, { kind, credentials }, { sendWith: () => agent });
    const currency = driver === 'stripe' ? 'EUR' : 'IRR';
    const opening = await adapter.open(aGatewayPayment({ amount: 150_000, currency }));
    if (opening.result !== 'opened') throw new Error(`${opening.message}`);
    expect(sent).toContain(Object.values(credentials)[0]);
    const { url } = opening.redirect;
    expect([new URL(url).origin, url.endsWith(end)]).toEqual([new URL(end, at).origin, true]);
  },
);
