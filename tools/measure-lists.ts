import { createApplications } from '../postgres/applications.ts';
import { createGateways, sandboxAccount } from '../postgres/gateways.ts';
import { connect } from '../postgres/driver/connection.ts';
import { createEvents, type EventQuery } from '../postgres/events.ts';
import type { ListQuery } from '../postgres/payments.ts';
import { createPayments } from '../postgres/payments.ts';
import { fill } from '../test/support/data/fill-tables.ts';
import { startOwnPostgres } from '../test/support/servers/own-postgres.ts';

/*
 * Compares the query time of the lists of payments and of events at 1,000,000 payments of one application with
 * that at 10,000, for every combination of filters, first page and cursor. Takes 20 minutes and 4 GB.
 * `npm run measure-lists -- events` measures only one of the two.
 */

const application = 'big';
const owner = { application, test: true };
const sizes = { small: 10_000, large: 1_000_000 } as const;
const maxRatio = 3;
const rounds = { payments: 300, events: 60 } as const;
const [wanted] = process.argv.slice(2);

const startFilled = async (count: number) => {
  const postgres = await startOwnPostgres();
  const { sql } = postgres;
  await createGateways(sql).insert(sandboxAccount);
  await createApplications(sql).insert({
    slug: application,
    defaultGateway: 'sandbox',
    callbackUrls: ['http://127.0.0.1:9/return'],
    webhookUrl: null,
  });
  console.log(`Filling ${count} payments …`);
  // Its statements take minutes.
  const filler = connect(postgres.url, { name: 'fill', max: 1, patient: true });
  await fill(filler, { application, count });
  // One event in a thousand each.
  await filler.unsafe(`
    set statement_timeout = 0;
    update deliveries set next_attempt_at = null,
      status = case when right(payment_id, 3) = '050' then 'exhausted' else 'none' end
    where right(payment_id, 3) in ('050', '150');
    `);
  await filler.unsafe('vacuum analyze deliveries');
  await filler.end();
  const [newest] = await sql<{ at: Date }[]>`select max(created_at) as at from payments`;
  if (!newest) throw new Error('The database has no payments');
  return {
    postgres,
    payments: createPayments(sql),
    events: createEvents(sql),
    count,
    newest: newest.at,
  };
};
type Filled = Awaited<ReturnType<typeof startFilled>>;

/** Filters by name. Times and one payment are fractions of the whole period, so both sizes have their share. */
type Filters = Record<string, readonly unknown[]>;
const paymentFilters: Filters = {
  orderId: [undefined, 'order-7', 'order-none'],
  status: [undefined, 'paid', 'pending', 'processing', 'failed'],
  from: [undefined, 0.9],
  to: [undefined, 0.02],
  after: [undefined, 0.5],
};
const eventFilters: Filters = {
  kind: [undefined, 'payment.failed'],
  delivery: [undefined, 'delivered', 'exhausted', 'none', 'pending'],
  orderId: [undefined, 'order-7', 'order-none'],
  payment: [undefined, 0.5],
  order: ['newest', 'feed'],
  from: [undefined, 0.9],
  to: [undefined, 0.02],
  after: [undefined, 0.5],
};

const combinationsOf = (filters: Filters) =>
  Object.entries(filters).reduce<Record<string, unknown>[]>(
    (all, [name, values]) =>
      all.flatMap((one) => values.map((value) => ({ ...one, [name]: value }))),
    [{}],
  );

const timeOf = (share: unknown, { count, newest }: Filled): Date | undefined =>
  typeof share === 'number' ? new Date(newest.getTime() - share * count * 1000) : undefined;

const idOf = (n: number): string => `PAY_${String(n).padStart(26, '0')}`;

const listPayments = (filter: Record<string, unknown>, filled: Filled) =>
  filled.payments.list(owner, buildQuery(filter, filled));

const listEvents = (filter: Record<string, unknown>, filled: Filled) => {
  const { kind, delivery, orderId, order } = filter as Pick<
    EventQuery,
    'kind' | 'delivery' | 'orderId' | 'order'
  >;
  const at = timeOf(filter['after'], filled);
  const share = filter['payment'];
  return filled.events.list(owner, {
    kind,
    delivery,
    orderId,
    order,
    paymentId: typeof share === 'number' ? idOf(share * filled.count) : undefined,
    from: timeOf(filter['from'], filled),
    to: timeOf(filter['to'], filled),
    after: at && { at, id: '00000000-0000-0000-0000-000000000000' },
    withBody: false,
    limit: 21,
  });
};

const buildQuery = (filter: Record<string, unknown>, filled: Filled): ListQuery => {
  const at = (share: unknown) => timeOf(share, filled);
  const { orderId, status } = filter as Pick<ListQuery, 'orderId' | 'status'>;
  const after = at(filter['after']);
  return {
    orderId,
    status,
    from: at(filter['from']),
    to: at(filter['to']),
    after: after && { at: after, id: 'PAY_' },
    limit: 21,
    offset: 0,
  };
};

const median = (values: number[]): number =>
  values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? NaN;

const [small, large] = [await startFilled(sizes.small), await startFilled(sizes.large)];
const measure = async (
  name: 'payments' | 'events',
  combinations: readonly Record<string, unknown>[],
  list: (filter: Record<string, unknown>, filled: Filled) => Promise<unknown>,
) => {
  const compare = async (filter: Record<string, unknown>) => {
    const durations: [number[], number[]] = [[], []];
    for (let round = 0; round < rounds[name]; round += 1)
      for (const [index, one] of [small, large].entries()) {
        const startedAt = performance.now();
        await list(filter, one);
        durations[index]?.push(performance.now() - startedAt);
      }
    const smallMs = median(durations[0]);
    const largeMs = median(durations[1]);
    return { filters: JSON.stringify(filter), smallMs, largeMs, ratio: largeMs / smallMs };
  };

  const rows: Awaited<ReturnType<typeof compare>>[] = [];
  for (const filter of combinations) {
    let row = await compare(filter);
    // A machine that is busy with something else for a moment is not the list's fault.
    for (let again = 0; again < 3 && row.ratio > maxRatio; again += 1) row = await compare(filter);
    rows.push(row);
  }
  rows.sort((one, other) => other.ratio - one.ratio);
  for (const { filters: text, smallMs, largeMs, ratio } of rows)
    console.log(`${ratio.toFixed(2)} ×  ${smallMs.toFixed(2)} → ${largeMs.toFixed(2)} ms  ${text}`);
  const slow = rows.filter(({ ratio }) => ratio > maxRatio).length;
  console.log(`${name}: ${rows.length} combinations, ${slow} over ${maxRatio} ×`);
  if (slow > 0) process.exitCode = 1;
};

try {
  if (wanted !== 'events') await measure('payments', combinationsOf(paymentFilters), listPayments);
  if (wanted !== 'payments') await measure('events', combinationsOf(eventFilters), listEvents);
} finally {
  await Promise.all([small.postgres.drop(), large.postgres.drop()]);
}
