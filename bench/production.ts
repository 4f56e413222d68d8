import type { Bench } from './environment.ts';
import { compared, type Figure, type Round } from './figure.ts';
import { closedLoop, perSecond } from './load.ts';
import { startReceiver } from './receiver.ts';
import { startShape } from './shape.ts';

const workers = 2;
const whole = { atOnce: 20, count: 200, limitMs: 20_000 };
const rounds = [1, 2, 3, 4];

/** The production shape, with Temporal's server on Postgres, beside the bare workflow on the same. */
export const measureProduction = async (bench: Bench): Promise<Figure[]> => {
  using receiver = await startReceiver();
  await using shape = await startShape(bench, { name: 'Production', processes: workers, receiver });
  const samples: Round[] = [];
  for (const round of rounds) {
    bench.say(`Production: round ${round} of ${rounds.length} …`);
    samples.push({
      ceiling: perSecond(await shape.bare.runWorkflows(whole)),
      ours: perSecond(await closedLoop(whole, shape.pay)),
    });
  }
  const name = `whole paid payments, ${workers} workers, Temporal on Postgres`;
  return [compared({ name, unit: '/s', ceilingName: 'bare workflow' }, samples, { atLeast: 0.9 })];
};
