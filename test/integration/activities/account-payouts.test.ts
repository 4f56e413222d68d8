import { describe, expect, it } from 'vitest';
import { createPayoutOperations } from '../../../admin/operations/payouts.ts';
import { dayMs } from '../../../contract/time.ts';
import { startZarinpal } from '../../fakes/zarinpal.ts';
import { startZibal } from '../../fakes/zibal.ts';
import { anAccountOf } from '../../support/data/account-activities.ts';
import { startRecords } from '../../support/data/records.ts';
import { forFile } from '../../support/for-file.ts';
import { adapterOf } from '../../support/gateways/fixture.ts';
import { zarinpal as zarinpalFixture } from '../../support/gateways/zarinpal.ts';
import { zibal as zibalFixture } from '../../support/gateways/zibal.ts';

const records = await forFile(startRecords());
const { sql } = records;

const dayOf = (n: number) => `2026-11-${String(n).padStart(2, '0')}`;

/** An account in Tehran since November 1, whose days are compared two hours after each. */
const anAccount = async <P extends { url: string; stop(): unknown }>(
  { driver, credentials }: { driver: string; credentials: { live?: object } },
  starting: Promise<P>,
) => {
  const provider = await forFile(starting);
  const { url } = provider;
  const gateway = `${driver}-${new URL(url).port}`;
  const live = { ...credentials.live, baseUrl: url };
  const { warnings, compare } = await anAccountOf(records, {
    ...{ gateway, driver, zone: { name: 'Asia/Tehran', offset: '+03:30' } },
    newAdapter: () => adapterOf(driver, { kind: 'live', credentials: live }),
  });
  return {
    provider,
    gateway,
    warnings,
    compare: (n: number, later?: number) => compare(dayOf(n), later),
    differences: async () =>
      (
        await sql<{ day: string; ours: number; theirs: number; name: string }[]>`
          select day::text, our_amount as ours, their_amount as theirs, their_name as name from account_differences
          where gateway = ${gateway} and kind = 'payout_differs' and state = 'open' order by subject`
      ).map(({ day, ours, theirs, name }) => [day, ours, theirs, name]),
    movements: async () =>
      (
        await sql<{ kind: string; day: string; amount: number }[]>`
          select kind, day::text, amount from movements where gateway = ${gateway} order by recorded_at, kind`
      ).map(({ kind, day, amount }) => [kind, day, amount]),
  };
};
const ofZarinpal = () => anAccount(zarinpalFixture, startZarinpal({ prefix: 'A' }));
const { get, list, sum, lines } = createPayoutOperations({ sql });
const found = async (gateway: string, text: string) => {
  const asked = { gateway, test: false, text };
  return (await list(asked, { after: null, limit: 9 })).map(({ id }) => id);
};
const everyLine = { after: '', limit: 99 };

describe('the payouts of ZarinPal', () => {
  const payout = {
    ...{ id: '8039236', status: 'PENDING', amount: 28_000_000 },
    payable_at: `${dayOf(3)}T00:20:43+03:30`,
    reference_id: null as string | null,
    reconciled_at: null as string | null,
  };
  const arrived = {
    ...{ status: 'PAID', reference_id: '1405,08,12N1000000000000337759' },
    reconciled_at: `${dayOf(3)}T17:00:00+03:30`,
  };

  it('have the sum alone, are followed, and are movements once they have arrived', async () => {
    const { provider, gateway, compare, movements } = await ofZarinpal();
    const one = { ...payout };
    provider.payouts.push(one, { ...payout, id: '1', payable_at: '2026-10-31T23:59:59+03:30' });
    await compare(3);
    expect(await get(gateway, one.id)).toMatchObject({ status: 'on_its_way', lines: 'never' });
    expect(await movements()).toEqual([]);
    Object.assign(one, arrived);
    await compare(4);
    await compare(4);
    const known = await get(gateway, one.id);
    expect(known).toMatchObject({ status: 'paid', amount: 28_000_000, arrivesOn: dayOf(3) });
    // Days before are not closed yet.
    expect(await movements()).toEqual([['payout', dayOf(3), -28_000_000]]);
    expect(await sum(known)).toEqual({ sums: [], rest: null });
    expect(await lines(known, everyLine)).toMatchObject([{ kind: 'payout', net: -28_000_000 }]);
    expect(await found(gateway, '28,000,000 IRR')).toEqual([one.id]);
    expect(await found(gateway, `Paya 1405,08,12N1000000000000337759 ZARINPAL`)).toEqual([one.id]);
    // One from before the account was here is of money that was not.
    expect(await found(gateway, '1')).toEqual([]);
  });

  it('are a difference when they contradict what was booked, or come twice with one id', async () => {
    const { provider, compare, movements, differences } = await ofZarinpal();
    const one = { ...payout, ...arrived };
    provider.payouts.push(one, { ...one });
    await compare(3);
    await compare(3);
    expect(await differences()).toEqual([]);
    Object.assign(one, { amount: 28_000_001, reference_id: '1405,08,12N2' });
    await compare(4);
    const name = 'number 1405,08,12N1000000000000337759, number 1405,08,12N2, sum 28000001 IRR';
    // The last one of the list counts.
    expect(await differences()).toEqual([[dayOf(4), -28_000_000, -28_000_000, name]]);
    // What came back is what had left.
    Object.assign(one, { status: 'REVERSED' });
    provider.payouts.splice(1);
    await compare(5);
    expect(await movements()).toEqual([
      ['payout', dayOf(3), -28_000_000],
      ['payout_returned', dayOf(3), 28_000_000],
    ]);
    Object.assign(one, { status: 'PAID' });
    await compare(6);
    expect(await differences()).toEqual([
      [dayOf(6), -28_000_000, -28_000_001, expect.stringContaining('paid again') as string],
    ]);
  });

  it('come back, and late ones are movements of the first open day', async () => {
    const { provider, compare, movements } = await ofZarinpal();
    for (const n of [1, 2, 3]) await compare(n);
    const one = { ...payout, ...arrived };
    provider.payouts.push(one);
    await compare(4);
    one.status = 'REVERSED';
    await compare(5);
    await compare(5);
    expect(await movements()).toEqual([
      ['payout', dayOf(4), -28_000_000],
      ['payout_returned', dayOf(5), 28_000_000],
    ]);
  });

  it('are movements of today if they are dated in the future', async () => {
    const { provider, compare, movements } = await ofZarinpal();
    provider.payouts.push({ ...payout, ...arrived, payable_at: '2100-01-01T00:00:00+03:30' });
    await compare(3);
    const [today] = await sql`select (now() at time zone 'Asia/Tehran')::date::text as day`;
    expect(await movements()).toEqual([['payout', today?.['day'], -28_000_000]]);
  });

  it('hold up no day, and are asked for after new days alone', async () => {
    const { provider, gateway, warnings, compare } = await ofZarinpal();
    provider.payouts.push({ ...payout, payable_at: 'yesterday' });
    await compare(1);
    expect(warnings()).toMatchObject([
      { gateway, reason: expect.stringContaining('zarinpal, payouts') as string },
    ]);
    const [day] = await sql`
      select closed_at is not null as closed from account_days where gateway = ${gateway}`;
    expect(day).toEqual({ closed: true });
    const asked = provider.calls.length;
    await compare(2, 3 * dayMs);
    expect(provider.calls).toHaveLength(asked);
  });
});

