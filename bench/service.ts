import { setTimeout as sleep } from 'node:timers/promises';
import type { Bench } from './environment.ts';
import { absolute, compared, type Figure, type Limit, type Round } from './figure.ts';
import { type Bounds, closedLoop, median, perSecond, quantile, steadily, timed } from './load.ts';
import type { Paid } from './payers.ts';
import { memoryMb, type Part, parts, sample, type Sample, sumCpu } from './processes.ts';
import { type Receiver, startReceiver } from './receiver.ts';

const rounds = [1, 2, 3];
const atOnce = 20;
const whole = { atOnce, count: 200, limitMs: 11_000 };
const one = { atOnce: 1, count: 60, limitMs: 11_000 };
const fifty = { atOnce: 50, count: 250, limitMs: 13_000 };
/** Node compiles the hot code of a young process for many seconds, which is no cost of a payment. */
const warmUp = { atOnce, count: 400, limitMs: 25_000 };
const reads = { atOnce: 50, count: Infinity, limitMs: 3000 };
const creates = { rate: 5, seconds: 6 };
const halfLoadSeconds = 8;
const paymentsForMemory = 1000;
const memoryTimeMs = 120_000;

/** Speed and memory of the whole service, with the ceiling of each figure beside it in every round. */
export const measureService = async (bench: Bench): Promise<Figure[]> => {
  const { sql, bare, pids, barePids, say } = bench;
  using receiver = await startReceiver();
  const payers = await bench.payers({ slug: 'bench', receiver });
  let paid = 0;
  let memory: Record<Part, number> | undefined;
  const pay = async () => {
    const waited = await payers.pay();
    paid += 1;
    if (paid === paymentsForMemory) memory = memoryMb(pids);
    return waited;
  };

  const { lean, leanPids } = await bench.startLean();

  say('Warming up …');
  await bare.runWorkflows(warmUp);
  await lean.runWorkflows(warmUp);
  await closedLoop(warmUp, pay);
  const readers = await createReaders(bench, receiver);
  const rowId = await bare.insert('warm-up');
  const besideSelects = async (work: () => Promise<unknown>): Promise<Round> => ({
    ceiling: perSecond(await closedLoop(reads, () => bare.select(rowId))),
    ours: perSecond(await closedLoop(reads, work)),
  });

  const wholes: { ceiling: Sample; lean: Sample; ours: Sample }[] = [];
  const transactions = { commits: 0, writes: 0 };
  let paidInRounds = 0;
  const inserts: Round[] = [];
  const selects: Round[] = [];
  const ones: Round[] = [];
  const fifties: Round[] = [];
  const besideWorkflows = async (bounds: Bounds): Promise<Round> => ({
    ceiling: perSecond(await bare.runWorkflows(bounds)),
    ours: perSecond(await closedLoop(bounds, pay)),
  });
  const atHalfLoad: Paid[] = [];
  for (const round of rounds) {
    say(`Round ${round} of ${rounds.length}: whole payments …`);
    const ceiling = await sample(barePids, () => bare.runWorkflows(whole));
    const leanCeiling = await sample(leanPids, () => lean.runWorkflows(whole));
    const before = { ...(await readTransactions(sql)), paid };
    const ours = await sample(pids, () => closedLoop(whole, pay));
    wholes.push({ ceiling, lean: leanCeiling, ours });
    const after = await readTransactions(sql);
    transactions.commits += after.commits - before.commits;
    transactions.writes += after.writes - before.writes;
    paidInRounds += paid - before.paid;
    ones.push(await besideWorkflows(one));
    fifties.push(await besideWorkflows(fifty));
    say(`Round ${round} of ${rounds.length}: create, read, webhook …`);
    inserts.push({
      ceiling: median(await steadily(creates, () => timed(() => bare.insert(`order-${round}`)))),
      ours: median(await steadily(creates, () => timed(payers.create))),
    });
    selects.push(await besideSelects(readers.read));
    const rate = (wholes.at(-1)?.ours.perSecond ?? 0) / 2;
    atHalfLoad.push(...(await steadily({ rate, seconds: halfLoadSeconds }, pay)));
  }

  say(`Paying until there are ${paymentsForMemory} payments …`);
  await closedLoop({ atOnce, count: paymentsForMemory - paid, limitMs: memoryTimeMs }, pay);
  const measured = memory ?? memoryMb(pids);

  // At the end: 50 lists at once leave more garbage than 1,000 payments.
  const lists: Round[] = [];
  for (const round of rounds) {
    say(`Round ${round} of ${rounds.length}: lists …`);
    lists.push(await besideSelects(readers.list));
  }

  const ofWholes = (name: string, unit: string, pick: (each: Sample) => number, limit?: Limit) =>
    compared(
      { name, unit, ceilingName: 'bare workflow' },
      wholes.map((each) => ({
        ceiling: pick(each.ceiling),
        lean: pick(each.lean),
        ours: pick(each.ours),
      })),
      limit,
    );
  const ofMemory = (part: Part, limit?: Limit): Figure => {
    const name = `memory of the ${part} after ${Math.min(paid, paymentsForMemory)} payments`;
    const figure = absolute({ name, unit: 'MB' }, measured[part], limit);
    // On a machine that is too busy for all payments the limit says nothing.
    return paid < paymentsForMemory ? { ...figure, holds: null } : figure;
  };
  const create = { name: 'create, 5 a second, p50', unit: 'ms', ceilingName: 'bare insert route' };
  const read = {
    name: 'read one payment, 50 applications',
    unit: '/s',
    ceilingName: 'bare select route',
  };
  const wait = (what: string, pick: (each: Paid) => number, limit95?: Limit): Figure[] => {
    const waits = atHalfLoad.map(pick);
    const row = (name: string) => ({ name: `${what}, at half load, ${name}`, unit: 'ms' });
    return [
      absolute(row('p50'), median(waits)),
      absolute(row('p95'), quantile(waits, 0.95), limit95),
    ];
  };
  const paidBy = (who: string) => ({
    name: `paid and delivered, ${who}`,
    unit: '/s',
    ceilingName: 'bare workflow',
  });
  const start = { name: 'npm start until ready, cached', unit: 's' };
  return [
    absolute(start, bench.startMs / 1000, { atMost: 10 }),
    compared(paidBy('1 payer'), ones),
    ofWholes('paid and delivered, 20 payers', '/s', (each) => each.perSecond, { atLeast: 0.6 }),
    compared(paidBy('50 payers'), fifties),
    ofWholes('CPU per paid payment', 'ms', ({ cpu }) => sumCpu(cpu), { atMost: 1.7 }),
    ...parts.map((part) => ofWholes(`  of these ${part}`, 'ms', ({ cpu }) => cpu[part])),
    absolute({ name: 'commits per paid payment', unit: '' }, transactions.commits / paidInRounds),
    absolute({ name: '  that write', unit: '' }, transactions.writes / paidInRounds),
    compared(create, inserts, { atMost: 3 }),
    compared(read, selects),
    compared({ ...read, name: 'list of 20, 50 applications' }, lists),
    ...wait('create', ({ createMs }) => createMs),
    ...wait("the payer's checkout", ({ checkoutMs }) => checkoutMs),
    ...wait("the payer's return", ({ returnMs }) => returnMs),
    ...wait('outcome → webhook', ({ latencyMs }) => latencyMs, { atMost: 150 }),
    ofMemory('api', { atMost: 180 }),
    ofMemory('worker', { atMost: 400 }),
    ofMemory('temporal'),
    ofMemory('postgres'),
  ];
};

