import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { eventId } from '../contract/ids.ts';
import type { Bench } from './environment.ts';
import { absolute, type Figure } from './figure.ts';
import { closedLoop, quantile, steadily } from './load.ts';
import type { Payers } from './payers.ts';
import { sample } from './processes.ts';
import { startReceiver } from './receiver.ts';

const backlog = 100_000;
const beside = { rate: 1, seconds: 90 };
/** Several sweeps, until the worker's line is full and the batches have their size. */
const settleMs = 180_000;
/** Several sweeps, until the batches have grown. */
const recoverMs = 240_000;

/** The cost of a long backlog of an application whose receiver accepts connections and never answers. */
export const measureDeadReceiver = async (bench: Bench): Promise<Figure[]> => {
  const { sql, say } = bench;
  using receiver = await startReceiver();
  const payers = await bench.payers({ slug: 'alive', receiver });
  let isDead = true;
  const held: ServerResponse[] = [];
  using dead = await startReceiver((res) => {
    if (isDead) held.push(res);
    else res.writeHead(204).end();
  });
  await bench.payers({ slug: 'dead', receiver: dead });
  say('Dead receiver: warming up …');
  await closedLoop({ atOnce: 20, count: 300, limitMs: 15_000 }, payers.pay);
  say('Dead receiver: another application alone …');
  const alone = await measure(bench, payers);
  say(`Dead receiver: writing ${backlog} waiting deliveries …`);
  await writeBacklog(bench);
  await sleep(settleMs);
  say(`Dead receiver: beside ${backlog} waiting deliveries …`);
  const during = await measure(bench, payers);
  if (held.length === 0) throw new Error('No attempt has reached the dead receiver.');

  say('Dead receiver: it accepts again …');
  isDead = false;
  for (const res of held) if (!res.writableEnded) res.writeHead(204).end();
  const countDelivered = async () => {
    const [row] = await sql<{ count: number }[]>`
      select count(*)::int from deliveries d join payments p on p.id = d.payment_id
      where p.application = 'dead' and d.status = 'delivered'`;
    return row?.count ?? NaN;
  };
  await sleep(recoverMs - 60_000);
  const before = await countDelivered();
  const startedAt = performance.now();
  const recovering = await measure(bench, payers, { rate: 1, seconds: 60 });
  const perSecond = ((await countDelivered()) - before) / ((performance.now() - startedAt) / 1000);

  const name = (what: string) => `${what}, ${backlog} deliveries of a dead receiver`;
  return [
    absolute({ name: name("the worker's CPU"), unit: '% of a core' }, during.cpu - alone.cpu, {
      atMost: 2,
    }),
    absolute({ name: '  tries that found no slot', unit: '/s' }, during.forNothing, { atMost: 5 }),
    absolute({ name: '  attempts', unit: '/s' }, during.attempts),
    absolute({ name: '  outcome → webhook of another application, p95', unit: 'ms' }, during.p95, {
      atMost: 1_000,
    }),
    absolute({ name: '  that without the backlog, p95', unit: 'ms' }, alone.p95),
    absolute(
      {
        name: `  deliveries, ${recoverMs / 60_000} min after the receiver has recovered`,
        unit: '/s',
      },
      perSecond,
    ),
    absolute({ name: '  outcome → webhook meanwhile, p95', unit: 'ms' }, recovering.p95),
  ];
};

const measure = async (
  { pids, workerMetricsUrl }: Bench,
  payers: Payers,
  load: { rate: number; seconds: number } = beside,
) => {
  const before = await readTries(workerMetricsUrl);
  const startedAt = performance.now();
  let latencies: number[] = [];
  const { cpu } = await sample(pids, async () => {
    const arrivals = await steadily(load, payers.pay);
    latencies = arrivals.map(({ latencyMs }) => latencyMs);
    return { count: 1, elapsedMs: performance.now() - startedAt };
  });
  const seconds = (performance.now() - startedAt) / 1000;
  const after = await readTries(workerMetricsUrl);
  const attempts = after.attempts - before.attempts;
  return {
    p95: quantile(latencies, 0.95),
    /** Of one core. */
    cpu: cpu.worker / 10 / seconds,
    attempts: attempts / seconds,
    forNothing: (after.tries - before.tries - attempts) / seconds,
  };
};

/** Counts the tries that Temporal has handed out, and the attempts among them. */
const readTries = async (url: string) => {
  const text = await (await fetch(`${url}/metrics`)).text();
  const sum = (series: RegExp) =>
    text
      .split('\n')
      .filter((line) => series.test(line))
      .reduce((total, line) => total + Number(line.slice(line.lastIndexOf(' '))), 0);
  const tries = sum(
    /^temporal_activity_execution_latency(_seconds|_milliseconds)?_count\{.*"deliverWebhook"/,
  );
  const attempts = sum(/^payments_webhook_attempts_total\{/);
  if (tries < attempts) throw new Error('The worker reports fewer tries than attempts.');
  return { tries, attempts };
};

/** Deliveries that were postponed, without workflows: the sweeper starts these, too. */
const writeBacklog = async ({ sql }: Bench): Promise<void> => {
  const ids = Array.from(
    { length: backlog },
    (_, index) => `PAY_01${String(index).padStart(24, '0')}`,
  );
  await sql`set statement_timeout = 0`.simple();
  await sql`
    insert into payments (id, application, test, order_id, status, amount, currency, gateway,
      callback_url, metadata, expires_at, created_at, updated_at, paid_at)
    select id, 'dead', true, 'order-' || id, 'paid', 1250, 'EUR',
      'sandbox', 'http://127.0.0.1/back', '{}', now() + interval '30 minutes', now(), now(), now()
    from unnest(${ids}::text[]) id`;
  await sql`
    insert into events (id, subject, payment_id, application, test, kind, body, created_at)
    select e.id::uuid, p.id, p.id, application, test, 'payment.paid', convert_to(json_build_object(
      'payment_id', p.id, 'created_at', created_at, 'status', status)::text, 'utf8'), created_at
    from unnest(${ids}::text[], ${ids.map(eventId)}::text[]) e (payment_id, id)
    join payments p on p.id = e.payment_id`;
  await sql`
    insert into deliveries (event_id, payment_id, application, test, order_id, kind, created_at, recorded_at,
      status, next_attempt_at, postponed_at)
    select e.id, p.id, p.application, p.test, p.order_id, e.kind, e.created_at, e.created_at,
      'pending', p.created_at, p.created_at
    from payments p join events e on e.payment_id = p.id where p.application = 'dead'`;
  await sql`analyze payments, events, deliveries`.simple();
};
