import { setTimeout as sleep } from 'node:timers/promises';
import type { Bench } from './environment.ts';
import { absolute, type Figure } from './figure.ts';
import { closedLoop, quantile, steadily } from './load.ts';
import type { Payers } from './payers.ts';
import { startReceiver } from './receiver.ts';

const calm = { rate: 1, seconds: 60 };
const hanging = { rate: 10, seconds: 60 };
const retries = 1_000;
/** The documented delay of the second attempt, and a little more. */
const retryAfterMs = 62_000;
const firstAttempts = { rate: 5, seconds: 20 };

/** Replaces a receiver whose payers do not wait for their events. */
const notWaiting = { arrival: async () => ({ latencyMs: 0, status: 'paid' }) };

/** The latencies of one application's events while another application has problems. */
export const measureFairness = async (bench: Bench): Promise<Figure[]> => {
  using receiver = await startReceiver();
  const payers = await bench.payers({ slug: 'fair', receiver });
  bench.say('Fairness: warming up …');
  await closedLoop({ atOnce: 20, count: 300, limitMs: 15_000 }, payers.pay);
  return [...(await besideHanging(bench, payers)), ...(await besideRetries(bench, payers))];
};

const measureP95 = async (load: { rate: number; seconds: number }, payers: Payers) => {
  const arrivals = await steadily(load, payers.pay);
  return quantile(
    arrivals.map(({ latencyMs }) => latencyMs),
    0.95,
  );
};

const besideHanging = async (bench: Bench, payers: Payers): Promise<Figure[]> => {
  using receiver = await startReceiver(() => {});
  const others = await bench.payers({
    slug: 'hanging',
    receiver: { ...notWaiting, url: receiver.url },
  });
  bench.say('Fairness: alone …');
  const alone = await measureP95(calm, payers);
  bench.say('Fairness: beside a receiver that hangs …');
  const [beside] = await Promise.all([measureP95(calm, payers), steadily(hanging, others.pay)]);
  const name = 'outcome → webhook beside a receiver that hangs, p95';
  const more = { name: '  more than alone', unit: 'ms' };
  return [
    absolute({ name, unit: 'ms' }, beside),
    absolute(more, beside - alone, { atMost: 1_000 }),
  ];
};

/** The worker is paused while the retries become due, so that all of them wait in the queue at once. */
const besideRetries = async (bench: Bench, payers: Payers): Promise<Figure[]> => {
  const { pids, sql, cleanup, say } = bench;
  const seen = new Set<string>();
  using receiver = await startReceiver((res, paymentId) => {
    res.writeHead(seen.has(paymentId) ? 204 : 500).end();
    seen.add(paymentId);
  });
  const slug = 'retried';
  const others = await bench.payers({ slug, receiver: { ...notWaiting, url: receiver.url } });
  const countAttempted = async (status: string): Promise<number> => {
    const [row] = await sql<{ count: number }[]>`
      select count(*)::int from deliveries d
      where d.application = ${slug} and d.status = ${status}
        and exists (select from attempts a where a.event_id = d.event_id
          and a.completed_at is not null)`;
    return row?.count ?? 0;
  };
  say(`Fairness: ${retries} first attempts fail …`);
  await closedLoop({ atOnce: 40, count: retries, limitMs: 120_000 }, others.pay);
  while ((await countAttempted('pending')) + (await countAttempted('delivered')) < retries)
    await sleep(200);
  const due = retries - (await countAttempted('delivered'));
  const resume = () => void process.kill(pids.worker, 'SIGCONT');
  cleanup.defer(resume);
  process.kill(pids.worker, 'SIGSTOP');
  await sleep(retryAfterMs);
  say(`Fairness: ${due} retries are due at once …`);
  resume();
  const name = `outcome → webhook, ${due} retries due at once, p95`;
  return [
    absolute({ name, unit: 'ms' }, await measureP95(firstAttempts, payers), { atMost: 5_000 }),
  ];
};
