import { createApplications } from '../../../postgres/applications/applications.ts';
import type { Sql } from '../../../postgres/driver/sql.ts';
import { createGateways, sandboxAccount } from '../../../postgres/gateways/gateways.ts';

/**
 * Inserts payments of one application in all states, with everything that belongs to them: 100,000 for
 * each 24 hours back from now, a thousand orders, the newest hundredth open. So 200,000 are always of three dates: a part of
 * a day more, and the time of the test would decide.
 */
export const fill = async (
  sql: Sql,
  { application, count }: { application: string; count: number },
) => {
  const connection = await sql.reserve();
  const id = `'PAY_' || lpad(n::text, 26, '0')`;
  const status = `case when n <= ${count} / 100 then (array['pending', 'processing'])[1 + n % 2]
    else (array['paid', 'paid', 'paid', 'failed', 'cancelled', 'expired'])[1 + n % 6] end`;
  const numbers = `generate_series(1, ${count}) as n`;
  const at = `date_trunc('milliseconds', now()) - n * interval '864 milliseconds'`;
  for (const statement of [
    'set statement_timeout = 0',
    // Without the checks of each row's references and the triggers, which take most of the time.
    'set session_replication_role = replica',
    `insert into payments (id, application, test, order_id, status, amount, currency, gateway,
      callback_url, metadata, expires_at, created_at, updated_at, gateway_reference, checkout_at,
      paid_at, failure_code, cancelled_by, card_pan_masked)
    select id, '${application}', true, 'order-' || n % 1000, status, 1250, 'EUR', 'sandbox',
      'http://127.0.0.1:9/return', '{}', at + interval '30 minutes', at, at, 'R' || n,
      case when n % 3 > 0 then at end, case when status = 'paid' then at end,
      case when status = 'failed' then 'unknown' end, case when status = 'cancelled' then 'payer' end,
      case when status = 'paid' then '603799******' || lpad((n % 5000)::text, 4, '0') end
    from (select n, ${id} as id, ${status} as status, ${at} as at from ${numbers}) as all_of_them`,
    `insert into events (id, subject, payment_id, application, test, kind, body, created_at)
    select md5(id)::uuid, id, id, application, test, 'payment.' || status, '{}', created_at from payments
    where status not in ('pending', 'processing')`,
    `insert into deliveries (event_id, payment_id, application, test, order_id, kind, created_at,
      recorded_at, status, next_attempt_at, delivered_at, postponed_at, failing_at)
    select e.id, e.payment_id, e.application, e.test, p.order_id, e.kind, e.created_at,
      e.created_at, case when right(p.id, 2) = '00' then 'pending' else 'delivered' end,
      case when right(p.id, 2) = '00' then e.created_at end,
      case when right(p.id, 2) <> '00' then e.created_at end,
      case when right(p.id, 3) = '000' then e.created_at end,
      case when right(p.id, 3) in ('000', '500') then e.created_at end
    from events e join payments p on p.id = e.payment_id`,
    `insert into attempts (event_id, number, round, trigger, scheduled_at, started_at,
      completed_at, duration_ms)
    select event_id, 1, 1, 'schedule', now(), now(), now(), 5 from deliveries`,
    `insert into workflow_outbox (payment_id, created_at) select id, created_at from payments`,
    `insert into payers (payment_id, sealed, created_at) select id, 'v1.test.x', created_at from payments`,
    `insert into idempotency_keys (application, test, route, key, fingerprint, status, location,
      body, expires_at)
    select '${application}', true, 'POST /api/v1/payments', 'key-' || n, '\\x00', 201, '', '{}',
      now() + (n - ${count} / 100) * interval '1 second' from ${numbers}`,
    `insert into sandbox_payments (reference, payment_id, amount, currency, return_url, state)
    select 'R' || n, ${id}, 1250, 'EUR', 'http://127.0.0.1:9/', 'open' from ${numbers}`,
    `insert into refunds (id, payment_id, application, test, order_id, status, stage, amount, currency, method,
      requested_by, metadata, created_at, updated_at, due_at)
    select 'REFUND_' || right(id, 26), id, application, test, order_id,
      case when right(id, 3) = '003' then 'pending' else 'succeeded' end,
      case when right(id, 3) = '003' then 'sent' end, 5, currency, 'refund', 'application', '{}', created_at,
      created_at, case when right(id, 3) = '003' then created_at end
    from payments where status = 'paid' and right(id, 1) in ('3', '7')`,
    `insert into sandbox_refunds (reference, refund_id, payment_id, amount, outcome, accepted_at)
    select 'SBR' || id, id, payment_id, amount, 'succeeded', created_at from refunds`,
    // As if each paid payment was disputed: the lists must not depend on how few are.
    `insert into disputes (id, payment_id, application, test, order_id, gateway, gateway_reference, stage, status,
      amount, currency, opened_at, updated_at)
    select 'DISPUTE_' || right(id, 26), id, application, test, order_id, gateway, 'dp_' || id,
      case when right(id, 2) = '07' then 'inquiry' else 'chargeback' end,
      case when right(id, 3) in ('007', '009') then 'needs_response'
        when right(id, 1) = '3' then 'won' when right(id, 2) = '07' then 'closed' else 'lost' end,
      5, currency, created_at, created_at
    from payments where status = 'paid'`,
    // A link of every fourth payment, and one that nobody has tried to pay for each of these.
    `insert into links (id, application, test, order_id, status, amount, currency, payment_id, expires_at, created_at,
      paid_at, requested_by, asked_by, asked_via)
    select 'LNK_' || right(id, 26), application, test, order_id,
      case when status = 'paid' then 'paid' when status in ('pending', 'processing') then 'open' else 'expired' end,
      amount, currency, case when status = 'paid' then id end, expires_at, created_at, paid_at,
      'admin', 'ada', 'console'
    from payments where right(id, 1) in ('2', '6')`,
    `update payments set link_id = 'LNK_' || right(id, 26) where right(id, 1) in ('2', '6')`,
    `insert into links (id, application, test, order_id, status, amount, currency, expires_at, created_at, requested_by)
    select 'LNK_U' || right(id, 25), application, test, order_id,
      case when status in ('pending', 'processing') then 'open' else 'expired' end, amount, currency, expires_at, created_at,
      'application'
    from payments where link_id is not null`,
    `insert into events (id, subject, payment_id, application, test, kind, body, created_at)
    select md5(id)::uuid, id, null, application, test, 'link.expired', '{}', expires_at from links
    where payment_id is null and id like 'LNK_U%' and status = 'expired'`,
    `insert into deliveries (event_id, payment_id, application, test, order_id, kind, created_at, recorded_at, status,
      delivered_at)
    select e.id, 'PAY_' || right(e.subject, 26), e.application, e.test, l.order_id, e.kind, e.created_at, e.created_at,
      'delivered', e.created_at
    from events e join links l on l.id = e.subject where e.payment_id is null`,
    `insert into movements (id, kind, gateway, day, payment_id, application, test, order_id, amount, currency,
      reference, occurred_at, recorded_at)
    select 'payment:' || id, 'payment', gateway, paid_at::date, id, application, test, order_id, amount, currency,
      gateway_reference, paid_at, paid_at from payments where status = 'paid'`,
    `insert into movements (id, kind, gateway, day, payment_id, refund_id, application, test, order_id, amount,
      currency, occurred_at, recorded_at)
    select 'refund:' || r.id, 'refund', p.gateway, r.created_at::date, p.id, r.id, r.application, r.test, r.order_id,
      -r.amount, r.currency, r.created_at, r.created_at
    from refunds r join payments p on p.id = r.payment_id where r.status = 'succeeded'`,
    `insert into gateway_entries (gateway, id, kind, day, at, amount, currency, payment_id)
    select gateway, 'E-' || id, 'payment', paid_at::date, paid_at, amount, currency, id from payments
    where status = 'paid'`,
    `insert into tokens (hash, prefix, application, mode, name)
    select sha256(n::text::bytea), 'svc_test_0000', '${application}', 'test', 'filled' from ${numbers}`,
    'vacuum analyze',
    'reset session_replication_role',
    'reset statement_timeout',
  ])
    await connection.unsafe(statement);
  connection.release();
};

