import { beforeEach, describe, expect, it } from 'vitest';
import { createGateways, sandboxAccount } from '../../../../postgres/gateways/gateways.ts';
import { createBacklogMetrics } from '../../../../postgres/metrics/backlog.ts';
import { startRecords } from '../../../support/data/records.ts';
import { forFile } from '../../../support/for-file.ts';

const records = await forFile(startRecords({ gatewayKind: 'live' }));
const { sql } = records;
beforeEach(() => records.beginAgain());
const fields = Object.keys(createBacklogMetrics(sql).gauges);
const empty = Object.fromEntries(fields.map((field) => [field, 0]));

/** Measures; rounds seconds down to hundreds. */
const measure = async () => {
  const metrics = await createBacklogMetrics(sql).measure();
  const rounded = Object.entries(metrics).map(([name, value]) => [
    name,
    name.endsWith('Seconds') ? Math.floor(value / 100) * 100 : value,
  ]);
  return Object.fromEntries(rounded) as typeof metrics;
};

/** Sets the times of a payment, as ages in seconds. A deadline in the future has a negative age. */
const setAges = (
  id: string,
  { sent, inquired, expired }: { sent?: number; inquired?: number; expired?: number },
) =>
  sql`
    update payments set
      checkout_at = now() - make_interval(secs => ${sent ?? null}::int),
      inquired_at = now() - make_interval(secs => ${inquired ?? null}::int),
      expires_at = now() - make_interval(secs => ${expired ?? -900}::int)
    where id = ${id}`;

const emptyOutbox = () => sql`delete from workflow_outbox`;

