import { describe, expect, it } from 'vitest';
import {
  eventId,
  linkEventId,
  newLinkId,
  newPaymentId,
  newReplayId,
} from '../../../../contract/ids.ts';
import { dayMs } from '../../../../contract/time.ts';
import { createAuditLog } from '../../../../postgres/audit-log.ts';
import { createConsoleLoginQueries } from '../../../../postgres/console/logins.ts';
import { createDeliveries } from '../../../../postgres/webhooks/deliveries.ts';
import { createGatewayEntries } from '../../../../postgres/accounts/gateway-entries.ts';
import { createGatewayExchanges } from '../../../../postgres/gateways/exchanges.ts';
import { createLinkEnds } from '../../../../postgres/links/ends.ts';
import { createLinks } from '../../../../postgres/links/links.ts';
import { createProofs } from '../../../../postgres/gateways/proofs.ts';
import { createLatePayments } from '../../../../postgres/payments/late-payments.ts';
import { everyDelivery } from '../../../../postgres/webhooks/delivery-filter.ts';
import { createReplays } from '../../../../postgres/webhooks/replays.ts';
import { createSandboxPayments } from '../../../../postgres/sandbox/payments.ts';
import { holdLock } from '../../../support/data/hold-lock.ts';
import { belongsTo } from '../../../support/data/rows-of-payment.ts';
import { runLine, words } from '../../../support/service/admin-line.ts';
import { operationsOn } from '../../../support/service/admin-operations.ts';
import { startRecords } from '../../../support/data/records.ts';
import { forFile } from '../../../support/for-file.ts';

const records = await forFile(startRecords());

/** A payment that ended and was delivered now. The purge runs as of a later time. */
const delivered = async (status: 'paid' | 'failed' = 'paid') => {
  const { id } = await records.ended(status);
  await records.sql`
    insert into attempts (event_id, number, round, trigger, scheduled_at, started_at,
      completed_at, duration_ms, response_status, response_body)
    values (${eventId(id)}, 1, 1, 'schedule', now(), now(), now(), 1, 200, 'thanks')`;
  await records.sql`
    update deliveries set status = 'delivered', next_attempt_at = null where payment_id = ${id}`;
  return id;
};

/** Adds the rows of a payment that was opened at the sandbox gateway. */
const addGatewayRows = async (paymentId: string) => {
  const exchange = { operation: 'verify', result: 'waiting', code: null, message: null } as const;
  await createGatewayExchanges(records.sql).insert(paymentId, [
    { ...exchange, at: new Date(), durationMs: 1 },
  ]);
  const at = new Date();
  const money = { amount: 1250, currency: 'EUR' };
  const returnUrl = 'https://pay.example/return';
  const opened = await createSandboxPayments(records.sql).open({ paymentId, ...money, returnUrl });
  await createGatewayEntries(records.sql).recordEntries(
    { gateway: 'sandbox', day: at.toISOString().slice(0, 10) },
    [
      {
        ...({
          kind: 'payment',
          id: opened.reference,
          source: opened.reference,
          refundId: null,
          fee: null,
        } as const),
        ...{ ...money, at },
        payment: { reference: null, trackingCode: null, id: paymentId },
      },
    ],
  );
};

const paymentTables = [
  'events',
  'deliveries',
  'attempts',
  'workflow_outbox',
  'late_payments',
  'sandbox_payments',
  'gateway_exchanges',
  'gateway_entries',
];

const operationsAfter = (days: number, paymentDays: number | null) =>
  operationsOn(records.sql, {
    retention: { attemptBodyDays: 90, paymentDays },
    now: () => new Date(Date.now() + days * dayMs),
  });

const purgeAfter = (days: number, paymentDays: number | null, limit = 1_000_000) =>
  operationsAfter(days, paymentDays).purge(limit, null);

const getResponseBody = async (id: string) => {
  const [row] =
    await records.sql`select response_body from attempts where event_id = ${eventId(id)}`;
  return row?.['response_body'] as string | null;
};
const exists = async (id: string) =>
  (await records.sql`select from payments where id = ${id}`).length === 1;

