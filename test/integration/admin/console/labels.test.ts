import { expect, it } from 'vitest';
import { createRoutes } from '../../../../admin/console/routes.ts';
import { labels } from '../../../../admin/operations/labels.ts';
import { errorClasses } from '../../../../contract/attempt.ts';
import { failureReasons } from '../../../../contract/failure-codes.ts';
import { exchangeResults } from '../../../../contract/gateway-exchange.ts';
import { eventId, newReplayId, refundId } from '../../../../contract/ids.ts';
import { refundFailureReasons } from '../../../../contract/refund-failure-codes.ts';
import { refundStages } from '../../../../contract/refund.ts';
import { deliveryStates } from '../../../../postgres/webhooks/delivery-filter.ts';
import { createTokens, tokenIdOf } from '../../../../postgres/applications/tokens.ts';
import { fillReserved } from '../../../support/data/fill-reserved.ts';
import { startFilledConsole } from '../../../support/service/filled-console.ts';

const { console, sql, ids } = await startFilledConsole({ skipsTime: true, temporal: {} });
await fillReserved(sql, ids);

/** Spreads the codes over the rows of a condition. */
const spread = async (
  table: string,
  { key, set, where }: { key: string; set: string; where: string },
  codes: readonly string[],
) =>
  sql.unsafe(
    `update ${table} t set ${set} = ($1::text[])[1 + n % cardinality($1::text[])]
     from (select ${key} as key, row_number() over () as n from ${table} where ${where}) as each
     where t.${key} = each.key`,
    [[...codes]],
  );

const fillEveryCode = async () => {
  const failed = { key: 'id', set: 'failure_code', where: `status = 'failed'` };
  await spread('payments', failed, Object.keys(failureReasons));
  const exhausted = { key: 'event_id', set: 'error_class', where: `status = 'exhausted'` };
  await spread('deliveries', exhausted, errorClasses);
  await sql`update attempts set response_status = null, error_class = d.error_class
    from deliveries d where d.event_id = attempts.event_id and d.error_class is not null`;
  const calls = Object.keys(labels.exchange).flatMap((operation) =>
    exchangeResults.map((result) => ({ operation, result })),
  );
  await sql`insert into gateway_exchanges ${sql(
    calls.map((call) => ({
      ...call,
      payment_id: ids.paid,
      gateway: 'sandbox',
      at: new Date(),
      duration_ms: 1,
    })),
  )}`;
  const ended = Object.keys(refundFailureReasons).map((code) => ({ code, stage: null }));
  const pending = refundStages.map((stage) => ({ code: null, stage }));
  for (const { code, stage } of [...ended, ...pending]) {
    const status = code === null ? 'pending' : 'failed';
    const own = { id: refundId([status, code ?? stage]), stage, status, failure_code: code };
    await sql`
      insert into refunds (payment_id, application, test, order_id, amount, currency, method, requested_by, reason,
        token, metadata, created_at, updated_at, id, stage, status, failure_code)
      select id, application, test, order_id, 1, currency, 'refund', 'application', 'requested_by_customer',
        '3f1c9a0b2d4e5f60', '{}', now(), now(), ${own.id}, ${own.stage}, ${own.status}, ${own.failure_code}
      from payments where id = ${ids.paid}`;
  }
  for (const action of Object.keys(labels.audit))
    await sql`
      insert into audit_log (actor, action, subject, before, after, reason, via)
      values ('ada', ${action}, ${`payment:${ids.paid}`}, '{"stage":"by_hand"}', '{"settled_as":"failed"}', 'why', 'cli')`;
  for (const delivery of Object.keys(labels.replay).slice(0, 1))
    await sql`
      insert into replays (id, trigger, delivery, kind, to_at, error_class, matched, status)
      values (${newReplayId()}, 'admin', 'undelivered', 'payment.paid', now(), 'http_status', 1, ${delivery})`;
};
await fillEveryCode();

