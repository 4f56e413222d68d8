import { setTimeout as sleep } from 'node:timers/promises';
import { absolute, type Figure } from './figure.ts';
import type { Bench, Group } from './group.ts';
import { closedLoop, quantile, steadily } from './load.ts';
import type { BenchPayments } from './payments.ts';
import { startReceiver } from './receiver.ts';

export const calm = { perSecond: 1, seconds: 60 };
export const hanging = { perSecond: 10, seconds: 60 };
export const dueAtOnce = 1_000;
/** The documented delay of the second attempt, and a little. */
const retryAfterMs = 62_000;
export const firsts = { perSecond: 5, seconds: 20 };

/** Who pays and does not wait for the event. */
const notWaiting = { arrival: async () => ({ latencyMs: 0, status: 'paid' }) };

const latencyOf = (payers: BenchPayments) => async () => (await payers.pay()).latencyMs;
const p95 = (values: readonly number[]) => quantile(values, 0.95);

/** What one application's trouble does to the events of another one. */
export const measureFairness: Group = async (bench) => {
  const receiver = await startReceiver();
  bench.cleanup.defer(receiver.stop);
  const payers = await bench.payers({ slug: 'fair', receiver });
  bench.say('Fairness: warming up …');
  await closedLoop({ atOnce: 20, count: 300, limitMs: 15_000 }, payers.pay);
  return [...(await besideHanging(bench, payers)), ...(await besideRetries(bench, payers))];
};

const besideHanging = async (
  { payers, cleanup, say }: Bench,
  others: BenchPayments,
): Promise<Figure[]> => {
  const hangs = await startReceiver(() => {});
  cleanup.defer(hangs.stop);
  const unlucky = await payers({ slug: 'hanging', receiver: { ...notWaiting, url: hangs.url } });
  say('Fairness: undisturbed …');
  const undisturbed = await steadily(calm, latencyOf(others));
  say('Fairness: beside a receiver that hangs …');
  const [disturbed] = await Promise.all([
    steadily(calm, latencyOf(others)),
    steadily(hanging, async () => {
      await unlucky.pay();
    }),
  ]);
  const name = 'outcome → webhook beside a receiver that hangs, p95';
  return [
    absolute({ name, unit: 'ms' }, p95(disturbed)),
    absolute({ name: '  more than undisturbed', unit: 'ms' }, p95(disturbed) - p95(undisturbed), {
      atMost: 1_000,
    }),
  ];
};

/**
 * The worker stands still while they fall due, one after the other, so that all of them are in the
 * queue at the moment when it goes on.
 */
const besideRetries = async (
  { pids, payers, sql, cleanup, say }: Bench,
  others: BenchPayments,
): Promise<Figure[]> => {
  const seen = new Set<string>();
  const failsFirst = await startReceiver((res, paymentId) => {
    res.writeHead(seen.has(paymentId) ? 204 : 500).end();
    seen.add(paymentId);
  });
  cleanup.defer(failsFirst.stop);
  const slug = 'retried';
  const unlucky = await payers({ slug, receiver: { ...notWaiting, url: failsFirst.url } });
  const standing = async (status: string): Promise<number> => {
    const [row] = await sql<{ count: number }[]>`
      select count(*) from deliveries d join payments p on p.id = d.payment_id
      where p.application = ${slug} and d.status = ${status}
        and exists (select from attempts a where a.payment_id = d.payment_id
          and a.completed_at is not null)`;
    return row?.count ?? 0;
  };
  say(`Fairness: ${dueAtOnce} first attempts fail …`);
  await closedLoop({ atOnce: 40, count: dueAtOnce, limitMs: 120_000 }, unlucky.pay);
  while ((await standing('pending')) + (await standing('delivered')) < dueAtOnce) await sleep(200);
  const begun = await standing('delivered');
  const goOn = () => process.kill(pids.worker, 'SIGCONT');
  cleanup.defer(() => void goOn());
  process.kill(pids.worker, 'SIGSTOP');
  await sleep(retryAfterMs);
  say(`Fairness: ${dueAtOnce - begun} retries are due at once …`);
  goOn();
  const disturbed = await steadily(firsts, latencyOf(others));
  const name = `outcome → webhook, ${dueAtOnce - begun} retries due at once, p95`;
  return [absolute({ name, unit: 'ms' }, p95(disturbed), { atMost: 5_000 })];
};
