import { setTimeout as sleep } from 'node:timers/promises';
import { compared, type Round } from './figure.ts';
import type { Group } from './group.ts';
import { closedLoop, perSecondOf } from './load.ts';
import { residentMb } from './processes.ts';
import { startReceiver } from './receiver.ts';

const waiting = { atOnce: 20, count: 10_000, limitMs: 300_000 };
const whole = { atOnce: 20, count: 300, limitMs: 10_000 };
const warmUp = { atOnce: 20, count: 1_000, limitMs: 40_000 };

/** What payments cost whose payers take their time. */
export const measureWaiting: Group = async ({ pids, sql, payers, cleanup, say }) => {
  const receiver = await startReceiver();
  cleanup.defer(receiver.stop);
  const { create, pay } = await payers({ slug: 'waiting', receiver });
  const measureRounds = async (): Promise<number[]> => {
    const rates: number[] = [];
    for (let round = 0; round < 3; round += 1)
      rates.push(perSecondOf(await closedLoop(whole, pay)));
    return rates;
  };

  say('Waiting: warming up, and none waiting …');
  await closedLoop(warmUp, pay);
  const without = await measureRounds();
  const memoryWithout = residentMb(pids.worker);

  say(`Waiting: creating ${waiting.count} payments …`);
  const { count } = await closedLoop(waiting, create);
  const isOpening = async () => {
    const [row] = await sql<{ opening: boolean }[]>`
      select exists (select from payments
        where application = 'waiting' and status = 'pending' and gateway_reference is null
      ) as opening`;
    return row?.opening !== false;
  };
  while (await isOpening()) await sleep(500);

  say(`Waiting: ${count} are waiting …`);
  const during = await measureRounds();
  const memoryDuring = residentMb(pids.worker);
  const rounds = without.map((ceiling, round): Round => ({ ceiling, ours: during[round] ?? NaN }));
  const ceilingName = 'with none';
  return [
    compared({ name: `whole paid payments, ${count} waiting`, unit: '/s', ceilingName }, rounds, {
      atLeast: 0.9,
    }),
    compared(
      { name: `memory of the worker, ${count} waiting`, unit: 'MB', ceilingName },
      [{ ceiling: memoryWithout, ours: memoryDuring }],
      { atMost: 1.2 },
    ),
  ];
};
