import { setTimeout as sleep } from 'node:timers/promises';
import { absolute, compared, type Round } from './figure.ts';
import { startGateway } from './gateway.ts';
import type { Group } from './group.ts';
import { closedLoop, median, perSecondOf } from './load.ts';
import { startReceiver } from './receiver.ts';

const whole = { atOnce: 40, count: 400, limitMs: 12_000 };
const payersAtOnce = 200;
const others = { atOnce: 20, count: Infinity, limitMs: 3_500 };

/** Payments through a gateway that is not in the same process: an ordinary one, and a slow one. */
export const measureGateways: Group = async ({ bare, sql, payers, cleanup, say }) => {
  const receiver = await startReceiver();
  const usual = await startGateway({ answerMs: () => 100 + Math.random() * 200 });
  const slow = await startGateway({ answerMs: () => 8_000 });
  for (const { stop } of [receiver, usual, slow]) cleanup.defer(stop);
  const { pay } = await payers({ ...usual, slug: 'usual', receiver });
  const slowPayers = await payers({ ...slow, slug: 'slow', receiver });
  const sandboxPayers = await payers({ slug: 'others', receiver });

  say('Gateways: warming up …');
  await bare.runWorkflows(whole);
  await closedLoop(whole, pay);
  const rounds: Round[] = [];
  for (const round of [1, 2, 3]) {
    say(`Gateways: round ${round} of 3 …`);
    rounds.push({
      ceiling: perSecondOf(await bare.runWorkflows(whole)),
      ours: perSecondOf(await closedLoop(whole, pay)),
    });
  }

  const rateOfOthers = async () => perSecondOf(await closedLoop(others, sandboxPayers.pay));
  const inUse = async (): Promise<number> => {
    const [row] = await sql<{ count: number }[]>`
      select count(*) from pg_stat_activity
      where datname = current_database() and application_name = 'payments-worker'
        and state <> 'idle'`;
    return row?.count ?? NaN;
  };

  say('Gateways: a slow one …');
  await closedLoop(others, sandboxPayers.pay);
  const undisturbed = [await rateOfOthers(), await rateOfOthers()];
  const used: number[] = [];
  const disturbed: number[] = [];
  let isOver = false;
  const crowd = Promise.all(Array.from({ length: payersAtOnce }, slowPayers.pay)).finally(() => {
    isOver = true;
  });
  const watch = async () => {
    for (const what of ['open', 'ask'] as const) {
      // First they are opened, then their payers come back.
      while (slow.held[what] < payersAtOnce * 0.9 && !isOver) await sleep(20);
      if (isOver) return;
      for (let times = 0; times < 20; times += 1) {
        used.push(await inUse());
        await sleep(20);
      }
      disturbed.push(await rateOfOthers());
    }
  };
  await Promise.all([crowd, watch()]);

  const name = `other payments, ${payersAtOnce} payers at a gateway of 8 s`;
  return [
    compared(
      {
        name: 'whole payments, gateway of 100–300 ms, 40 at once',
        ...{ unit: '/s', ceilingName: 'bare workflow' },
      },
      rounds,
      { atLeast: 0.75 },
    ),
    compared(
      { name, unit: '/s', ceilingName: 'without them' },
      [{ ceiling: median(undisturbed), ours: median(disturbed) }],
      { atLeast: 0.9 },
    ),
    absolute({ name: "  the worker's connections in use meanwhile", unit: '' }, median(used), {
      atMost: 1,
    }),
  ];
};
