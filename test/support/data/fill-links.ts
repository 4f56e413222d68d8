import type { Sql } from '../../../postgres/driver/sql.ts';

/**
 * Makes a link of every fourth payment that exists, as if a payer had begun it with that, and one that nobody has tried to pay
 * for each of these.
 */
export const fillLinks = async (sql: Sql) => {
  const connection = await sql.reserve();
  for (const statement of [
    'set statement_timeout = 0',
    'set session_replication_role = replica',
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
    'vacuum analyze',
    'reset session_replication_role',
    'reset statement_timeout',
  ])
    await connection.unsafe(statement);
  connection.release();
};
