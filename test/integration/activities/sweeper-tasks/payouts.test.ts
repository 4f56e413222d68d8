import { describe, expect, it } from 'vitest';
import { createPayoutTask } from '../../../../activities/sweeper-tasks/payouts.ts';
import type { StatementLine } from '../../../../contract/book-entry.ts';
import { createAccountStatement } from '../../../../postgres/accounts/statement.ts';
import { createAdminPayouts } from '../../../../postgres/admin/payouts.ts';
import { createPayouts } from '../../../../postgres/accounts/payouts.ts';
import { startLiveStripe } from '../../../support/data/account-activities.ts';
import { startRecords } from '../../../support/data/records.ts';
import { forFile } from '../../../support/for-file.ts';
import { readableLogger } from '../../../support/service/scripted-gateway.ts';

const records = await forFile(startRecords());
const { sql } = records;
const created = new Date(Date.now() - 2 * 86_400_000);

/** An account whose statement is here, with a sweeper of its payouts. */
const anAccount = async () => {
  const { stripe, newAdapter, gateway } = await startLiveStripe();
  await records.addGateway('stripe', { slug: gateway });
  const { lookAtPayouts } = createPayoutTask({
    payouts: createPayouts(sql),
    gatewayOf: newAdapter,
    logger: readableLogger().logger,
  });
  const period = {
    from: new Date(Date.now() - 30 * 86_400_000),
    to: new Date(Date.now() + 60_000),
  };
  return {
    stripe,
    lookAtPayouts,
    /** Records the gateway's list, as far as it is there. */
    async list(isThere: (line: StatementLine) => boolean = () => true) {
      const lines: StatementLine[] = [];
      for (let after: string | null | undefined; after !== null;) {
        const page = await newAdapter().book?.(period, after ?? null);
        lines.push(...(page?.lines ?? []));
        after = page?.next ?? null;
      }
      const days = Map.groupBy(lines.filter(isThere), ({ at }) => at.toISOString().slice(0, 10));
      for (const [day, ofDay] of days)
        await createAccountStatement(sql).recordLines({ gateway, day }, ofDay);
    },
    payouts: () => sql`
      select id, amount, currency, status, arrives_on::text, descriptor, bank_reference, lines, read_at is not null as is_read,
        due_at > now() as is_due
      from payouts where gateway = ${gateway} order by id`,
    linesOf: (payout: string) =>
      createAdminPayouts(sql).lines(gateway, payout, { after: '', limit: 2_000 }),
    /** The list has none of the lines any more. */
    async forget() {
      for (const { day } of await sql<{ day: string }[]>`
        select distinct day::text from statement_lines where gateway = ${gateway}`)
        await createAccountStatement(sql).forgetUnlisted({ gateway, day }, 'infinity');
    },
    becomeDue: () =>
      sql`update payouts set due_at = now() where gateway = ${gateway} and due_at is not null`,
  };
};

const charged = { type: 'charge', reporting_category: 'charge' };

