import { beforeEach, describe, expect, it } from 'vitest';
import type { ReconcileOptions } from '../../../../admin/operations/reconciliation.ts';
import { newPaymentId } from '../../../../contract/ids.ts';
import { createRefunds } from '../../../../postgres/refunds/refunds.ts';
import { aRefund } from '../../../support/data/refund-cases.ts';
import { createLatePayments } from '../../../../postgres/payments/late-payments.ts';
import type { TemporalAdmin, WorkflowSummary } from '../../../../temporal/admin-client.ts';
import { runLine, words } from '../../../support/service/admin-line.ts';
import { fill } from '../../../support/data/fill-tables.ts';
import { emptyTemporal, operationsOn } from '../../../support/service/admin-operations.ts';
import { startRecords } from '../../../support/data/records.ts';
import { forFile } from '../../../support/for-file.ts';
import { manyPayments, writePayments } from '../../../support/data/payments.ts';

const records = await forFile(startRecords());
beforeEach(() => records.beginAgain());

/** By default, Temporal has no workflows. */
const operationsWith = (temporal: Partial<TemporalAdmin>) =>
  operationsOn(records.sql, { temporal: async () => ({ ...emptyTemporal, ...temporal }) });

const reconcile = (temporal: Partial<TemporalAdmin>, options: Partial<ReconcileOptions> = {}) => {
  const defaults = { since: null, limit: 1_000, scan: 100_000, heal: false, reason: null };
  return operationsWith(temporal).reconcile({ ...defaults, ...options });
};

const makeAllOld = () => records.sql`
  update payments set created_at = now() - interval '2 minutes'`;

/** Open payments without workflows, with deadlines a microsecond apart. */
const manyOpen = async (count: number) => {
  const id = (n: number) => `PAY_${String(n).padStart(26, '0')}`;
  await writePayments(
    records.sql,
    manyPayments(count, (n) => ({ id: id(n) })),
  );
  await records.sql`
    update payments set created_at = now() - interval '1 hour',
      expires_at = now() + (right(id, 9)::int / 3) * interval '1 microsecond'`;
};

