import { createApplications } from '../postgres/applications.ts';
import { createGateways, sandboxAccount } from '../postgres/gateways.ts';
import type { ListQuery } from '../postgres/payments.ts';
import { createPayments } from '../postgres/payments.ts';
import { fill } from '../test/support/fill.ts';
import { startOwnPostgres } from '../test/support/own-postgres.ts';

/*
 * Compares the query time of lists at 1,000,000 payments of one application with that at 10,000, for every
 * combination of filters, first page and cursor. Takes ten minutes and 3 GB.
 */

const application = 'big';
const owner = { application, test: true };
const sizes = { small: 10_000, large: 1_000_000 } as const;
const maxRatio = 3;
const rounds = 300;

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
  await fill(sql, { application, count });
  const [newest] = await sql<{ at: Date }[]>`select max(created_at) as at from payments`;
  if (!newest) throw new Error('The database has no payments');
  return { postgres, list: createPayments(sql).list, count, newest: newest.at };
};
type Filled = Awaited<ReturnType<typeof startFilled>>;

/** Filters by name. Times are fractions of the whole period, so that they select the same share of both. */
const filters = {
  orderId: [undefined, 'order-7', 'order-none'],
  status: [undefined, 'paid', 'pending', 'processing', 'failed'],
  from: [undefined, 0.9],
  to: [undefined, 0.02],
  after: [undefined, 0.5],
} as const;

const combinations = Object.entries(filters).reduce<Record<string, unknown>[]>(
  (all, [name, values]) =>
    all.flatMap((one) => values.map((value) => ({ ...one, [name]: value }) as const)),
  [{}],
);

const buildQuery = (filter: Record<string, unknown>, { count, newest }: Filled): ListQuery => {
  const at = (share: unknown) =>
    typeof share === 'number' ? new Date(newest.getTime() - share * count * 1000) : undefined;
  const { orderId, status } = filter as Pick<ListQuery, 'orderId' | 'status'>;
  const createdAt = at(filter['after']);
  return {
    orderId,
    status,
    from: at(filter['from']),
    to: at(filter['to']),
    after: createdAt && { createdAt, id: 'PAY_' },
    limit: 21,
    offset: 0,
  };
};

const median = (values: number[]): number =>
  values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? NaN;

const [small, large] = [await startFilled(sizes.small), await startFilled(sizes.large)];
try {
  const rows: { filters: string; smallMs: number; largeMs: number; ratio: number }[] = [];
  for (const filter of combinations) {
    const durations: [number[], number[]] = [[], []];
    for (let round = 0; round < rounds; round += 1)
      for (const [index, one] of [small, large].entries()) {
        const startedAt = performance.now();
        await one.list(owner, buildQuery(filter, one));
        durations[index]?.push(performance.now() - startedAt);
      }
    const smallMs = median(durations[0]);
    const largeMs = median(durations[1]);
    rows.push({ filters: JSON.stringify(filter), smallMs, largeMs, ratio: largeMs / smallMs });
  }
  rows.sort((one, other) => other.ratio - one.ratio);
  for (const { filters: text, smallMs, largeMs, ratio } of rows)
    console.log(`${ratio.toFixed(2)} ×  ${smallMs.toFixed(2)} → ${largeMs.toFixed(2)} ms  ${text}`);
  const slow = rows.filter(({ ratio }) => ratio > maxRatio).length;
  console.log(`${rows.length} combinations, ${slow} over ${maxRatio} ×`);
  process.exitCode = slow > 0 ? 1 : 0;
} finally {
  await Promise.all([small.postgres.drop(), large.postgres.drop()]);
}
