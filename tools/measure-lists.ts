import { createApplications } from '../postgres/applications.ts';
import { createGateways, sandboxAccount } from '../postgres/gateways.ts';
import type { ListQuery } from '../postgres/payments.ts';
import { createPayments } from '../postgres/payments.ts';
import { fill } from '../test/support/fill.ts';
import { startOwnPostgres } from '../test/support/own-postgres.ts';

/*
 * What a list costs at 1,000,000 payments of one application against 10,000: every combination of
 * filters, the first page and by cursor, as the database answers it. Takes ten minutes and 3 GB.
 */

const application = 'big';
const owner = { application, test: true };
const sizes = { small: 10_000, large: 1_000_000 } as const;
const timesMax = 3;
const rounds = 300;

const startOne = async (count: number) => {
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
  if (!newest) throw new Error('Nothing was filled');
  return { postgres, list: createPayments(sql).list, count, newest: newest.at };
};
type Filled = Awaited<ReturnType<typeof startOne>>;

/** Filters by name; times are shares of what there is, so that they cut the same out of both. */
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

const queryOf = (wanted: Record<string, unknown>, { count, newest }: Filled): ListQuery => {
  const at = (share: unknown) =>
    typeof share === 'number' ? new Date(newest.getTime() - share * count * 1000) : undefined;
  const { orderId, status } = wanted as Pick<ListQuery, 'orderId' | 'status'>;
  const createdAt = at(wanted['after']);
  return {
    ...{ orderId, status, from: at(wanted['from']), to: at(wanted['to']) },
    after: createdAt && { createdAt, id: 'PAY_' },
    ...{ limit: 21, offset: 0 },
  };
};

const medianOf = (values: number[]): number =>
  values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? NaN;

const [small, large] = [await startOne(sizes.small), await startOne(sizes.large)];
try {
  const rows: { filters: string; small_ms: number; large_ms: number; times: number }[] = [];
  for (const wanted of combinations) {
    const took: [number[], number[]] = [[], []];
    for (let round = 0; round < rounds; round += 1)
      for (const [index, one] of [small, large].entries()) {
        const began = performance.now();
        await one.list(owner, queryOf(wanted, one));
        took[index]?.push(performance.now() - began);
      }
    const [ours, theirs] = [medianOf(took[0]), medianOf(took[1])];
    const text = JSON.stringify(wanted);
    rows.push({ filters: text, small_ms: ours, large_ms: theirs, times: theirs / ours });
  }
  const shown = rows.toSorted((one, other) => other.times - one.times);
  for (const { filters: text, small_ms, large_ms, times } of shown)
    console.log(
      `${times.toFixed(2)} ×  ${small_ms.toFixed(2)} → ${large_ms.toFixed(2)} ms  ${text}`,
    );
  const slow = shown.filter(({ times }) => times > timesMax).length;
  console.log(`${rows.length} combinations, ${slow} over ${timesMax} ×`);
  process.exitCode = slow > 0 ? 1 : 0;
} finally {
  await Promise.all([small.postgres.drop(), large.postgres.drop()]);
}
