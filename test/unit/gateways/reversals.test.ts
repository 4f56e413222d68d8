import { describe, expect, it } from 'vitest';
import { GatewayUnavailable } from '../../../gateways/errors.ts';
import type { OpenedPayment } from '../../../gateways/gateway.ts';
import { aGatewayRefund } from '../../support/gateways/fixture.ts';
import { payping } from '../../support/gateways/payping.ts';
import { aProvider } from '../../support/gateways/provider.ts';
import { sep } from '../../support/gateways/sep.ts';
import { zarinpal } from '../../support/gateways/zarinpal.ts';

const at = { payping: aProvider(payping), zarinpal: aProvider(zarinpal), sep: aProvider(sep) };

describe.each(['payping', 'zarinpal', 'sep'] as const)(
  '%s: a refund that undoes the payment',
  (driver) => {
    const { adapter, opened, paid, provider } = at[driver];
    const refund = (payment: OpenedPayment, isReversible: boolean) =>
      adapter().refund!(payment, aGatewayRefund(payment.amount, isReversible));
    const reversedOf = ({ reference }: OpenedPayment) => provider().book.get(reference)?.reversed;

    it('gives the whole amount back once', async () => {
      const payment = await paid();
      expect(await refund(payment, true)).toMatchObject({
        result: 'accepted',
        refund: { amount: payment.amount, state: 'succeeded' },
      });
      const again = refund(payment, true);
      // PayPing has no code that says it for certain, and its report has to.
      if (driver === 'payping') await expect(again).rejects.toThrow(GatewayUnavailable);
      else expect(await again).toMatchObject({ result: 'accepted' });
      expect(reversedOf(payment)).toBe(1);
    });

    it('is refused while nobody has paid', async () => {
      const code = driver === 'zarinpal' ? '-61' : null;
      expect(await adapter().reverse!(await opened())).toMatchObject({ result: 'refused', code });
    });

    it('is refused after its time, without the credentials of another way', async () => {
      const payment = await paid();
      const answer = await refund(payment, false);
      const failureCode = driver === 'zarinpal' ? 'merchant_configuration' : 'not_refundable';
      expect(answer).toMatchObject({ result: 'refused', failureCode });
      expect(reversedOf(payment)).toBe(0);
    });

    it('is no outcome when its answer is lost', async () => {
      const payment = await paid();
      provider().fail('lost', /reverse/i);
      await expect(refund(payment, true)).rejects.toThrow(GatewayUnavailable);
      expect(reversedOf(payment)).toBe(1);
    });
  },
);

it.each(['zarinpal', 'sep'] as const)('%s: shows what was undone', async (driver) => {
  const { adapter, paid } = at[driver];
  const payment = await paid();
  expect(await adapter().refunds!(payment, [])).toEqual([]);
  await adapter().reverse!(payment);
  expect(await adapter().refunds!(payment, [])).toMatchObject([
    { amount: payment.amount, state: 'succeeded', reference: `reversal-${payment.reference}` },
  ]);
});
