import { setTimeout as sleep } from 'node:timers/promises';
import { startLink } from '../chaos/link.ts';
import { startStripe } from '../test/fakes/stripe.ts';
import type { Bench } from './environment.ts';
import { absolute, compared, type Figure } from './figure.ts';
import { closedLoop, median, perSecond } from './load.ts';
import { startReceiver } from './receiver.ts';

const slowPayers = 200;
const slowMs = 8_000;
const others = { atOnce: 20, count: Infinity, limitMs: 3_500 };

/** Payments through the sandbox while another gateway takes 8 s for each of its responses. */
export const measureSlowGateway = async (bench: Bench): Promise<Figure[]> => {
  const { sql, cleanup, say } = bench;
  using receiver = await startReceiver();
  const gateway = await startStripe();
  cleanup.defer(gateway.stop);
  const link = await startLink(gateway.url);
  cleanup.defer(link.stop);
  link.slow(() => slowMs);
  const slow = await bench.payers({
    slug: 'slow',
    receiver,
    credentials: JSON.stringify({ secretKey: 'sk_test_0123456789abcdef', baseUrl: link.url }),
    async payAt(page) {
      const reference = page.split('/').at(-1) ?? '';
      gateway.pay(reference);
      return gateway.back(reference).url;
    },
  });
  const { pay } = await bench.payers({ slug: 'others', receiver });
  const measureOthers = async () => perSecond(await closedLoop(others, pay));
  const countConnections = async (): Promise<number> => {
    const [row] = await sql<{ count: number }[]>`
      select count(*)::int from pg_stat_activity
      where datname = current_database() and application_name = 'payments-worker'
        and state <> 'idle'`;
    return row?.count ?? NaN;
  };

  say('Slow gateway: the others alone …');
  await measureOthers();
  const alone = [await measureOthers(), await measureOthers()];
  say(`Slow gateway: beside ${slowPayers} payers of it …`);
  const connections: number[] = [];
  const beside: number[] = [];
  let isOver = false;
  const crowd = Promise.all(Array.from({ length: slowPayers }, slow.pay)).finally(() => {
    isOver = true;
  });
  const watch = async () => {
    // The first calls open the payments, and the second calls verify them.
    for (const calls of [0.9 * slowPayers, 1.9 * slowPayers]) {
      while (gateway.calls.length < calls && !isOver) await sleep(20);
      if (isOver) return;
      for (let times = 0; times < 20; times += 1) {
        connections.push(await countConnections());
        await sleep(20);
      }
      beside.push(await measureOthers());
    }
  };
  await Promise.all([crowd, watch()]);

  return [
    compared(
      {
        name: `other payments, ${slowPayers} payers at a gateway of ${slowMs / 1000} s`,
        unit: '/s',
        ceilingName: 'without them',
      },
      [{ ceiling: median(alone), ours: median(beside) }],
      { atLeast: 0.9 },
    ),
    absolute(
      { name: '  database connections that the worker uses', unit: '' },
      median(connections),
      {
        atMost: 1,
      },
    ),
  ];
};
