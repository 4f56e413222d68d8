import { absolute, compared, type Round } from './figure.ts';
import { calmLatencyMs } from './figures.ts';
import type { Group } from './group.ts';
import { closedLoop, median, perSecondOf, quantile, steadily } from './load.ts';
import { residentMb } from './processes.ts';
import { startReceiver } from './receiver.ts';

const highest = { atOnce: 20, count: 400, limitMs: 12_000 };
const deliveries = { atOnce: 20, count: 5_000, limitMs: 400_000 };
const body = Buffer.alloc(1_000_000, 'a');

/** How soon events are sent under load, and what large answers do to the worker. */
export const measureWebhooks: Group = async ({ pids, payers, cleanup, say }) => {
  const receiver = await startReceiver();
  const wordy = await startReceiver((res) =>
    res.writeHead(200, { 'content-length': body.length }).end(body),
  );
  for (const { stop } of [receiver, wordy]) cleanup.defer(stop);
  const { pay } = await payers({ slug: 'webhooks', receiver });
  const latency = async () => (await pay()).latencyMs;

  say('Webhooks: warming up …');
  await closedLoop(highest, pay);
  const rounds: Round[] = [];
  for (const round of [1, 2, 3]) {
    say(`Webhooks: round ${round} of 3 …`);
    const rate = perSecondOf(await closedLoop(highest, pay));
    const calm = await steadily({ perSecond: 2, seconds: 15 }, latency);
    const busy = await steadily({ perSecond: rate * 0.8, seconds: 15 }, latency);
    rounds.push({ ceiling: quantile(calm, 0.95), ours: quantile(busy, 0.95) });
  }

  say(`Webhooks: ${deliveries.count} deliveries that are answered with 1 MB …`);
  const { pay: payWordy } = await payers({ slug: 'wordy', receiver: wordy });
  const memoryMb: number[] = [];
  const { count } = await closedLoop(deliveries, async () => {
    await payWordy();
    memoryMb.push(residentMb(pids.worker));
  });
  /** Of the second fifth, once the pools are filled, and of the last. */
  const fifth = (nth: number) => memoryMb.slice((count * (nth - 1)) / 5, (count * nth) / 5);
  return [
    // Three times what is allowed at 2 a second, and three times what that took here and now.
    absolute(
      { name: 'outcome → webhook, 80 % of the highest rate, p95', unit: 'ms' },
      median(rounds.map(({ ours }) => ours)),
      { atMost: 3 * calmLatencyMs },
    ),
    compared(
      { name: '  beside 2 a second', unit: 'ms', ceilingName: 'that at 2 a second' },
      rounds,
      { atMost: 3 },
    ),
    compared(
      {
        name: `memory of the worker, ${count} answers of 1 MB`,
        ...{ unit: 'MB', ceilingName: 'early on' },
      },
      [{ ceiling: median(fifth(2)), ours: median(fifth(5)) }],
      { atMost: 1.1 },
    ),
  ];
};
