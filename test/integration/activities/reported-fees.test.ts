import { MockActivityEnvironment } from '@temporalio/testing';
import { describe, expect, it } from 'vitest';
import type { ReportedFee } from '../../../contract/reported-fee.ts';
import type { OpenResult } from '../../../gateways/gateway.ts';
import { createAccountComparison } from '../../../postgres/accounts/comparison.ts';
import { createAccountDays } from '../../../postgres/accounts/days.ts';
import { createGateways } from '../../../postgres/gateways/gateways.ts';
import { createMovements } from '../../../postgres/accounts/movements.ts';
import { accountActivities } from '../../support/data/account-activities.ts';
import { startRecords } from '../../support/data/records.ts';
import { forFile } from '../../support/for-file.ts';
import { aGateway, confirmed, withGateway } from '../../support/service/scripted-gateway.ts';

const gateway = 'sandbox';
const records = await forFile(startRecords({ gatewayKind: 'live' }));
const terms = { timeZone: 'UTC', feeBasisPoints: 200, feeFixed: 0, feesReported: true };
const set = (changes: Partial<typeof terms>) =>
  createGateways(records.sql).setTerms(gateway, { ...terms, ...changes });

const movementsOf = async (paymentId: string) => {
  const filter = { application: 'shop', paymentId, kind: null, from: null, to: null, test: false };
  const page = { after: null, limit: 10 };
  const found = await createMovements(records.sql).list({ ...filter }, page);
  return found
    .map(({ id, kind, amount }) => [id.replace(paymentId, '…'), kind, amount] as const)
    .toSorted(([one], [other]) => one.localeCompare(other));
};
const payment = ['payment:…', 'payment', 1250];
const paidWith = async (fee?: ReportedFee, atOpening?: ReportedFee): Promise<string> => {
  const created = await records.created({ test: false });
  const opened: OpenResult = {
    result: 'opened',
    reference: `REF_${created.id}`,
    redirect: { method: 'GET', url: 'https://gateway.example/' },
    fee: atOpening,
  };
  const { openPayment, verifyPayment } = withGateway(records, {
    open: async () => opened,
    verify: async () => confirmed(fee && { fee }),
  });
  await openPayment({ id: created.id, afterDeadline: false });
  for (const returned of [true, false]) {
    const ended = await verifyPayment({ id: created.id, returned });
    expect(ended).toEqual({ kind: 'ended', status: 'paid' });
  }
  return created.id;
};

describe('the fee that a gateway reports with a payment', () => {
  const merchant = (amount: number): ReportedFee => ({ amount, paidBy: 'merchant' });
  const payer: ReportedFee = { amount: 25, paidBy: 'payer' };
  it.each<[string, ReportedFee | undefined, ReportedFee | undefined, number | null]>([
    ['becomes one movement where the merchant bears it', undefined, merchant(25), -25],
    ['becomes none where the payer bears it', undefined, payer, null],
    ['becomes none where it is nothing', undefined, merchant(0), null],
    ['becomes none where none was reported', undefined, undefined, null],
    ['counts as the opening reported it', merchant(30), undefined, -30],
    ['counts as the verification reports it, where both do', merchant(30), merchant(25), -25],
    [
      'counts as the verification reports it, where the payer bears that',
      merchant(30),
      payer,
      null,
    ],
  ])('%s', async (_, opening, verification, booked) => {
    await set({});
    const fees = booked === null ? [] : [['fee:…', 'fee', booked]];
    expect(await movementsOf(await paidWith(verification, opening))).toEqual([...fees, payment]);
  });

  it('is kept and not booked while the account has that off, which is so at first', async () => {
    await set({ feesReported: false });
    const id = await paidWith({ amount: 25, paidBy: 'merchant' });
    expect(await movementsOf(id)).toEqual([payment]);
    const [row] = await records.sql`
      select reported_fee as fee, reported_fee_paid_by as by from payments where id = ${id}`;
    expect(row).toEqual({ fee: 25, by: 'merchant' });
    const [fresh] = await records.sql`
      insert into gateways (slug, driver, kind) values ('fresh', 'zarinpal', 'live') returning fees_reported as booked`;
    expect(fresh).toEqual({ booked: false });
    await set({});
    // It was paid before.
    expect(await movementsOf(id)).toEqual([payment]);
  });
});

describe('a comparison with the agreed fee', () => {
  const comparison = createAccountComparison(records.sql);
  const { gatewayOf } = aGateway({ inquire: async () => confirmed() });
  const { askAboutMovements } = accountActivities(records, { gatewayOf });
  /** The payments whose fee differs, as a comparison of their day finds them. */
  const compare = async () => {
    const [row] = await records.sql`select max(day)::text as day from movements`;
    const day: string = row?.['day'];
    const asking = () => askAboutMovements({ gateway, day, after: null });
    await new MockActivityEnvironment().run(asking);
    await comparison.findDifferences({ gateway, day });
    await comparison.finishDay({ gateway, day }, 'each');
    const filter = { gateway, day, state: 'open', application: null, test: null } as const;
    return (await createAccountDays(records.sql).listDifferences(filter, 1_000))
      .filter(({ kind }) => kind === 'fee_differs')
      .map(({ paymentId, ourAmount, theirAmount }) => [paymentId, ourAmount, theirAmount]);
  };

  it('names what differs by more than one minor unit, and only what was reported', async () => {
    await set({});
    const tooMuch = await paidWith({ amount: 27, paidBy: 'merchant' });
    const free = await paidWith({ amount: 0, paidBy: 'merchant' });
    const fine = [
      await paidWith({ amount: 26, paidBy: 'merchant' }),
      await paidWith({ amount: 90, paidBy: 'payer' }),
      await paidWith(),
    ];
    const found = await compare();
    expect(found).toContainEqual([tooMuch, 25, 27]);
    expect(found).toContainEqual([free, 25, 0]);
    expect(found.filter(([id]) => fine.includes(String(id)))).toEqual([]);
    // The comparison books it no second time.
    expect(await movementsOf(tooMuch)).toEqual([['fee:…', 'fee', -27], payment]);
  });

  it('names none without an agreed fee, or while reported fees are off', async () => {
    await set({ feeBasisPoints: null as never, feeFixed: null as never });
    expect(await compare()).toEqual([]);
    await set({ feesReported: false });
    expect(await compare()).toEqual([]);
    await set({});
    expect(await compare()).not.toEqual([]);
  });
});
