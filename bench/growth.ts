import { connect } from '../postgres/driver/connection.ts';
import { everyStatement } from '../test/support/checks/every-statement.ts';
import { fillAll } from '../test/support/data/fill-tables.ts';
import { startOwnPostgres } from '../test/support/servers/own-postgres.ts';
import type { Bench } from './environment.ts';
import { absolute, compared, type Figure, type Round } from './figure.ts';
import { median, timed } from './load.ts';

const [few, many] = [100_000, 1_000_000];
const application = 'big';
const runs = [1, 2, 3, 4, 5];
const purge = 'admin/retention.ts, deletePayments';
/** A quicker statement is not told from noise. */
const shortestMs = 10;
const shown = 10;

/** Measures each statement of `postgres/` with few and with many payments in its tables, in turn. It takes a quarter of an hour. */
export const measureGrowth = async ({ say }: Bench): Promise<Figure[]> => {
  await using cleanup = new AsyncDisposableStack();
  const atFew = await fillAs(few, { say, cleanup });
  const atMany = await fillAs(many, { say, cleanup });
  say('Running every statement …');
  const all: (Round & { name: string })[] = [];
  for (const [name, call] of atMany) {
    const callAtFew = atFew.get(name);
    if (!callAtFew) throw new Error(`${name} is called with ${many} payments only`);
    const times = { ours: [] as number[], ceiling: [] as number[] };
    for (const run of [0, ...runs]) {
      const ceiling = await timed(callAtFew);
      const ours = await timed(call);
      // The first finds nothing in the caches.
      if (run === 0) continue;
      times.ceiling.push(ceiling);
      times.ours.push(ours);
    }
    all.push({ name, ours: median(times.ours), ceiling: median(times.ceiling) });
  }
  const row = (name: string) => ({ name, unit: 'ms', ceilingName: `at ${few} payments` });
  const slowest = all.toSorted((a, b) => b.ours - a.ours).slice(0, shown);
  const grown = all.filter(
    ({ name, ours, ceiling }) => name !== purge && ours > shortestMs && ours > 2 * ceiling,
  );
  return [
    ...all
      .filter(({ name }) => name === purge)
      .map((each) => compared(row("a purge's batch of 1,000"), [each], { atMost: 2 })),
    absolute(
      { name: `statements that cost twice as much at ${many}`, unit: `of ${all.length}` },
      grown.length,
    ),
    ...grown.map((each) => compared(row(`  ${each.name}`), [each])),
    ...slowest.map((each) => compared(row(`slowest: ${each.name}`), [each])),
  ];
};

/** Calls of each statement, by file and name, in a database of its own. */
const fillAs = async (
  count: number,
  { say, cleanup }: { say: Bench['say']; cleanup: AsyncDisposableStack },
): Promise<Map<string, () => Promise<unknown>>> => {
  say(`Filling the tables with ${count} payments …`);
  const postgres = await startOwnPostgres({ shared_buffers: '256MB', max_wal_size: '8GB' });
  cleanup.defer(postgres.drop);
  // Filling a table takes minutes, and a statement that is too slow for the service gets a figure, too.
  const sql = connect(postgres.url, { name: 'bench-growth', max: 1, patient: true });
  cleanup.defer(() => sql.end({ timeout: 1 }));
  await fillAll(sql, { application, count });
  await sql`set statement_timeout = 0`;
  return new Map(
    Object.entries(everyStatement(sql, { application, count })).flatMap(([file, { calls }]) =>
      Object.entries(calls).map(([name, call]) => [`${file}, ${name}`, call] as const),
    ),
  );
};