describe('the purge', () => {
  it('deletes old response bodies and keeps the attempts', async () => {
    const id = await delivered();
    expect(await purgeAfter(89, null)).toEqual({ attemptBodies: 0, payments: 0 });
    expect(await getResponseBody(id)).toBe('thanks');
    expect(await purgeAfter(91, null)).toEqual({ attemptBodies: 1, payments: 0 });
    expect(await getResponseBody(id)).toBeNull();
    expect(await purgeAfter(91, null)).toEqual({ attemptBodies: 0, payments: 0 });
  });

  it('deletes old logins to the console', async () => {
    const { issueLink, openSession } = createConsoleLoginQueries(records.sql);
    await openSession(await issueLink('ada', { role: 'viewer', applications: null }));
    const left = async () =>
      (await records.sql`select from console_sessions union all select from console_links`).length;
    await purgeAfter(89, null);
    expect(await left()).toBe(2);
    await purgeAfter(91, null);
    expect(await left()).toBe(0);
  });

  it('deletes old payments only with a policy, and only those that are done', async () => {
    const done = [await delivered(), await delivered('failed')];
    const open = await records.sent();
    const undelivered = await records.ended('paid');
    const exhausted = await delivered();
    await records.sql`update deliveries set status = 'exhausted' where payment_id = ${exhausted}`;
    const { id: quiet } = await records.ended('expired', { application: 'quiet' });
    const { id: late } = await records.ended('expired', { application: 'quiet' });
    const { id: reversed } = await records.ended('expired', { application: 'quiet' });
    const latePayments = createLatePayments(records.sql);
    await latePayments.record(late, { result: null, facts: {}, now: new Date() });
    await latePayments.record(reversed, { result: 'reversed', facts: {}, now: new Date() });
    const deletable = [...done, exhausted, quiet, reversed];
    for (const id of deletable) await addGatewayRows(id);
    const [paid = ''] = done;
    const proofs = createProofs(records.sql);
    await proofs.claim('sandbox', paid, 'used-once');

    await purgeAfter(5_000, null);
    expect(await exists(done[0] ?? '')).toBe(true);
    expect((await purgeAfter(399, 400)).payments).toBe(0);
    const { payments } = await purgeAfter(401, 400);
    expect(payments).toBeGreaterThanOrEqual(5);
    for (const id of deletable) expect(await exists(id)).toBe(false);
    for (const id of [open.id, undelivered.id, late]) expect(await exists(id)).toBe(true);
    for (const table of paymentTables) {
      const left = await Promise.all(
        deletable.map(
          (id) =>
            records.sql`select from ${records.sql(table)} where ${belongsTo(records.sql, table, id)}`,
        ),
      );
      expect([table, left.flat().length]).toEqual([table, 0]);
    }
    // An accountant's books outlive the payment.
    expect(await records.sql`select from movements where payment_id = ${paid}`).toHaveLength(1);
    // Nor does a proof pay for another payment.
    expect(await proofs.claim('sandbox', open.id, 'used-once')).toBe(false);
  });

  it('deletes old links that have ended, after their payments and with their events', async () => {
    const { sql } = records;
    const links = createLinks(sql);
    const aLink = async () => {
      const id = newLinkId();
      await links.insert({
        ...{ id, application: 'shop', test: true, orderId: id, amount: 1250, currency: 'EUR' },
        ...{ description: null, locale: null, expiresAt: new Date(), askedBy: null },
      });
      return id;
    };
    const [untried, undelivered, tried, disabled, paid, unsent, open] = await Promise.all(
      Array.from({ length: 7 }, aLink),
    );
    const ids = [untried, undelivered, tried, disabled, paid, unsent, open] as string[];
    const paymentOf = async (link = '', status: 'paid' | 'failed') => {
      const id = await delivered(status);
      await sql`update payments set link_id = ${link} where id = ${id}`;
    };
    await paymentOf(tried, 'failed');
    await paymentOf(paid, 'paid');
    // Its event is not delivered.
    await sql`update payments set link_id = ${unsent ?? ''} where id = ${(await records.ended('paid')).id}`;
    await links.disable(disabled ?? '');
    const { end } = createLinkEnds(sql);
    for (const id of ids) if (id !== open) await end(id, new Date());
    await sql`
      update deliveries set status = 'delivered', next_attempt_at = null
      where kind like 'link.%' and event_id <> ${linkEventId(undelivered ?? '')}::uuid`;
    const left = async () =>
      (await sql<{ id: string }[]>`select id from links where id = any(${ids})`).map(
        ({ id }) => id,
      );

    await purgeAfter(5_000, null);
    await purgeAfter(399, 400);
    expect(await left()).toHaveLength(7);
    const { payments } = await purgeAfter(401, 400);
    expect(payments).toBeGreaterThanOrEqual(2);
    expect(new Set(await left())).toEqual(new Set([undelivered, unsent, open]));
    const events = await sql`
      select from events where subject = any(${ids.filter((id) => ![undelivered, unsent].includes(id))})`;
    expect(events).toHaveLength(0);
    expect(
      await sql`select from deliveries where event_id = ${linkEventId(untried ?? '')}`,
    ).toHaveLength(0);

    await sql`update deliveries set status = 'exhausted', next_attempt_at = null where kind like 'link.%'`;
    await purgeAfter(401, 400);
    expect(new Set(await left())).toEqual(new Set([unsent, open]));
  });

  it('deletes old replays with their results, and keeps one that runs', async () => {
    const id = await delivered();
    const replays = createReplays(records.sql);
    const [old, running] = [newReplayId(), newReplayId()];
    const filter = { ...everyDelivery, delivery: 'exhausted', to: new Date() } as const;
    for (const [each, eventIds] of [
      [old, null],
      [running, [eventId(id)]],
    ] as const) {
      await replays.insertOfOperator({ ...filter, id: each, eventIds, matched: 1, perSecond: 1 });
      await records.sql`
        insert into replay_results (replay_id, number, event_id, begun)
        values (${each}, 1, ${eventId(id)}, false)`;
    }
    await replays.end(old, 'done');
    await purgeAfter(401, 400);
    const left = await records.sql`
      select id, (select count(*) from replay_results r where r.replay_id = p.id) as results
      from replays p where id in (${old}, ${running})`;
    expect(left).toEqual([{ id: running, results: 1 }]);
    const orphans = await records.sql`select from replay_results where replay_id = ${old}`;
    expect(orphans).toHaveLength(0);
  });

  it('deletes old refused requests, and empties old reasons with the payments', async () => {
    await records.sql`
      insert into refused_requests (id, application, test, method, route, status, code)
      values ('req_1', 'quiet', true, 'GET', '/api/v1/payments', 422, 'VALIDATION_FAILED')`;
    await records.sql`
      insert into account_differences (gateway, day, kind, subject, state, reason, changed_at)
      values ('sandbox', current_date, 'fee_differs', 'x', 'explained', 'the till of Jane Doe', now())`;
    await operationsOn(records.sql).applications.setStatus('quiet', 'disabled', 'Jane Doe called');
    const left = async () => {
      const [row] = await records.sql`
        select (select count(*) from refused_requests) as requests,
          (select count(*) from account_differences where reason is not null)
            + (select count(*) from audit_log where reason is not null) as reasons`;
      return row;
    };
    await purgeAfter(89, null);
    expect(await left()).toEqual({ requests: 1, reasons: 2 });
    await purgeAfter(401, null);
    expect(await left()).toEqual({ requests: 0, reasons: 2 });
    await purgeAfter(399, 400);
    expect(await left()).toEqual({ requests: 0, reasons: 2 });
    await purgeAfter(401, 400);
    expect(await left()).toEqual({ requests: 0, reasons: 0 });
    expect(await createAuditLog(records.sql).verify()).toMatchObject({ brokenAt: null });
  });

  it('skips a payment whose delivery an admin replays at the same time', async () => {
    const id = await delivered();
    const others = [await delivered(), await delivered()];
    await records.sql`update deliveries set status = 'exhausted' where payment_id = ${id}`;
    const start = { from: ['exhausted'], trigger: 'admin', now: new Date() } as const;
    const admin = await holdLock(records.sql, (tx) =>
      createDeliveries(tx).replay(eventId(id), start),
    );
    const purged = purgeAfter(401, 400, 2);
    await admin.blocked('the purge');
    await admin.commit();
    expect(await purged).toMatchObject({ payments: 2 });
    for (const other of others) expect(await exists(other)).toBe(false);
    expect(await exists(id)).toBe(true);
    const [left] = await records.sql`
      select d.status, count(a) as attempts from deliveries d
      join events e on e.id = d.event_id join attempts a using (event_id)
      where d.payment_id = ${id} group by d.status`;
    expect(left).toEqual({ status: 'pending', attempts: 1 });
  });

  it('exits with 1 at its limit, continues in the next run, and writes to the audit log', async () => {
    const ids = [await delivered(), await delivered(), await delivered()];
    const purge = () => runLine(() => operationsAfter(401, 400), words('purge --yes --limit 2'));
    expect(await purge()).toMatchObject({
      code: 1,
      out: 'attempt bodies  2\npayments        2\nThere may be more: --limit was reached.',
    });
    expect(await purge()).toMatchObject({ code: 0, out: 'attempt bodies  1\npayments        1' });
    for (const id of ids) expect(await exists(id)).toBe(false);
    const log = await operationsOn(records.sql).auditLog({ subject: 'retention', limit: 1 });
    expect(log).toMatchObject([
      { action: 'retention.purge', after: { payments_before: expect.any(String) } },
    ]);
  });

  it('keeps a new payment that has an old id', async () => {
    const id = await delivered();
    const old = `PAY_${'0'.repeat(10)}${newPaymentId().slice(14)}`;
    for (const table of ['attempts', 'deliveries', 'events', 'workflow_outbox'])
      await records.sql`delete from ${records.sql(table)} where ${belongsTo(records.sql, table, id)}`;
    await records.sql`update payments set id = ${old} where id = ${id}`;
    await purgeAfter(399, 400);
    expect(await exists(old)).toBe(true);
  });
});