/**
 * Applications that read in turn, with 20 payments each. One application would measure its own row: its
 * requests are counted in it, and wait for each other.
 */
const createReaders = async (bench: Bench, receiver: Receiver) => {
  const readers: { read: () => Promise<unknown>; list: () => Promise<unknown> }[] = [];
  for (let nth = 1; nth <= reads.atOnce; nth += 1) {
    const { create, read, list } = await bench.payers({ slug: `reader-${nth}`, receiver });
    const id = await create();
    await bench.sql`
      insert into payments
      select (jsonb_populate_record(p, jsonb_build_object(
        'id', left(p.id, 28) || lpad(n::text, 2, '0'), 'gateway_reference', null))).*
      from payments p cross join generate_series(1, 20) as n
      where p.id = ${id} and right(p.id, 2) <> lpad(n::text, 2, '0') limit 19`;
    readers.push({ read: () => read(id), list });
  }
  let turn = 0;
  const next = () => {
    const reader = readers[(turn += 1) % readers.length];
    if (!reader) throw new Error('There are no readers');
    return reader;
  };
  return { read: () => next().read(), list: () => next().list() };
};

/** Transactions until now, also those of timers and of the sandbox gateway. */
export const readTransactions = async (
  sql: Bench['sql'],
): Promise<{ commits: number; writes: number }> => {
  // A connection reports its transactions within a second after it became idle.
  await sleep(2_000);
  // Only a transaction that writes gets an id.
  const [row] = await sql<{ commits: number; writes: number }[]>`
    select xact_commit::float8 as commits,
      pg_snapshot_xmax(pg_current_snapshot())::text::float8 as writes
    from pg_stat_database where datname = current_database()`;
  return row ?? { commits: NaN, writes: NaN };
};
