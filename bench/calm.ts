import { setTimeout as sleep } from 'node:timers/promises';
import type { Bench } from './environment.ts';
import { absolute, type Figure } from './figure.ts';
import { closedLoop, steadily } from './load.ts';
import { readCpu } from './processes.ts';
import { startReceiver } from './receiver.ts';

const calm = { rate: 0.3, seconds: 600 };
/** Node has compiled the hot code, and the connections of the warm-up have ended. */
const warmUp = { atOnce: 5, count: 200, limitMs: 60_000 };
const settleMs = 90_000;
const ours = ['api', 'worker', 'console'];

/** Measures the CPU of a stack in a calm hour: it has a payment every 3 s. */
export const measureCalm = async ({ payers, processPids, say }: Bench): Promise<Figure[]> => {
  using receiver = await startReceiver();
  const { pay } = await payers({ slug: 'calm', receiver });
  await closedLoop(warmUp, pay);
  await sleep(settleMs);
  say(`Calm: ${calm.rate} payments a second for ${calm.seconds / 60} min …`);
  const before = readCpu(processPids);
  const beganAt = performance.now();
  await steadily(calm, pay);
  const after = readCpu(processPids);
  const tookMs = performance.now() - beganAt;
  const shares = Object.entries(after).map(([name, ms]) => ({
    name,
    percent: ((ms - (before[name] ?? NaN)) / tookMs) * 100,
  }));
  const sum = shares
    .filter(({ name }) => ours.includes(name))
    .reduce((all, { percent }) => all + percent, 0);
  const unit = '% of a core';
  return [
    absolute({ name: `calm, ${calm.rate} payments a second: ${ours.join(', ')}`, unit }, sum),
    ...shares.map(({ name, percent }) =>
      absolute({ name: `  of the stack ${name}`, unit }, percent),
    ),
  ];
};
