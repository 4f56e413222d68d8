import { eventId, newPaymentId, refundId } from '../../../contract/ids.ts';
import { createApplications } from '../../../postgres/applications/applications.ts';
import { operationsOn } from '../service/admin-operations.ts';
import type { Sql } from '../../../postgres/driver/sql.ts';
import { fillDisputes } from './fill-disputes.ts';
import { fillLinks } from './links-of-admins.ts';
import { fillAccounts } from './fill-accounts.ts';
import { createGateways, sandboxAccount } from '../../../postgres/gateways/gateways.ts';

/** Markup that would act if a page took it for its own, and characters that hide what follows. */
const hostileText = (name: string): string =>
  `<img src=x onerror=alert('${name}')>\u202e\u0007"'>{{7*7}}`;

/** Payments of two applications in every state over the last day. @returns some to look at */
export const fillConsole = async (sql: Sql) => {
  await createGateways(sql).insert(sandboxAccount);
  await createGateways(sql).insert({
    slug: 'zarinpal',
    driver: 'zarinpal',
    kind: 'live',
    credentials: null,
  });
  for (const slug of ['shop', 'tickets']) {
    await createApplications(sql).insert({
      slug,
      defaultGateway: 'sandbox',
      callbackUrls: ['https://shop.example/return'],
      webhookUrl: 'https://shop.example/webhook?key=hidden',
    });
    const admin = operationsOn(sql);
    const token = { application: slug, mode: 'live', name: 'checkout', expiresAt: null } as const;
    await admin.tokens.issue(token, 'the first one');
    await admin.secrets.rotate(slug, 'the first one');
  }
  const statuses = ['paid', 'paid', 'paid', 'failed', 'cancelled', 'expired', 'pending'] as const;
  const now = Date.now();
  const rows = Array.from({ length: 240 }, (_, n) => {
    const status = statuses[n % statuses.length] ?? 'paid';
    const at = new Date(now - n * 350_000);
    return {
      id: newPaymentId(),
      application: n % 3 === 0 ? 'tickets' : 'shop',
      test: n % 5 === 0,
      order_id: `order-${1000 + n}`,
      status,
      amount: 1250 + n * 10,
      currency: 'EUR',
      gateway: n % 4 === 0 ? 'zarinpal' : 'sandbox',
      callback_url: 'https://shop.example/return',
      metadata: '{}',
      expires_at: new Date(at.getTime() + 1_800_000),
      created_at: at,
      updated_at: at,
      gateway_reference: `R-${n}`,
      checkout_at: at,
      paid_at: status === 'paid' ? at : null,
      tracking_code: status === 'paid' ? `T-${n}` : null,
      failure_code: status === 'failed' ? 'card_declined' : null,
      cancelled_by: status === 'cancelled' ? 'payer' : null,
    };
  });
  await sql`insert into payments ${sql(rows)}`;
  const ended = rows.filter(({ status }) => status !== 'pending');
  await sql`insert into events ${sql(
    ended.map((row) => ({
      id: eventId(row.id),
      subject: row.id,
      payment_id: row.id,
      application: row.application,
      test: row.test,
      kind: `payment.${row.status}`,
      body: Buffer.from(JSON.stringify({ payment_id: row.id, status: row.status })),
      created_at: row.updated_at,
    })),
  )}`;
  const isExhausted = (n: number) => n % 9 === 0;
  await sql`insert into deliveries ${sql(
    ended.map((row, n) => ({
      event_id: eventId(row.id),
      payment_id: row.id,
      application: row.application,
      test: row.test,
      order_id: row.order_id,
      kind: `payment.${row.status}`,
      created_at: row.updated_at,
      recorded_at: row.updated_at,
      status: isExhausted(n) ? 'exhausted' : 'delivered',
      error_class: isExhausted(n) ? 'http_status' : null,
      failing_at: isExhausted(n) ? row.updated_at : null,
    })),
  )}`;
  await sql`insert into attempts ${sql(
    ended.flatMap((row, n) =>
      Array.from({ length: isExhausted(n) ? 6 : 1 }, (_, index) => ({
        event_id: eventId(row.id),
        number: index + 1,
        round: 1,
        trigger: 'schedule',
        scheduled_at: row.updated_at,
        started_at: new Date(row.updated_at.getTime() + index * 60_000),
        completed_at: new Date(row.updated_at.getTime() + index * 60_000 + 30),
        duration_ms: 30,
        response_status: isExhausted(n) ? 503 : 204,
        error_class: isExhausted(n) ? 'http_status' : null,
        error: isExhausted(n) ? 'The receiver answered 503' : null,
        response_body: isExhausted(n) ? 'upstream is away' : null,
        response_truncated: false,
      })),
    ),
  )}`;
  await sql`insert into gateway_exchanges ${sql(
    rows.map((row) => ({
      payment_id: row.id,
      gateway: row.gateway,
      at: row.created_at,
      operation: 'open',
      result: 'opened',
      duration_ms: 80,
    })),
  )}`;
  const [first, second] = ended.filter(({ test }, n) => isExhausted(n) && !test);
  const [open, live] = rows.filter(({ status }) => status === 'pending');
  if (!first || !second || !open || !live) throw new Error('Some states are missing');
  await sql`
    update payments set order_id = ${hostileText('order')},
      gateway_message = ${hostileText('gateway')}, gateway_code = ${hostileText('code')},
      description = ${hostileText('description')},
      metadata = ${`{"note":"${hostileText('metadata')}"}`} where id = ${second.id}`;
  await sql`
    update gateway_exchanges set message = ${hostileText('exchange')} where payment_id = ${second.id}`;
  await sql`
    update deliveries set order_id = ${hostileText('order')} where payment_id = ${second.id}`;
  await sql`
    update events set body = convert_to(${hostileText('event')}, 'UTF8')
    where payment_id = ${second.id}`;
  await sql`
    update attempts set error = ${hostileText('error')}, response_body = ${hostileText('answer')}
    where event_id = ${eventId(second.id)}`;
  const paid = rows.filter(({ status, gateway }) => status === 'paid' && gateway === 'sandbox');
  const failing = ended.filter(({ status, test }) => status === 'paid' && !test).slice(-3);
  await sql`
    update deliveries set status = 'pending', error_class = 'timeout', failing_at = created_at,
      next_attempt_at = now() + interval '1 hour'
    where payment_id = any(${failing.map(({ id }) => id)})`;
  await sql`
    update attempts set response_status = null, error_class = 'timeout', error = 'No answer within 10 s'
    where event_id = any(${failing.map(({ id }) => eventId(id))}::text[]::uuid[])`;
  await sql`
    insert into refused_requests (id, application, test, method, route, status, code, fields)
    values ('req_00000000000000000000000001', 'shop', false, 'POST', '/api/v1/payments', 422, 'VALIDATION_FAILED',
      ${sql.json([{ path: hostileText('path'), rule: 'unknown', message: hostileText('message') }])})`;
  const [toCheck] = rows.filter(({ status }) => status === 'failed');
  await sql`
    insert into late_payments (payment_id, found_at, result, resolved_at)
    values (${toCheck?.id ?? ''}, now(), 'by_hand', now())`;
  const refunds = ['one', 'two', 'three', 'four'].map((name, n) => ({
    id: refundId([name]),
    payment_id: paid[n]?.id ?? '',
    application: paid[n]?.application ?? '',
    test: paid[n]?.test ?? true,
    order_id: paid[n]?.order_id ?? '',
    status: 'pending',
    stage: n < 2 ? 'by_hand' : 'reserved',
    amount: 100,
    currency: 'EUR',
    method: 'refund',
    requested_by: n < 2 ? 'application' : 'admin',
    metadata: '{}',
    times_told: n < 2 ? 1 : 0,
    gateway_message: hostileText('refund'),
    asked_by: n < 2 ? null : 'another admin',
    asked_via: n < 2 ? null : 'console',
    token: n < 2 ? '3f1c9a0b2d4e5f60' : null,
    created_at: new Date(now - n * 1_000),
    updated_at: new Date(now),
  }));
  // For the moment every refund of an admin needs another one.
  await sql`insert into approvals (kind, currency, above) values ('refund', 'EUR', 0)`;
  await sql`insert into refunds ${sql(refunds)}`;
  await sql`delete from approvals where kind = 'refund'`;
  await sql`
    update payments set amount_refund_pending = 100 where id in (select payment_id from refunds)`;
  const [one = '', two = '', three = '', four = ''] = refunds.map(({ id }) => id);
  return {
    accounts: await fillAccounts(sql, rows, hostileText('subject')),
    links: await fillLinks(sql, hostileText('text')),
    disputes: await fillDisputes(sql, rows, hostileText('reason')),
    exhausted: first.id,
    hostile: second.id,
    open: open.id,
    live: live.id,
    paid: paid[4]?.id ?? '',
    refunded: paid[0]?.id ?? '',
    byHand: [one, two],
    toConfirm: [three, four],
    toCheck: toCheck?.id ?? '',
    failing: failing.map(({ id }) => id),
  };
};
