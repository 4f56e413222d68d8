import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createGateways, sandboxAccount } from '../../../postgres/gateways.ts';
import { createBacklogMetrics } from '../../../postgres/backlog-metrics.ts';
import type { Records } from '../../support/records.ts';
import { startRecords } from '../../support/records.ts';

let records: Records;
beforeEach(async () => {
  records = await startRecords();
});
afterEach(() => records.drop());

const nothing = {
  ...{ outboxSize: 0, outboxAgeSeconds: 0, overdueSeconds: 0, inquiryLagSeconds: 0 },
  ...{ exhausted: 0, deliveryOverdueSeconds: 0 },
};

/** Seconds that have just gone by, to the hundred. */
const look = async () => {
  const left = await createBacklogMetrics(records.sql).look();
  const rounded = Object.entries(left).map(([fact, value]) => [
    fact,
    fact.endsWith('Seconds') ? Math.floor(value / 100) * 100 : value,
  ]);
  return Object.fromEntries(rounded) as typeof left;
};

/** When what happened to a payment; ages in seconds, of an end that is to come below 0. */
const isSo = (
  id: string,
  { sent, asked, ended }: { sent?: number; asked?: number; ended?: number },
) =>
  records.sql`
    update payments set
      checkout_at = now() - make_interval(secs => ${sent ?? null}::int),
      inquired_at = now() - make_interval(secs => ${asked ?? null}::int),
      expires_at = now() - make_interval(secs => ${ended ?? -900}::int)
    where id = ${id}`;

const start = () => records.sql`delete from workflow_outbox`;

describe('what is left to do', () => {
  it('is nothing where payments have ended, however long ago they were sent and due', async () => {
    expect(await look()).toEqual(nothing);
    for (const [status, ended] of [
      ['paid', 5_000],
      ['expired', -900],
    ] as const) {
      const { id } = await records.ended(status);
      await isSo(id, { sent: 6_000, asked: 5_500, ended });
    }
    await start();
    await records.sql`update deliveries set status = 'delivered', next_attempt_at = null`;
    expect(await look()).toEqual(nothing);
  });

  it('is nothing yet where it is still to come', async () => {
    await records.created();
    await isSo((await records.sent()).id, { sent: 10 });
    await records.ended('failed');
    await start();
    await records.sql`update deliveries set next_attempt_at = now() + interval '1 hour'`;
    expect(await look()).toEqual(nothing);
  });

  it('counts payments without a workflow, with the age of the oldest', async () => {
    for (const age of ['10 seconds', '250 seconds', '20 seconds']) {
      const { id } = await records.created();
      await records.sql`
        update workflow_outbox set created_at = now() - ${age}::interval where payment_id = ${id}`;
    }
    expect(await look()).toEqual({ ...nothing, outboxSize: 3, outboxAgeSeconds: 200 });
  });

  it('tells by how much the first open payment is overdue, whether its payer was sent or not', async () => {
    await isSo((await records.opened()).id, { ended: 250 });
    const processing = await records.sent();
    await records.asked(processing.id, { processing: true });
    await isSo(processing.id, { sent: 9_000, asked: 8_000, ended: 350 });
    await start();
    // From its deadline on a payment's own workflow asks.
    expect(await look()).toEqual({ ...nothing, overdueSeconds: 300 });
  });

  it('tells since when nobody was asked about the payer who waits longest, of all gateways', async () => {
    await isSo((await records.sent()).id, { sent: 9_000, asked: 150 });
    await isSo((await records.sent()).id, { sent: 350 });
    await isSo((await records.opened()).id, {});
    await start();
    expect(await look()).toEqual({ ...nothing, inquiryLagSeconds: 300 });
    const slug = 'other';
    await createGateways(records.sql).insert({ ...sandboxAccount, slug });
    await isSo((await records.sent({ gateway: slug })).id, { sent: 9_000, asked: 450 });
    await start();
    expect(await look()).toEqual({ ...nothing, inquiryLagSeconds: 400 });
  });

  it('counts exhausted deliveries, and tells by how much the first pending one is late', async () => {
    await records.deliveryOverdue(5);
    await records.deliveryOverdue(10);
    const id = await records.deliveryOverdue(20);
    await records.sql`
      update deliveries set status = 'exhausted', next_attempt_at = null where payment_id = ${id}`;
    await start();
    expect(await look()).toEqual({ ...nothing, exhausted: 1, deliveryOverdueSeconds: 600 });
  });
});
