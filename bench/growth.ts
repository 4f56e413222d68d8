import { connect } from '../postgres/driver/connection.ts';
import { everyStatement } from '../test/support/checks/every-statement.ts';
import { fillAll } from '../test/support/data/fill-tables.ts';
import { startOwnPostgres } from '../test/support/servers/own-postgres.ts';
import type { Bench } from './environment.ts';
import { absolute, compared, type Figure } from './figure.ts';
import { median, timed } from './load.ts';

const [few, many] = [100_000, 1_000_000];
const application = 'big';
const runs = [1, 2, 3];
const purge = 'admin/retention.ts, deletePayments';
/** A quicker statement is not told from noise. */
const shortestMs = 10;
const toSayMs = 1000;
const shown = 10;

/** Measures each statement of `postgres/` with few and with many payments in its tables. It takes half an hour. */
export const measureGrowth = async ({ say }: Bench): Promise<Figure[]> => {
  const atFew = await costsAt(few, say);
  const atMany = await costsAt(many, say);
  const all = [...atMany].map(([name, ours]) => ({ name, ours, ceiling: atFew.get(name) ?? NaN }));
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

/** The milliseconds of each statement, by file and name. */
const costsAt = async (count: number, say: Bench['say']): Promise<Map<string, number>> => {
  say(`Filling the tables with ${count} payments …`);
  const postgres = await startOwnPostgres({ shared_buffers: '256MB', max_wal_size: '8GB' });
  // What fills a table answers after minutes, and a statement that is too slow for the service has a figure, too.
  const sql = connect(postgres.url, { name: 'bench-growth', max: 1, patient: true });
  try {
    await fillAll(sql, { application, count });
    await sql`set statement_timeout = 0`;
    say(`Running every statement at ${count} payments …`);
    const costs = new Map<string, number>();
    for (const [file, { calls }] of Object.entries(everyStatement(sql, { application, count })))
      for (const [name, call] of Object.entries(calls)) {
        const times: number[] = [];
        for (const run of [0, ...runs]) {
          const tookMs = await timed(call);
          // The first finds nothing in the caches.
          if (run > 0) times.push(tookMs);
        }
        const ms = median(times);
        costs.set(`${file}, ${name}`, ms);
        if (ms > toSayMs) say(`  ${Math.round(ms)} ms: ${file}, ${name}`);
      }
    return costs;
  } finally {
    await sql.end({ timeout: 1 });
    await postgres.drop();
  }
};