describe('reconcile', () => {
  it('reports no payment that ends while it runs', async () => {
    await records.opened();
    await records.ended('paid');
    const { id: late } = await records.ended('expired', { application: 'quiet' });
    await createLatePayments(records.sql).record(late, {
      result: null,
      facts: {},
      now: new Date(),
    });
    await makeAllOld();
    const found = await reconcile({});
    expect(found.differences.map(({ kind }) => kind)).toEqual([
      'payment_without_workflow',
      'delivery_without_workflow',
      'late_payment_without_workflow',
    ]);

    const started: string[] = [];
    const all = { heal: true };
    const running = async () => {
      await records.sql`
        with ended as (
          update payments set status = 'expired' where status = 'pending' returning *
        ), events as (
          insert into events (id, subject, payment_id, application, test, kind, body, created_at)
          select gen_random_uuid(), id, id, application, test, 'payment.expired', '{}', now()
          from ended
          returning *
        )
        insert into deliveries (event_id, payment_id, application, test, order_id, kind, created_at, recorded_at, status)
        select e.id, e.payment_id, e.application, e.test, p.order_id, e.kind, e.created_at, now(), 'none'
        from events e join ended p on p.id = e.payment_id`;
      await records.sql`update deliveries set status = 'delivered', next_attempt_at = null`;
      await records.sql`update late_payments set result = 'returns', resolved_at = now()`;
      return new Set<string>();
    };
    const restart = async ({ id }: { id: string }) => void started.push(id);
    expect(await reconcile({ running, restart }, all)).toEqual({ differences: [], complete: true });
    expect(started).toEqual([]);
  });

  it('reports and heals each payment of several pages once', async () => {
    await manyOpen(450);
    const started: string[] = [];
    const restart = async ({ id }: { id: string }) => void started.push(id);
    const { differences, complete } = await reconcile({ restart }, { heal: true });
    expect(complete).toBe(true);
    expect(differences).toHaveLength(450);
    expect(new Set(started).size).toBe(450);
    expect(started).toEqual(differences.map(({ paymentId }) => paymentId));
    expect((await reconcile({}, { scan: 449 })).complete).toBe(false);
  });

  it('fails by its exit code while there may be more differences', async () => {
    await manyOpen(3);
    const heal = (limit: number) =>
      runLine(() => operationsWith({}), words(`reconcile --heal --yes --limit ${limit}`));
    const cut = await heal(2);
    expect(cut.code).toBe(1);
    expect(cut.out).toContain('There may be more');
    const whole = await heal(3);
    expect(whole.code).toBe(0);
    expect(whole.out).not.toContain('There may be more');
  });

  it('fails by its exit code while a difference is not healed, and heals only with --yes', async () => {
    await manyOpen(2);
    const started = new Set<string>();
    const restart = async ({ id }: { id: string }) => void started.add(id);
    const run = (line: string) =>
      runLine(() => operationsWith({ restart, running: async () => started }), words(line));
    const found = await run('reconcile');
    expect(found.code).toBe(1);
    expect(found.out.match(/open payment without a workflow/g)).toHaveLength(2);
    const refused = await run('reconcile --heal');
    expect([refused.code, started.size]).toEqual([1, 0]);
    expect(refused.notes).toContain('--yes');
    const healed = await run('reconcile --heal --yes --json');
    const difference = { kind: 'payment_without_workflow', healed: true };
    expect(healed.code).toBe(0);
    expect(JSON.parse(healed.out)).toMatchObject({
      differences: [difference, difference],
      complete: true,
    });
    expect(await run('reconcile')).toMatchObject({
      code: 0,
      out: 'The database and Temporal agree.',
    });
  });

  it('says what it healed when it is interrupted, or fails in the middle', async () => {
    await manyOpen(4);
    const interruption = new AbortController();
    let started = 0;
    const heal = (restart: TemporalAdmin['restart']) =>
      runLine(() => operationsWith({ restart }), words('reconcile --heal --yes'), interruption);
    const failed = await heal(async () => {
      started += 1;
      if (started === 2) throw new Error('Temporal is away');
    });
    const healedOf = (out: string) =>
      out
        .split('\n')
        .slice(1)
        .map((row) => row.split(' ').at(-1));
    expect([failed.code, healedOf(failed.out)]).toEqual([1, ['yes', 'no']]);
    expect(failed.notes).toBe('Failed: Temporal is away');
    const stopped = await heal(async () => interruption.abort());
    expect([stopped.code, healedOf(stopped.out)]).toEqual([1, ['yes']]);
    expect(stopped.notes).toMatch(/^Interrupted\. Not everything was compared/);
    const none = await heal(async () => {});
    expect(none).toMatchObject({ code: 1, out: 'No difference was found so far.' });
  });

  it('reports each delivery of several pages once when all are due at the same time', async () => {
    const one = () => records.ended('paid');
    const ended = await Promise.all(Array.from({ length: 201 }, one));
    await makeAllOld();
    await records.sql`update deliveries set next_attempt_at = now()`;
    const { differences } = await reconcile({});
    expect(new Set(differences.map(({ kind }) => kind))).toEqual(
      new Set(['delivery_without_workflow']),
    );
    expect(differences.map(({ paymentId }) => paymentId).toSorted()).toEqual(
      ended.map(({ id }) => id).toSorted(),
    );
  });

  it('finds an end without a delivery behind thousands of newer payments', async () => {
    await fill(records.sql, { application: 'shop', count: 5_200 });
    const running: TemporalAdmin['running'] = async (ids) => new Set(ids);
    const id = `PAY_${'60'.padStart(26, '0')}`;
    await records.sql`
      delete from attempts where event_id = (select id from events where payment_id = ${id})`;
    await records.sql`delete from deliveries where payment_id = ${id}`;
    const find = async (options: Partial<ReconcileOptions>) => {
      const { differences } = await reconcile({ running }, options);
      return differences.filter(({ kind }) => kind === 'end_without_delivery');
    };
    expect(await find({})).toMatchObject([{ paymentId: id }]);
    // A hundred times `scan`: 5,100 payments.
    expect(await find({ scan: 51 })).toEqual([]);
  });

  it('reports each workflow without a payment once', async () => {
    const { id: known } = await records.ended('paid');
    await records.sql`update deliveries set status = 'delivered', next_attempt_at = null`;
    const ids = Array.from({ length: 450 }, () => newPaymentId());
    const workflow = (paymentId: string): WorkflowSummary => ({
      paymentId,
      running: true,
      application: 'shop',
      orderId: 'order',
      startedAt: new Date(),
    });
    // Every payment has two workflows: its own and, far behind it, that of its late money.
    const list: TemporalAdmin['list'] = async function* () {
      for (const id of [...ids, known, ...ids]) yield workflow(id);
    };
    const { differences, complete } = await reconcile({ list });
    expect(complete).toBe(true);
    expect(differences.map(({ paymentId }) => paymentId)).toEqual(ids);
    expect(await reconcile({ list }, { scan: 901 })).toMatchObject({ complete: true });
    const cut = await reconcile({ list }, { scan: 250 });
    expect([cut.differences.length, cut.complete]).toEqual([250, false]);
    const full = await reconcile({ list }, { limit: 10 });
    expect([full.differences.length, full.complete]).toEqual([10, false]);
  });

  it('compares refunds with their workflows, and the sums of their payments', async () => {
    await records.sql`update applications set refund_events = true`;
    const payment = await records.ended('paid');
    const refunds = createRefunds(records.sql);
    const createdAt = new Date(Date.now() - 120_000);
    const refund = aRefund(payment, { amount: 400, createdAt });
    await refunds.insert(refund);
    const running: TemporalAdmin['running'] = async (ids) =>
      new Set(ids.filter((id) => id !== refund.id));
    const started: unknown[] = [];
    const restart: TemporalAdmin['restart'] = async ({ refundId }) => void started.push(refundId);
    const find = async () => {
      const { differences } = await reconcile({ running, restart }, { heal: true });
      return differences.map(({ kind, paymentId }) => [kind, paymentId]);
    };
    expect(await find()).toEqual([['refund_without_workflow', payment.id]]);
    expect(started).toEqual([refund.id]);
    // It waits for a person, who needs no workflow.
    await records.sql`update refunds set stage = 'by_hand', due_at = null`;
    expect(await find()).toEqual([]);
    await records.sql`update payments set amount_refunded = 1 where id = ${payment.id}`;
    expect(await find()).toEqual([['refund_totals_differ', payment.id]]);
  });
});
