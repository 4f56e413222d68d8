import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { GatewayUnavailable } from '../../../gateways/errors.ts';
import type { OpenedPayment } from '../../../gateways/gateway.ts';
import type { Provider } from '../../fakes/server.ts';
import {
  adapterOf,
  aGatewayPayment,
  newRefundId,
  type ProviderFixture,
} from '../../support/gateways/fixture.ts';
import { payping } from '../../support/gateways/payping.ts';
import { zarinpal } from '../../support/gateways/zarinpal.ts';

const describeReversals = <P extends Provider>({
  driver,
  start,
  credentials,
  money,
}: ProviderFixture<P>) =>
  describe(`${driver}: a refund that undoes the payment`, () => {
    let provider: P;
    beforeAll(async () => {
      provider = await start('sandbox');
    });
    afterAll(() => provider.stop());
    const adapter = () =>
      adapterOf(driver, {
        kind: 'sandbox',
        credentials: { ...credentials.sandbox, baseUrl: provider.url },
      });
    const paid = async (): Promise<OpenedPayment> => {
      const payment = aGatewayPayment(money);
      const opening = await adapter().open(payment);
      if (opening.result !== 'opened') throw new Error(`${opening.code}: ${opening.message}`);
      await provider.pay(opening.reference);
      const opened = { ...payment, reference: opening.reference };
      expect(await adapter().verify(opened)).toMatchObject({ state: 'paid' });
      return opened;
    };
    const refund = (payment: OpenedPayment, isReversible: boolean) =>
      adapter().refund!(payment, {
        id: newRefundId(),
        amount: payment.amount,
        timesTold: 0,
        toldAt: null,
        isReversible,
      });
    const reversedOf = ({ reference }: OpenedPayment) => provider.book.get(reference)?.reversed;

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

    it('is refused after its time, without the credentials of another way', async () => {
      const payment = await paid();
      const answer = await refund(payment, false);
      const failureCode = driver === 'payping' ? 'not_refundable' : 'merchant_configuration';
      expect(answer).toMatchObject({ result: 'refused', failureCode });
      expect(reversedOf(payment)).toBe(0);
    });

    it('is no outcome when its answer is lost', async () => {
      const payment = await paid();
      provider.fail('lost', /reverse/);
      await expect(refund(payment, true)).rejects.toThrow(GatewayUnavailable);
      expect(reversedOf(payment)).toBe(1);
    });
  });

describeReversals(payping);
describeReversals(zarinpal);

it('zarinpal: shows what was undone, so that a lost answer is found', async () => {
  const provider = await zarinpal.start('sandbox');
  const adapter = () =>
    adapterOf('zarinpal', {
      kind: 'sandbox',
      credentials: { ...zarinpal.credentials.sandbox, baseUrl: provider.url },
    });
  const payment = aGatewayPayment(zarinpal.money);
  const opening = await adapter().open(payment);
  const opened = { ...payment, reference: opening.result === 'opened' ? opening.reference : '' };
  provider.pay(opened.reference);
  await adapter().verify(opened);
  expect(await adapter().refunds!(opened, [])).toEqual([]);
  await adapter().reverse!(opened);
  expect(await adapter().refunds!(opened, [])).toMatchObject([
    { amount: payment.amount, state: 'succeeded', reference: `reversal-${opened.reference}` },
  ]);
  await provider.stop();
});
