import { startStripe } from '../test/fakes/stripe.ts';
import type { Bench } from './environment.ts';
import { compared, type Figure } from './figure.ts';
import { closedLoop, quantile } from './load.ts';
import type { Payers } from './payers.ts';
import { startReceiver } from './receiver.ts';

const rounds = [1, 2, 3, 4, 5, 6];
const payments = { atOnce: 5, count: 150, limitMs: 20_000 };
const warmUp = { atOnce: 20, count: 200, limitMs: 25_000 };
const unnoticed = { atOnce: 5, count: 5, limitMs: 20_000 };
const dead = 'dead';

/**
 * The payer's wait for the gateway's page, where the first gateway hangs and the breaker knows it, beside the same wait of
 * an application whose only gateway is the one that opens the payments of both.
 */
export const measureFallback = async (bench: Bench): Promise<Figure[]> => {
  const { sql, cleanup, say } = bench;
  using receiver = await startReceiver();
  const hanging = await startStripe();
  cleanup.defer(hanging.stop);
  hanging.failAll(/./, 'slow');
  const gateway = await startStripe();
  cleanup.defer(gateway.stop);
  const payersAt = (slug: string, baseUrl: string, fallbackGateways: string[]) =>
    bench.payers({
      slug,
      receiver,
      credentials: JSON.stringify({ secretKey: 'sk_test_0123456789abcdef', baseUrl }),
      fallbackGateways,
      async payAt(page) {
        const reference = page.split('/').at(-1) ?? '';
        gateway.pay(reference);
        return gateway.back(reference).url;
      },
    });
  const healthy = await payersAt('healthy', gateway.url, []);
  const fallingBack = await payersAt(dead, hanging.url, ['healthy']);

  const isSilent = async (): Promise<boolean> => {
    const [row] = await sql<{ silent: boolean }[]>`
      select coalesce(silent_until > now(), false) as silent from gateways where slug = ${dead}`;
    return row?.silent === true;
  };
  /** No pause ends within a round: the one payer who then asks first waits for 3 s. */
  const prolongSilence = () =>
    sql`update gateways set silent_until = now() + interval '5 minutes' where slug = ${dead}`;
  const waits = async ({ pay }: Payers): Promise<number[]> => {
    const all: number[] = [];
    await closedLoop(payments, async () => {
      const { checkoutMs } = await pay();
      all.push(checkoutMs);
    });
    return all;
  };

  say('Fallback: until the breaker is open …');
  while (!(await isSilent())) await closedLoop(unnoticed, fallingBack.pay);
  await prolongSilence();
  say('Fallback: warming up …');
  for (const { pay } of [healthy, fallingBack]) await closedLoop(warmUp, pay);
  const samples: { healthy: number[]; fallingBack: number[] }[] = [];
  for (const round of rounds) {
    say(`Round ${round} of ${rounds.length}: a dead first gateway, and a healthy one …`);
    await prolongSilence();
    const asked = hanging.calls.length;
    // In turn, because the second finds a warmer machine.
    const first = round % 2 === 0 ? await waits(fallingBack) : undefined;
    const alone = await waits(healthy);
    samples.push({ healthy: alone, fallingBack: first ?? (await waits(fallingBack)) });
    if (hanging.calls.length > asked) throw new Error('The dead gateway was asked in a round');
  }
  const figure = (name: string, share: number, limit?: { atMost: number }) =>
    compared(
      {
        name: `the payer's checkout, first gateway dead, ${name}`,
        unit: 'ms',
        ceilingName: 'one healthy gateway',
      },
      samples.map((each) => ({
        ceiling: quantile(each.healthy, share),
        ours: quantile(each.fallingBack, share),
      })),
      limit,
    );
  return [figure('p50', 0.5), figure('p95', 0.95, { atMost: 1.2 })];
};