/** Makes the application, and fills all tables. */
export const fillAll = async (sql: Sql, options: { application: string; count: number }) => {
  await createGateways(sql).insert(sandboxAccount);
  await createApplications(sql).insert({
    slug: options.application,
    defaultGateway: 'sandbox',
    callbackUrls: ['http://127.0.0.1:9/return'],
    webhookUrl: null,
    disputeEvents: true,
  });
  await fill(sql, options);
  await fillForAdmins(sql);
  // Only then the unopened payments are read.
  await createGateways(sql).beginSilence('sandbox');
};

/** Inserts the rows that few payments have, and those for admins, for the payments that exist. */
export const fillForAdmins = async (sql: Sql) => {
  const connection = await sql.reserve();
  for (const statement of [
    'set statement_timeout = 0',
    // The trigger of the audit log's chain is slow for so many records of one transaction.
    'set session_replication_role = replica',
    `insert into gateway_exchanges (payment_id, gateway, at, operation, result, duration_ms)
    select id, gateway, created_at, 'open', 'opened', 5 from payments`,
    `insert into gateway_proofs (gateway, proof, payment_id) select gateway, 'PROOF_' || id, id from payments`,
    `insert into late_payments (payment_id, found_at, result, resolved_at)
    select id, created_at, 'returns', created_at from payments
    where status in ('failed', 'cancelled', 'expired')`,
    `insert into audit_log (id, hash, actor, action, subject)
    select row_number() over (), '', 'service', 'payment.late_payment_returns', 'payment:' || payment_id
    from late_payments`,
    'reset session_replication_role',
    `update deliveries set status = 'exhausted', next_attempt_at = null,
      error_class = case when payment_id like '%0000' then 'tls' else 'http_status' end
    where payment_id like '%000'`,
    `update attempts set response_body = 'Thank you'`,
    // Yesterday and today are open, as they are in a service.
    `insert into account_days (gateway, day, method, compared_at, closed_at, hash, movements, sums)
    select gateway, day, 'list', now(), now(), '', sum(count), jsonb_agg(s) from (
      select gateway, day, application, test, kind, currency, count(*), sum(amount) as amount from movements
      where day < now()::date - 1 group by gateway, day, application, test, kind, currency) s
    group by gateway, day`,
    'vacuum analyze',
    'reset statement_timeout',
  ])
    await connection.unsafe(statement);
  connection.release();
};
