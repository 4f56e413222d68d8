import { describe, expect, it } from 'vitest';
import { GatewayUnavailable } from '../../../gateways/errors.ts';
import { adapterOf } from '../../support/gateways/fixture.ts';
import { aProvider } from '../../support/gateways/provider.ts';
import { zarinpal } from '../../support/gateways/zarinpal.ts';
import { zibal } from '../../support/gateways/zibal.ts';

const since = new Date('2023-08-30T00:00:00Z');

describe('the payouts of ZarinPal', () => {
  const { provider, adapter, callsOf } = aProvider(zarinpal, 'live');
  const payout = {
    ...{ id: '8039236', status: 'PAID', amount: 28_000_000 },
    payable_at: '2023-09-12T00:20:43+03:30',
    reference_id: '1402,06,21N1000000000000337759' as string | null,
    reconciled_at: '2023-09-12T17:00:00+03:30' as string | null,
  };
  const list = async (...payouts: (typeof payout)[]) => {
    provider().payouts.splice(0, Infinity, ...payouts);
    return (await adapter().payouts!(since, null)).payouts;
  };

  it('are asked for with the terminal, and have the sum and the reference of the bank', async () => {
    const [call] = await callsOf(() => list());
    expect(call?.headers.authorization).toBe('Bearer token-0123456789');
    expect(call?.json).toMatchObject({ variables: { terminal_id: '4711', filter: 'ALL' } });
    expect(await list(payout)).toEqual([
      {
        ...{ id: '8039236', amount: 28_000_000, currency: 'IRR', status: 'paid', lines: 'never' },
        ...{ createdAt: new Date('2023-09-11T20:50:43Z'), arrivesOn: '2023-09-12' },
        ...{ descriptor: null, bankReference: '1402,06,21N1000000000000337759', paidOut: [] },
      },
    ]);
  });

  it('are those since the time alone', async () => {
    expect(await list({ ...payout, payable_at: '2023-08-29T23:59:59Z' })).toEqual([]);
  });

  it.each([
    ['REVERSED', 'failed'],
    ['BANK_REJECTED', 'failed'],
    ['PENDING', 'on_its_way'],
    // A status that is not known says nothing of the bank.
    ['SOMETHING', 'on_its_way'],
  ])('are %s as %s', async (status, expected) => {
    const known = { ...payout, status, reference_id: '', reconciled_at: null };
    expect(await list(known)).toMatchObject([
      { status: expected, arrivesOn: null, bankReference: null },
    ]);
  });

  it('are no outcome where the answer is not understood', async () => {
    await expect(list({ ...payout, payable_at: '21/06/1402' })).rejects.toThrow(GatewayUnavailable);
  });
});

describe('the payouts of Zibal', () => {
  const { provider, adapter, callsOf } = aProvider(zibal, 'live');
  const details = [
    { amount: 900, type: 1, transactionId: '3000000001', transactionOrderId: 'PAY_1' },
    { amount: -100, type: 1, transactionId: '3000000002', transactionOrderId: 'PAY_2' },
    { amount: -50, type: 7, transactionId: '', transactionOrderId: '' },
  ];
  const payout = {
    ...{ amount: 750, settlementDate: '2023-09-12T01:30:00.000000', status: 0 },
    refNumber: '00112233' as string | null,
    details,
  };
  const list = async (...payouts: object[]) => {
    provider().payouts.splice(0, Infinity, ...(payouts as (typeof payout)[]));
    return adapter().payouts!(since, null);
  };

  it('have their parts, with the reference of each payment', async () => {
    const { payouts, next } = await list(payout);
    const at = new Date('2023-09-11T22:00:00Z');
    expect(next).toBe('2');
    expect(payouts).toMatchObject([
      {
        ...{ id: '00112233', amount: 750, currency: 'IRR', status: 'paid', lines: 'listed' },
        ...{ createdAt: at, arrivesOn: '2023-09-12', bankReference: '00112233' },
        paidOut: [
          { id: '00112233_00001', kind: 'payment', amount: 900, source: '3000000001', at },
          { id: '00112233_00002', kind: 'refund', amount: -100, source: '3000000002' },
          { id: '00112233_00003', kind: 'other', amount: -50, type: 'type 7', source: null },
        ],
      },
    ]);
  });

  it('come page by page, from a day on', async () => {
    await list(payout, { ...payout, refNumber: '2' });
    const [call] = await callsOf(async () => {
      const { payouts, next } = await adapter().payouts!(since, '2');
      expect(payouts).toMatchObject([{ id: '2' }]);
      expect(await adapter().payouts!(since, next)).toEqual({ payouts: [], next: null });
    });
    expect(call).toMatchObject({
      path: '/v1/report/checkout',
      json: { page: 2, size: 1, fromDate: '2023-08-30' },
    });
    expect(call?.headers.authorization).toBe('Bearer token-0123456789');
  });

  it('have the sum alone without details, and none while the bank has no number', async () => {
    const alone = { ...payout, details: undefined, settlementDate: '2023-09-12' };
    expect((await list(alone)).payouts).toMatchObject([
      { lines: 'never', paidOut: [], createdAt: new Date('2023-09-11T20:30:00Z') },
    ]);
    expect((await list({ ...payout, refNumber: null })).payouts).toEqual([]);
  });

  it('have failed where the money came back', async () => {
    expect((await list({ ...payout, status: 1 })).payouts).toMatchObject([{ status: 'failed' }]);
  });

  it.each([{ settlementDate: '2023/09/12' }, { settlementDate: '2023-19-45' }, { amount: 1.5 }])(
    'are no outcome where the answer is not understood: %j',
    async (changes) => {
      await expect(list({ ...payout, ...changes })).rejects.toThrow(GatewayUnavailable);
    },
  );
});

it('need the credentials for refunds', () => {
  for (const { driver, credentials } of [zarinpal, zibal]) {
    const others = { ...credentials.live, refunds: undefined };
    expect(adapterOf(driver, { kind: 'live', credentials: others }).payouts).toBeUndefined();
  }
});
