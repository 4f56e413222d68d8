import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { TemporalAdmin, WorkflowSummary } from '../../../temporal/admin-client.ts';
import type { ReconcileOptions } from '../../../admin/reconciliation.ts';
import { newPaymentId } from '../../../contract/ids.ts';
import { createLatePayments } from '../../../postgres/late-payments.ts';
import { runLine, words } from '../../support/admin-line.ts';
import { fill } from '../../support/fill.ts';
import { operationsOn } from '../../support/operations.ts';
import type { Records } from '../../support/records.ts';
import { startRecords } from '../../support/records.ts';

let records: Records;
beforeEach(async () => {
  records = await startRecords();
});
afterEach(() => records.drop());

/** On one that runs nothing and lists nothing, unless a test says otherwise. */
const operationsWith = (engine: Partial<TemporalAdmin>) => {
  const nothing: TemporalAdmin = {
    async *list() {},
    running: async () => new Set(),
    restart: async () => {},
    startLatePayment: async () => {},
  };
  return operationsOn(records.sql, { engine: async () => ({ ...nothing, ...engine }) });
};

const reconcile = (engine: Partial<TemporalAdmin>, options: Partial<ReconcileOptions> = {}) => {
  const usual = { since: null, limit: 1_000, look: 100_000, mend: false, reason: null };
  return operationsWith(engine).reconcile({ ...usual, ...options });
};

const letAllBeOld = () => records.sql`
  update payments set created_at = now() - interval '2 minutes'`;

/** Open, one without a workflow a microsecond after the other. */
const manyOpen = (count: number) => records.sql`
  insert into payments (id, application, test, order_id, status, amount, currency, gateway,
    callback_url, metadata, expires_at, created_at, updated_at)
  select 'PAY_' || lpad(n::text, 26, '0'), 'shop', true, 'order', 'pending', 1250, 'EUR', 'sandbox',
    'https://shop.example/return', '{}', now() + (n / 3) * interval '1 microsecond',
    now() - interval '1 hour', now()
  from generate_series(1, ${count}::int) as n`;

describe('reconcile', () => {
  it('takes nothing for a difference that comes to its end while it looks', async () => {
    await records.opened();
    await records.ended('paid');
    const { id: late } = await records.ended('expired', { application: 'quiet' });
    await createLatePayments(records.sql).record(late, {
      result: null,
      facts: {},
      now: new Date(),
    });
    await letAllBeOld();
    const found = await reconcile({});
    expect(found.differences.map(({ kind }) => kind)).toEqual([
      ...['payment_without_workflow', 'delivery_without_workflow', 'late_payment_without_workflow'],
    ]);

    const started: string[] = [];
    const all = { mend: true };
    const running = async () => {
      await records.sql`
        with ended as (
          update payments set status = 'expired' where status = 'pending' returning id
        ), events as (
          insert into events (payment_id, id, kind, body, created_at)
          select id, gen_random_uuid(), 'payment.expired', '{}', now() from ended
          returning payment_id
        )
        insert into deliveries (payment_id, status) select payment_id, 'none' from events`;
      await records.sql`update deliveries set status = 'delivered', next_attempt_at = null`;
      await records.sql`update late_payments set result = 'returns', resolved_at = now()`;
      return new Set<string>();
    };
    const restart = async ({ id }: { id: string }) => void started.push(id);
    expect(await reconcile({ running, restart }, all)).toEqual({ differences: [], complete: true });
    expect(started).toEqual([]);
  });

  it('goes on from page to page, and names and starts each once', async () => {
    await manyOpen(450);
    const started: string[] = [];
    const restart = async ({ id }: { id: string }) => void started.push(id);
    const { differences, complete } = await reconcile({ restart }, { mend: true });
    expect(complete).toBe(true);
    expect(differences).toHaveLength(450);
    expect(new Set(started).size).toBe(450);
    expect(started).toEqual(differences.map(({ paymentId }) => paymentId));
    expect((await reconcile({}, { look: 449 })).complete).toBe(false);
  });

  it('is not done, by its exit code, while there may be more than it has mended', async () => {
    await manyOpen(3);
    const mend = (limit: number) =>
      runLine(() => operationsWith({}), words(`reconcile --mend --yes --limit ${limit}`));
    const cut = await mend(2);
    expect(cut.code).toBe(1);
    expect(cut.out).toContain('There may be more');
    const whole = await mend(3);
    expect(whole.code).toBe(0);
    expect(whole.out).not.toContain('There may be more');
  });

  it('goes on so with deliveries, also where all are due at one and the same time', async () => {
    const one = () => records.ended('paid');
    const ended = await Promise.all(Array.from({ length: 201 }, one));
    await letAllBeOld();
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
    await records.sql`delete from attempts where payment_id = ${id}`;
    await records.sql`delete from deliveries where payment_id = ${id}`;
    const of = async (options: Partial<ReconcileOptions>) => {
      const { differences } = await reconcile({ running }, options);
      return differences.filter(({ kind }) => kind === 'end_without_delivery');
    };
    expect(await of({})).toMatchObject([{ paymentId: id }]);
    // A hundred times as many payments as are looked at otherwise.
    expect(await of({ look: 51 })).toEqual([]);
  });

  it('names a workflow without a record once, however many there are', async () => {
    const { id: known } = await records.ended('paid');
    await records.sql`update deliveries set status = 'delivered', next_attempt_at = null`;
    const ids = Array.from({ length: 450 }, () => newPaymentId());
    const line = (paymentId: string): WorkflowSummary => ({
      ...{ paymentId, running: true, application: 'shop', orderId: 'order' },
      startedAt: new Date(),
    });
    // The payment's own workflow, and far behind it that of its late money.
    const list: TemporalAdmin['list'] = async function* () {
      for (const id of [...ids, known, ...ids]) yield line(id);
    };
    const { differences, complete } = await reconcile({ list });
    expect(complete).toBe(true);
    expect(differences.map(({ paymentId }) => paymentId)).toEqual(ids);
    expect(await reconcile({ list }, { look: 901 })).toMatchObject({ complete: true });
    const cut = await reconcile({ list }, { look: 250 });
    expect([cut.differences.length, cut.complete]).toEqual([250, false]);
    const full = await reconcile({ list }, { limit: 10 });
    expect([full.differences.length, full.complete]).toEqual([10, false]);
  });
});