describe('the payouts of Zibal', () => {
  it('lead to the payments, with a sum that explains them', async () => {
    const { provider, gateway, compare, movements } = await anAccount(zibalFixture, startZibal());
    const { id, orderId } = await records.created({ test: false });
    await sql`
      update payments set gateway = ${gateway}, gateway_reference = '3000000001' where id = ${id}`;
    const row = {
      ...{ amount: 1_150, settlementDate: `${dayOf(3)}T09:00:00.000000`, status: 0 },
      refNumber: '00112233',
      details: [
        { amount: 1_250, type: 1, transactionId: '3000000001', transactionOrderId: id },
        { amount: -100, type: 3, transactionId: '', transactionOrderId: '' },
      ],
    };
    provider.payouts.push(row, { ...row, refNumber: '00112234', amount: 1_151 });
    await compare(3);
    await compare(3);
    const known = await get(gateway, '00112233');
    expect(await sum(known)).toMatchObject({ rest: 0 });
    expect(await sum(await get(gateway, '00112234'))).toMatchObject({ rest: 1 });
    expect(await lines(known, everyLine)).toMatchObject([
      { kind: 'payout', net: -1_150, paymentId: null },
      { kind: 'payment', net: 1_250, paymentId: id, orderId },
      { kind: 'other', net: -100, paymentId: null },
    ]);
    expect(await movements()).toEqual([
      ['payout', dayOf(3), -1_150],
      ['payout', dayOf(3), -1_151],
    ]);
    expect(await found(gateway, '00112234')).toEqual(['00112234']);
    // The lines of a payout are no statement of a day.
    expect(await sql`select from account_balances where gateway = ${gateway}`).toHaveLength(0);
  });

  it('have the parts that are told last, and a part or a sum that has changed is a difference', async () => {
    const { provider, gateway, compare, movements, differences } = await anAccount(
      zibalFixture,
      startZibal(),
    );
    const detail = { type: 1, transactionId: '3000000009', transactionOrderId: '' };
    const row = {
      ...{ amount: 1_000, settlementDate: `${dayOf(3)}T09:00:00.000000`, status: 0 },
      refNumber: '00112235',
      details: [
        { ...detail, amount: 700 },
        { ...detail, amount: 300 },
      ],
    };
    const twice = { ...row, refNumber: '00112236', amount: 3_000, details: [] };
    provider.payouts.push(row, twice, { ...twice, amount: 3_333 });
    await compare(3);
    row.details.reverse();
    await compare(3);
    const ofTwice = [dayOf(3), -3_000, -3_333, 'sum 3333 IRR'];
    expect(await differences()).toEqual([ofTwice]);
    row.details.splice(0, 1);
    await compare(4);
    expect(await differences()).toEqual([[dayOf(4), -1_000, -1_000, 'parts'], ofTwice]);
    expect(await sum(await get(gateway, '00112235'))).toMatchObject({ rest: 300 });
    row.amount = 700;
    await compare(5);
    await compare(5);
    expect(await differences()).toEqual([[dayOf(5), -1_000, -700, 'parts, sum 700 IRR'], ofTwice]);
    expect(await sum(await get(gateway, '00112235'))).toMatchObject({ rest: 0 });
    expect(await movements()).toEqual([
      ['payout', dayOf(3), -1_000],
      ['payout', dayOf(3), -3_000],
    ]);
  });
});