describe('backlogMetrics', () => {
  it('is empty when all payments have ended', async () => {
    expect(await measure()).toEqual(empty);
    for (const [status, expired] of [
      ['paid', 5_000],
      ['expired', -900],
    ] as const) {
      const { id } = await records.ended(status);
      await setAges(id, { sent: 6_000, inquired: 5_500, expired });
    }
    await emptyOutbox();
    await sql`update deliveries set status = 'delivered', next_attempt_at = null`;
    expect(await measure()).toEqual(empty);
  });

  it('is empty when nothing is overdue', async () => {
    await records.created();
    await setAges((await records.sent()).id, { sent: 10 });
    await records.ended('failed');
    await emptyOutbox();
    await sql`update deliveries set next_attempt_at = now() + interval '1 hour'`;
    expect(await measure()).toEqual(empty);
  });

  it('counts the outbox and measures the age of its oldest entry', async () => {
    for (const age of ['10 seconds', '250 seconds', '20 seconds']) {
      const { id } = await records.created();
      await sql`
        update workflow_outbox set created_at = now() - ${age}::interval where payment_id = ${id}`;
    }
    expect(await measure()).toEqual({ ...empty, outboxSize: 3, outboxAgeSeconds: 200 });
  });

  it('measures how long the first open payment is overdue', async () => {
    await setAges((await records.opened()).id, { expired: 250 });
    const processing = await records.sent();
    await records.inquired(processing.id, { becomesProcessing: true });
    await setAges(processing.id, { sent: 9_000, inquired: 8_000, expired: 350 });
    await emptyOutbox();
    // After the deadline the payment's own workflow inquires, so there is no inquiry lag.
    expect(await measure()).toEqual({ ...empty, overdueSeconds: 300 });
  });

  it('measures the longest time since an inquiry over all gateways', async () => {
    await setAges((await records.sent()).id, { sent: 9_000, inquired: 150 });
    await setAges((await records.sent()).id, { sent: 350 });
    await setAges((await records.opened()).id, {});
    await emptyOutbox();
    expect(await measure()).toEqual({ ...empty, inquiryLagSeconds: 300 });
    const slug = 'other';
    await createGateways(sql).insert({ ...sandboxAccount, kind: 'live', slug });
    await setAges((await records.sent({ gateway: slug })).id, { sent: 9_000, inquired: 450 });
    await emptyOutbox();
    expect(await measure()).toEqual({ ...empty, inquiryLagSeconds: 400 });
  });

  it('measures nothing about sandbox accounts, which page nobody', async () => {
    await sql`update gateways set kind = 'sandbox'`;
    await setAges((await records.sent()).id, { sent: 350 });
    await setAges((await records.opened()).id, { expired: 250 });
    await emptyOutbox();
    expect(await measure()).toEqual(empty);
  });

  it('counts exhausted deliveries, and measures how long the first pending one is overdue', async () => {
    await records.deliveryOverdue(5);
    await records.deliveryOverdue(10);
    const id = await records.deliveryOverdue(20);
    await sql`
      update deliveries set status = 'exhausted', next_attempt_at = null where payment_id = ${id}`;
    await emptyOutbox();
    expect(await measure()).toEqual({ ...empty, exhausted: 1, deliveryOverdueSeconds: 600 });
    // Neither a test's nor a postponed delivery pages anybody.
    await sql`update deliveries set test = true where next_attempt_at < now() - interval '9 minutes'`;
    expect(await measure()).toEqual({ ...empty, exhausted: 1, deliveryOverdueSeconds: 300 });
    await sql`update deliveries set postponed_at = now()`;
    expect(await measure()).toEqual({ ...empty, exhausted: 1 });
    await sql`update deliveries set test = true`;
    expect(await measure()).toEqual(empty);
  });

  it('measures how long the first mail waits for somebody who sends it', async () => {
    await sql`insert into notice_addresses (application, address) values ('shop', 'ops@shop.example')`;
    const noticeOf = (kind: string, seconds: number) => sql`
      insert into notices (application, kind, state_since, address, created_at, next_try_at)
      values ('shop', ${kind}, now(), 'ops@shop.example', now(), now() - make_interval(secs => ${seconds}))`;
    await noticeOf('failing', -300);
    expect(await measure()).toEqual(empty);
    await noticeOf('confirmation', 250);
    await noticeOf('exhausted', 350);
    expect(await measure()).toEqual({ ...empty, noticeOverdueSeconds: 300 });
    await sql`update notices set result = 'sent', next_try_at = null`;
    expect(await measure()).toEqual(empty);
  });

  it('counts live gateways that opened nothing, until they open a payment', async () => {
    await sql`update gateways set silent_until = now() - interval '1 minute'`;
    expect(await measure()).toMatchObject({ gatewaysSilent: 1 });
    await sql`update gateways set kind = 'sandbox'`;
    expect(await measure()).toMatchObject({ gatewaysSilent: 0 });
    await sql`update gateways set kind = 'live', silent_until = null`;
    expect(await measure()).toMatchObject({ gatewaysSilent: 0 });
  });

  it('counts live disputes that must be answered within 72 hours', async () => {
    const { id } = await records.ended('paid');
    await sql`
      insert into disputes (id, payment_id, application, test, order_id, gateway, gateway_reference, stage, status,
        amount, currency, opened_at, updated_at)
      select 'DISPUTE_' || right(id, 26), id, application, false, order_id, gateway, 'dp_1', 'chargeback',
        'needs_response', amount, currency, now(), now() from payments where id = ${id}`;
    const dueIn = async (hours: number | null) => {
      await sql`update disputes set respond_by = now() + make_interval(secs => ${hours === null ? null : hours * 3600})`;
      return (await measure()).disputesDue;
    };
    expect(await dueIn(73)).toBe(0);
    expect(await dueIn(-1)).toBe(0);
    expect(await dueIn(null)).toBe(0);
    expect(await dueIn(71)).toBe(1);
    await sql`update disputes set status = 'under_review'`;
    expect(await dueIn(71)).toBe(0);
    await sql`update disputes set status = 'needs_response', test = true`;
    expect(await dueIn(71)).toBe(0);
    await sql`update disputes set test = false`;
    await sql`update gateways set kind = 'sandbox'`;
    expect(await dueIn(71)).toBe(0);
  });

  it('counts the days of the account that is furthest behind', async () => {
    await sql`update gateways set created_at = now() - interval '5 days'`;
    expect(await measure()).toMatchObject({ accountDaysDue: 5 });
    await sql`
      insert into account_days (gateway, day, method, movements, compared_at, closed_at, hash, sums)
      select slug, (now() at time zone 'UTC')::date - 3, 'list', 0, now(), now(), '', '[]' from gateways`;
    expect(await measure()).toMatchObject({ accountDaysDue: 2 });
    await sql`update gateways set enabled = false`;
    expect(await measure()).toMatchObject({ accountDaysDue: 0 });
  });
});
