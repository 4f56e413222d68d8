import { describe, expect, it, onTestFinished } from 'vitest';
import { aGatewayRefund } from '../../support/gateways/fixture.ts';
import { aProvider } from '../../support/gateways/provider.ts';
import { zibal } from '../../support/gateways/zibal.ts';

const { provider, adapter, paid, callsOf } = aProvider(zibal, 'live');
const { amount: whole } = zibal.money;

describe('zibal, refunds', () => {
  it.each([
    [whole, true],
    [60_000, false],
  ])('sends the documented fields for %i, and no card number', async (amount, tryReverse) => {
    const payment = await paid();
    const refund = aGatewayRefund(amount);
    const [call] = await callsOf(() => adapter().refund!(payment, refund));
    expect(call).toMatchObject({ method: 'POST', path: '/v1/account/refund' });
    expect(call?.headers.authorization).toBe('Bearer token-0123456789');
    expect(call?.json).toEqual({
      trackId: Number(payment.reference),
      accountId: 'account-1',
      amount,
      tryReverse,
      description: refund.id,
    });
  });

  it('counts one refund that Zibal splits, and succeeds when all parts have', async () => {
    const payment = await paid();
    provider().splitRefunds(2);
    onTestFinished(() => provider().splitRefunds(1));
    const answer = await adapter().refund!(payment, aGatewayRefund(60_000));
    const { reference } = answer.result === 'accepted' ? answer.refund : { reference: '' };
    expect(reference).toMatch(/^\d+,\d+$/);
    const list = () => adapter().refunds!(payment, [reference]);
    const known = { reference, amount: 60_000 };
    const [first] = provider().of(payment.reference);
    expect(await list()).toMatchObject([{ ...known, state: 'succeeded' }]);
    for (const state of ['1', '3']) {
      first!.state = state;
      expect(await list()).toMatchObject([{ ...known, state: 'pending' }]);
    }
  });

  it('shows the whole amount that Zibal reversed at once', async () => {
    const payment = await paid();
    provider().reverseQuickly(true);
    onTestFinished(() => provider().reverseQuickly(false));
    const answer = await adapter().refund!(payment, aGatewayRefund(whole));
    expect(answer).toMatchObject({ result: 'accepted', refund: { state: 'succeeded' } });
    const known = answer.result === 'accepted' ? [answer.refund] : [];
    expect(await adapter().refunds!(payment, [])).toEqual(known);
  });

  it('takes the number of a refund without parts', async () => {
    const payment = await paid();
    provider().splitRefunds(0);
    onTestFinished(() => provider().splitRefunds(1));
    const answer = await adapter().refund!(payment, aGatewayRefund(60_000));
    const reference = String(provider().of(payment.reference)[0]?.reference);
    expect(answer).toMatchObject({ result: 'accepted', refund: { reference, amount: 60_000 } });
    expect(await adapter().refunds!(payment, [reference])).toMatchObject([{ reference }]);
  });

  it('reads every page of the list, and the time in Tehran', async () => {
    const payment = await paid();
    await adapter().refund!(payment, aGatewayRefund(60_000));
    const [refund] = provider().of(payment.reference);
    const other = await paid();
    for (let more = 0; more < 100; more += 1) provider().refundAtDashboard(other.reference, 1);
    provider().refunds.push(...provider().refunds.splice(0, 1));
    const list = async () => adapter().refunds!(payment, []);
    expect(await list()).toMatchObject([{ amount: 60_000, createdAt: refund?.createdAt }]);
    expect(await callsOf(list)).toHaveLength(2);
  });
});
