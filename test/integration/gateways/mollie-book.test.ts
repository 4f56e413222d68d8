import { describe, expect, it } from 'vitest';
import { newPaymentId } from '../../../contract/ids.ts';
import { createAccountDays } from '../../../postgres/accounts/days.ts';
import { startMollie } from '../../fakes/mollie.ts';
import { anAccountOf } from '../../support/data/account-activities.ts';
import { writePayments } from '../../support/data/payments.ts';
import { startRecords } from '../../support/data/records.ts';
import { forFile } from '../../support/for-file.ts';
import { adapterOf, newRefundId } from '../../support/gateways/fixture.ts';

const records = await forFile(startRecords());
const { sql } = records;
const day = '2026-11-20';
const at = (time: string) => new Date(`${day}T${time}Z`);

/** An account of its own at a Mollie of its own, with a payment that is paid here and there. */
const anAccount = async ({ hasToken = true } = {}) => {
  const mollie = await forFile(startMollie({ mode: 'live' }));
  const gateway = `mollie-${mollie.url.split(':').at(-1)}`;
  const credentials = {
    ...{ apiKey: 'live_0123456789abcdef', baseUrl: mollie.url },
    ...(hasToken && { accessToken: 'access_0123456789abcdef' }),
  };
  const newAdapter = () => adapterOf('mollie', { kind: 'live', credentials });
  const account = await anAccountOf(records, { gateway, driver: 'mollie', newAdapter, since: day });
  const id = newPaymentId();
  const reference = `tr_${id.slice(-10)}`;
  await sql`
    insert into movements ${sql({
      ...{ id: `payment:${id}`, kind: 'payment', gateway, day, payment_id: id, test: false },
      ...{ application: 'shop', order_id: 'order-1', amount: 1250, currency: 'EUR' },
      occurred_at: at('12:00:00'),
    })}`;
  await writePayments(sql, [
    {
      ...{ id, gateway, status: 'paid', gatewayReference: reference, test: false },
      ...{ trackingCode: reference, updatedAt: at('12:00:00') },
    },
  ]);
  return {
    ...{ mollie, gateway, id, reference },
    async compare() {
      await account.compare(day);
      const moved = await sql<{ kind: string; amount: number }[]>`
        select kind, sum(amount)::int as amount from movements where gateway = ${gateway} group by kind`;
      const filter = { gateway, day, state: 'open' as const, application: null, test: null };
      const found = await createAccountDays(sql).listDifferences(filter, 100);
      return {
        booked: Object.fromEntries(moved.map(({ kind, amount }) => [kind, amount])),
        differences: found.map(({ kind, theirName }) => [kind, theirName]),
      };
    },
  };
};

describe("a day of Mollie's book", () => {
  it('gives the payment, its refund and its chargeback, and books fees and payouts', async () => {
    const { mollie, gateway, id, reference, compare } = await anAccount();
    const refundId = newRefundId();
    const context = { paymentId: reference, paymentDescription: 'Two tickets' };
    const deducted = { fees: -29, reservations: -100 };
    mollie.moveBalance('payment', { at: at('12:00:00'), amount: 1250, deducted, context });
    await sql`
      insert into refunds ${sql({
        ...{ id: refundId, payment_id: id, application: 'shop', test: false, order_id: 'order-1' },
        ...{ status: 'succeeded', amount: 400, currency: 'EUR', method: 'refund' },
        ...{ requested_by: 'application', gateway_reference: 're_1', metadata: '{}' },
        ...{ created_at: at('13:00:00'), updated_at: at('13:00:00') },
        succeeded_at: at('13:00:00'),
      })}`;
    mollie.moveBalance('refund', {
      ...{ at: at('13:00:00'), amount: -400, deducted: { fees: -25 } },
      context: { ...context, refundId: 're_1' },
    });
    mollie.moveBalance('chargeback', { at: at('14:00:00'), amount: -500, context });
    mollie.settle(200, { at: at('15:00:00') });
    mollie.pagesHave(2);
    expect(await compare()).toEqual({
      booked: { payment: 1250, refund: -400, fee: -54, chargeback: -500, payout: -200 },
      differences: [],
    });
    const lines = await sql`
      select kind, amount, fee, net, source from statement_lines where gateway = ${gateway} order by at, id`;
    expect(lines.map((line) => Object.values(line))).toEqual([
      ['payment', 1250, 29, 1221, reference],
      ['own_money', -100, 0, -100, null],
      ['refund', -400, 25, -425, 're_1'],
      ['chargeback', -500, 0, -500, null],
      ['payout', -200, 0, -200, null],
    ]);
    const [payout] = await sql`select id from payouts where gateway = ${gateway}`;
    expect(payout).toEqual({ id: 'stl_1' });
  });

  it('names what it does not know, and money that no payment explains', async () => {
    const { mollie, reference, compare } = await anAccount();
    const context = { paymentId: reference };
    mollie.moveBalance('payment', { at: at('12:00:00'), amount: 1250, context });
    mollie.moveBalance('balance-correction', { at: at('13:00:00'), amount: 77 });
    const unknown = { paymentId: 'tr_unknown' };
    mollie.moveBalance('payment', { at: at('14:00:00'), amount: 300, context: unknown });
    const { differences } = await compare();
    expect(new Set(differences)).toEqual(
      new Set([
        ['captured_unknown', 'tr_unknown'],
        ['kind_unknown', 'balance-correction'],
      ]),
    );
  });

  it('is not there without a token of the organization', async () => {
    const { compare } = await anAccount({ hasToken: false });
    expect(await compare()).toEqual({ booked: { payment: 1250 }, differences: [] });
  });
});