describe('lookAtPayouts', () => {
  it('finds what a payout has paid out, and what the bank calls it', async () => {
    const { stripe, list, lookAtPayouts, payouts, linesOf } = await anAccount();
    const paid = Array.from({ length: 103 }, () =>
      stripe.moveBalance(charged, { amount: 100, fee: 3, at: created }),
    );
    const later = stripe.moveBalance(charged, { amount: 77, at: created });
    const made = stripe.payOut(paid, { at: created });
    Object.assign(made, {
      status: 'paid',
      trace_id: { status: 'supported', value: '111000025123456' },
    });
    await list();
    expect(await lookAtPayouts()).toBe(1);
    const arrives = new Date(made.arrival_date * 1000).toISOString().slice(0, 10);
    expect(await payouts()).toEqual([
      {
        ...{ id: 'po_1', amount: 9_991, currency: 'EUR', status: 'paid', arrives_on: arrives },
        ...{
          descriptor: 'SHOP',
          bank_reference: '111000025123456',
          lines: 'listed',
          is_read: true,
        },
        // It may still come back.
        is_due: true,
      },
    ]);
    const lines = await linesOf('po_1');
    expect(lines).toHaveLength(104);
    expect(lines.reduce((sum, { net }) => sum + net, 0)).toBe(0);
    expect(lines.map(({ id }) => id)).not.toContain(later);
  });

  it('reads on where a sweep has ended, and asks for nothing again', async () => {
    const { stripe, list, lookAtPayouts, payouts, linesOf, becomeDue } = await anAccount();
    const paid = Array.from({ length: 1_100 }, () =>
      stripe.moveBalance(charged, { amount: 1, at: created }),
    );
    stripe.payOut(paid, { at: created });
    await list();
    await lookAtPayouts();
    // With the payout itself.
    expect(await linesOf('po_1')).toHaveLength(1_001);
    expect(await payouts()).toMatchObject([{ is_read: false, is_due: false }]);
    await lookAtPayouts();
    expect(await linesOf('po_1')).toHaveLength(1_101);
    await becomeDue();
    const asked = stripe.calls.length;
    await lookAtPayouts();
    expect(stripe.calls.length - asked).toBe(1);
  });

  it('waits for the list of a payout, and knows that an amount that somebody chose has none', async () => {
    const { stripe, list, lookAtPayouts, payouts, linesOf, becomeDue } = await anAccount();
    const paid = [stripe.moveBalance(charged, { amount: 500, at: created })];
    const made = stripe.payOut(paid, { at: created, reconciliation_status: 'in_progress' });
    const chosen = { amount: 200, automatic: false, reconciliation_status: 'not_applicable' };
    stripe.payOut([], { at: created, ...chosen });
    await list();
    expect(await lookAtPayouts()).toBe(2);
    const states = async () => (await payouts()).map(({ lines, is_read }) => [lines, is_read]);
    expect(await states()).toEqual([
      ['later', false],
      ['never', false],
    ]);
    made.reconciliation_status = 'completed';
    await becomeDue();
    await lookAtPayouts();
    expect(await states()).toEqual([
      ['listed', true],
      ['never', false],
    ]);
    expect(await linesOf('po_2')).toHaveLength(1);
  });

  it('looks at one that came back, and at none that has arrived long ago', async () => {
    const { stripe, list, lookAtPayouts, payouts } = await anAccount();
    const at = new Date(Date.now() - 20 * 86_400_000);
    const paid = [stripe.moveBalance(charged, { amount: 500, at })];
    const made = stripe.payOut(paid, { at, status: 'paid' });
    await list();
    await lookAtPayouts();
    expect(await payouts()).toMatchObject([{ status: 'paid', is_due: null }]);
    const labels = { type: 'payout_failure', reporting_category: 'payout_reversal' };
    stripe.moveBalance(labels, { amount: 500, source: made.id });
    made.status = 'failed';
    await list();
    await lookAtPayouts();
    expect(await payouts()).toMatchObject([{ status: 'failed', amount: 500, is_due: null }]);
  });

  it('counts lines of a payout that come after it was read, also one that left the list for a while', async () => {
    const { stripe, list, lookAtPayouts, linesOf, forget } = await anAccount();
    const [late = '', ...paid] = [6_000, 476].map((amount) =>
      stripe.moveBalance(charged, { amount, at: created }),
    );
    stripe.payOut([late, ...paid], { at: created });
    await list(({ id }) => id !== late);
    await lookAtPayouts();
    const rest = async () => (await linesOf('po_1')).reduce((sum, { net }) => sum + net, 0);
    expect(await rest()).toBe(-6_000);
    await list();
    expect(await rest()).toBe(0);
    await forget();
    await list();
    expect(await rest()).toBe(0);
    await lookAtPayouts();
  });

  it('asks a silent gateway again', async () => {
    const { stripe, list, lookAtPayouts, payouts, becomeDue } = await anAccount();
    stripe.payOut([stripe.moveBalance(charged, { amount: 500, at: created })], { at: created });
    await list();
    stripe.refuse('/v1/payouts/po_1', { status: 500, type: 'api_error' });
    await lookAtPayouts();
    expect(await payouts()).toMatchObject([{ lines: 'later', is_due: true }]);
    await becomeDue();
    await lookAtPayouts();
    expect(await payouts()).toMatchObject([{ lines: 'listed', is_read: true }]);
  });
});