/** The text that a person reads: the code of a thing may stand in an attribute, in a payload, and in <code> beside its word. */
const readText = (page: string): string =>
  page
    .replaceAll(/<(pre|code)[^>]*>[^]*?<\/\1>/g, ' ')
    .replaceAll(/<[^>]*>/g, ' ')
    // The beginning of a token is random, and may look like a code.
    .replaceAll(/\bsvc_(?:live|test)_\w+/g, ' ')
    .replaceAll('&#39;', "'");

const kinds = Object.keys(labels.subject).concat(
  'delivery',
  'secret',
  'token',
  'webhook',
  'passkey',
);
const code = new RegExp(
  `\\b[a-z]+(?:_[a-z]+)+\\b|\\b(?:${kinds.join('|')})\\.[a-z]+\\b|\\b[A-Z]+_[A-Z]+\\b`,
  'g',
);

it('shows a person the word for every code, and no control character of a text, on every page', async () => {
  const reader = await console.logIn('admin', 'reader');
  const failed = await sql<{ id: string }[]>`
    select distinct on (failure_code) id from payments where status = 'failed'`;
  const refunds = await sql<{ id: string }[]>`select id from refunds`;
  const disputes = await sql<{ id: string }[]>`select id from disputes`;
  const [replay] = await sql<{ id: string }[]>`select id from replays`;
  const hostile = 'a\u202eb\u200bc\u009bd';
  const token = await createTokens(sql).issue({
    application: 'shop',
    mode: 'live',
    name: hostile.replace('\u009b', ''),
  });
  const paths = [
    ...createRoutes(console.deps)
      .filter(
        ({ method, path, role }) => method === 'GET' && !path.includes(':') && role !== 'anyone',
      )
      .map(({ path }) => path)
      .filter((path) => !/file|logout/.test(path)),
    ...failed.map(({ id }) => `/payments/${id}`),
    ...refunds.flatMap(({ id }) => [`/refunds/${id}`]),
    ...disputes.map(({ id }) => `/disputes/${id}`),
    ...Object.values(ids.links).flatMap((id) => [`/links/${id}`, `/links/${id}/confirm`]),
    ...refunds
      .slice(0, 4)
      .flatMap(({ id }) => [`/refunds/${id}/succeeded`, `/refunds/${id}/confirm`]),
    ...deliveryStates.map((state) => `/deliveries?status=${state}`),
    ...[`/payments/${ids.paid}`, `/payments/${ids.open}/cancel`, `/payments/${ids.paid}/refund`],
    ...[`/events/${eventId(ids.exhausted)}`, `/events/${eventId(ids.exhausted)}/replay`],
    `/applications/${encodeURIComponent(hostile)}`,
    `/applications/shop/tokens/${tokenIdOf(token)}/revoke`,
    `/applications/shop/tokens/${tokenIdOf(token)}/replace`,
    ...['/applications/shop', '/applications/shop/requests', '/applications/shop/tokens/issue'],
    ...[`/deliveries/replays/${replay?.id}`, `/accounts/zarinpal/${ids.accounts.openDay}`],
    ...[
      '/gateways/zarinpal/disable',
      '/gateways/sandbox',
      '/audit?after=40',
      '/deliveries/replay?mode=live&scope=all&status=exhausted&kind=payment.paid&to=2030-01-01T00:00:00.000Z',
    ],
  ];
  const shown: string[] = [];
  for (const path of paths) {
    const { status, text } = await reader.get(path);
    expect(status, `${path}: ${text}`).toBeLessThan(500);
    // A button copies the text as it is.
    expect(text.replaceAll(/ data-copy="[^"]*"/g, ''), path).not.toMatch(/[\u009b\u200b\u202e]/);
    if (path.includes(encodeURIComponent(hostile)) || path.endsWith('/revoke'))
      expect(text, path).toContain('‹U+202E›');
    const found = readText(text).match(code) ?? [];
    if (found.length > 0) shown.push(`${path}: ${[...new Set(found)].join(', ')}`);
  }
  expect(shown).toEqual([]);
});
