import type { Bench } from './environment.ts';
import { compared, type Figure } from './figure.ts';
import { closedLoop } from './load.ts';
import { sample, type Sample, sumCpu } from './processes.ts';
import { startReceiver } from './receiver.ts';
import { readTransactions } from './service.ts';

const rounds = [1, 2, 3, 4, 5, 6];
const whole = { atOnce: 20, count: 150, limitMs: 20_000 };
const warmUp = { atOnce: 20, count: 200, limitMs: 25_000 };

interface Measured extends Sample {
  writesEach: number;
}

/**
 * Payments of orders that are paid once, beside the same payments without the option. The sandbox also reads first and looks
 * for open payments of the order, so a gateway of money costs less.
 */
export const measureOrders = async ({ sql, pids, payers, say }: Bench): Promise<Figure[]> => {
  using receiver = await startReceiver();
  const off = await payers({ slug: 'orders-off', receiver });
  const on = await payers({ slug: 'orders-on', receiver, ordersPaidOnce: true });
  say('Warming up …');
  for (const { pay } of [off, on]) await closedLoop(warmUp, pay);

  const measure = async ({ pay }: typeof on): Promise<Measured> => {
    let paid = 0;
    const before = await readTransactions(sql);
    const measured = await sample(pids, () =>
      closedLoop(whole, async () => {
        await pay();
        paid += 1;
      }),
    );
    const { writes } = await readTransactions(sql);
    return { ...measured, writesEach: (writes - before.writes) / paid };
  };
  const samples: { off: Measured; on: Measured }[] = [];
  for (const round of rounds) {
    say(`Round ${round} of ${rounds.length}: orders that are paid once, and others …`);
    // In turn, because the second finds a warmer machine.
    const first = round % 2 === 0 ? await measure(on) : undefined;
    const without = await measure(off);
    samples.push({ off: without, on: first ?? (await measure(on)) });
  }
  const figure = (what: string, unit: string, pick: (each: Measured) => number) =>
    compared(
      { name: `orders paid once: ${what}`, unit, ceilingName: 'without the option' },
      samples.map((each) => ({ ceiling: pick(each.off), ours: pick(each.on) })),
    );
  return [
    figure('paid and delivered, 20 payers', '/s', ({ perSecond }) => perSecond),
    figure('CPU per paid payment', 'ms', ({ cpu }) => sumCpu(cpu)),
    figure('  of Postgres', 'ms', ({ cpu }) => cpu.postgres),
    figure('commits that write, per paid payment', '', ({ writesEach }) => writesEach),
  ];
};
