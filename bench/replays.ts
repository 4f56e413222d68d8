import type { Bench } from './environment.ts';
import { absolute, compared, type Figure } from './figure.ts';
import { closedLoop, perSecond } from './load.ts';
import type { Payers } from './payers.ts';
import { startReceiver } from './receiver.ts';

const applications = 20;
/** So many that the replays outlast the measurement: all of a worker begin 20 rounds a second. */
const eventsEach = 40;
const whole = { atOnce: 20, count: 400, limitMs: 20_000 };

/** The pace of payments while twenty applications replay all their events at once. */
export const measureReplays = async (bench: Bench): Promise<Figure[]> => {
  const { sql, say } = bench;
  using receiver = await startReceiver();
  const payers = await bench.payers({ slug: 'paying', receiver });
  const replaying: Payers[] = [];
  for (let nth = 1; nth <= applications; nth += 1)
    replaying.push(await bench.payers({ slug: `replaying-${nth}`, receiver }));

  say(`Replays: ${applications * eventsEach} payments, whose events are replayed then …`);
  let paid = 0;
  const pay = async () => replaying[paid++ % applications]?.pay();
  const history = { atOnce: 20, count: applications * eventsEach, limitMs: 300_000 };
  await closedLoop(history, pay);
  say('Replays: payments without replays …');
  const alone = await closedLoop(whole, payers.pay);
  say(`Replays: payments beside ${applications} replays …`);
  const countBegun = async () => {
    const [row] = await sql<{ begun: number; running: number }[]>`
      select coalesce(sum(begun), 0)::int as begun,
        (count(*) filter (where status = 'running'))::int as running
      from replays`;
    return row ?? { begun: NaN, running: 0 };
  };
  await Promise.all(replaying.map(({ replayDelivered }) => replayDelivered()));
  const beside = await closedLoop(whole, payers.pay);
  const { begun, running } = await countBegun();
  if (running === 0) throw new Error('The replays ended before the payments did.');

  const name = `whole paid payments beside ${applications} replays`;
  return [
    compared(
      { name, unit: '/s', ceilingName: 'alone' },
      [{ ceiling: perSecond(alone), ours: perSecond(beside) }],
      { atLeast: 0.6 },
    ),
    absolute(
      { name: '  rounds that the replays began meanwhile', unit: '/s' },
      perSecond({ count: begun, elapsedMs: beside.elapsedMs }),
    ),
  ];
};
