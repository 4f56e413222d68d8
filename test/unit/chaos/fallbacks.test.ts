import { describe, expect, it } from 'vitest';
import {
  type Conversion,
  findConversionProblems,
  findFallbackProblems,
  findUnusedFallbacks,
  measureConversion,
} from '../../../chaos/fallbacks.ts';
import { createRandom } from '../../../chaos/random.ts';
import { drawScenarios } from '../../../chaos/scenarios.ts';
import { aVisit } from '../../support/chaos/support.ts';
import { until } from '../../support/until.ts';

/** A run whose payment was opened by the second of its gateways. */
const aSwitchedRun = async () => {
  const { payment, gateway, gateways, reference } = await aVisit({ slug: 'zibal' });
  const first = gateways.find(({ slug }) => slug === 'unsteady')!; // Started with all.
  payment.candidates = [first, gateway];
  const shown = { failure_code: null as string | null };
  const records = { shown: new Map([[payment.id, shown]]) };
  return { run: { payments: [payment], records }, payment, reference, first, shown };
};
type SwitchedRun = Awaited<ReturnType<typeof aSwitchedRun>>;

describe('a payment that several gateways may open', () => {
  it('is at any of them while its payer has no page', async () => {
    const { payment } = await aSwitchedRun();
    const named = (slug: string) => findFallbackProblems(payment, slug).length;
    expect(['unsteady', 'zibal', 'payping'].map(named)).toEqual([0, 0, 1]);
  });

  it('names them itself, or leaves it to the application', async () => {
    const { gateways } = await aVisit();
    const options = { payments: 200, gateways, random: createRandom('7'), quick: true };
    const drawn = drawScenarios(options).map(({ gateway, candidates, named }) => ({
      first: gateway === candidates[0],
      slugs: candidates.map(({ slug }) => slug).join(),
      named: JSON.stringify(named),
    }));
    expect(drawn.every(({ first }) => first)).toBe(true);
    const kinds = new Set(drawn.map(({ slugs, named }) => `${slugs} by ${named}`));
    expect([...kinds].toSorted()).toEqual([
      'mollie by {"gateway":"mollie"}',
      'payping by {"gateway":"payping"}',
      'sep by {"gateway":"sep"}',
      'stripe by {"gateway":"stripe"}',
      'unsteady,payping by {"gateways":["unsteady","payping"]}',
      'unsteady,zibal by {"gateways":["unsteady","zibal"]}',
      'unsteady,zibal,payping by {}',
      'vandar by {"gateway":"vandar"}',
      'zarinpal by {"gateway":"zarinpal"}',
      'zibal by {"gateway":"zibal"}',
    ]);
  });
});

it('a gateway opens nothing while it refuses, opens without an answer while it hangs, and comes back', async () => {
  const { gateways } = await aVisit();
  const unsteady = gateways.find(({ slug }) => slug === 'unsteady')!; // Started with all.
  const ask = (signal: AbortSignal | null = null) =>
    fetch(`${unsteady.provider.url}/pg/v4/payment/request.json`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        ...{ merchant_id: '0b8a7e1c-6c1d-4a53-9f5e-2f6a1c9d7e42', amount: 50_000, currency: 'IRR' },
        ...{ description: 'x', callback_url: 'http://127.0.0.1:9', metadata: { order_id: 'PAY' } },
      }),
      signal,
    });
  const { book } = unsteady.provider;
  const from = Date.now();
  unsteady.failOpenings('refuse');
  expect([(await ask()).status, (await ask()).status, book.size]).toEqual([401, 401, 0]);
  unsteady.failOpenings('hang');
  const leaving = new AbortController();
  const asked = ask(leaving.signal).catch(() => 'no answer');
  await until('it has opened', () => book.size === 1);
  leaving.abort();
  expect(await asked).toBe('no answer');
  unsteady.failOpenings(undefined);
  expect([(await ask()).status, book.size]).toEqual([200, 2]);
  expect(unsteady.countOpenings({ from, to: Infinity })).toBe(4);
  expect(unsteady.countOpenings({ from: 0, to: from })).toBe(0);
});

describe('conversion', () => {
  const of = ({ run, first }: SwitchedRun, from: number) =>
    measureConversion(run, [{ gateway: first, fault: 'hang', from, to: from + 1_000 }]);

  it('counts payers who wanted a page, by the state of the first gateway at the create', async () => {
    const run = await aSwitchedRun();
    const { payment, shown, reference } = run;
    const { createdAt } = payment;
    const [none, moved] = [
      { wanted: 0, opened: 0, elsewhere: 0 },
      { wanted: 1, opened: 1, elsewhere: 1 },
    ];
    expect(of(run, createdAt)).toEqual({ down: moved, up: none, inVain: 0 });
    expect(of(run, createdAt - 1_000)).toEqual({ down: none, up: moved, inVain: 0 });
    expect(of(run, createdAt + 1)).toEqual({ down: none, up: moved, inVain: 0 });
    delete payment.reference;
    expect(of(run, createdAt).down).toMatchObject({ wanted: 1, opened: 0 });
    payment.behaviour = 'never';
    expect(of(run, createdAt).down).toEqual(none);
    payment.behaviour = 'pay';
    shown.failure_code = 'order_already_paid';
    expect(of(run, createdAt).down).toEqual(none);
    payment.reference = reference;
    expect(of(run, createdAt).down).toEqual(moved);
  });

  type Counts = [opened: number, wanted: number];
  const conversion = (down: Counts, up: Counts): Conversion => {
    const openings = ([opened, wanted]: Counts) => ({ opened, wanted, elsewhere: 0 });
    return { down: openings(down), up: openings(up), inVain: 0 };
  };
  const lost = expect.stringMatching(/^only \d+ of \d+ payments were opened while/);

  it.each<[down: Counts, up: Counts, expected: unknown[]]>([
    [[200, 200], [400, 400], []],
    // Two points lower, and one payment of a few.
    [[196, 200], [400, 400], []],
    [[4, 5], [80, 80], [lost]],
    [[4, 5], [60, 80], []],
    [[100, 200], [400, 400], [lost]],
    // A slow machine loses both kinds.
    [[100, 200], [200, 400], []],
    [[0, 0], [400, 400], []],
  ])('%j while it is down, %j otherwise', (down, up, expected) => {
    expect(findConversionProblems(conversion(down, up))).toEqual(expected);
  });
});

describe('an outage', () => {
  const minute = 60_000;
  /** Its payment was created after that time, and nobody has opened it. */
  const find = async (
    after: number,
    change: (run: SwitchedRun) => unknown = () => {},
  ): Promise<string[]> => {
    const switched = await aSwitchedRun();
    const { run, first, payment } = switched;
    payment.gateway = first;
    delete payment.reference;
    change(switched);
    const from = payment.createdAt - after;
    return findUnusedFallbacks(run, [
      { gateway: first, fault: 'hang', from, to: from + 2 * minute },
    ]);
  };
  const unused = [
    'unsteady opened nothing (hang), 1 payments waited for a minute or longer, and no other gateway opened any',
  ];

  it('in which a payment waited for a minute has another gateway open one', async () => {
    expect(await find(0)).toEqual(unused);
    expect(await find(minute - 1)).toEqual(unused);
    const toSecond = ({ payment }: SwitchedRun) => (payment.gateway = payment.candidates[1]!);
    expect(await find(0, toSecond)).toEqual([]);
  });

  it.each<[what: string, after: number, change?: (run: SwitchedRun) => unknown]>([
    ['was created later', minute],
    ['was created before', -1],
    ['wanted no page', 0, ({ payment }) => (payment.behaviour = 'never')],
    ['lost its order', 0, ({ shown }) => (shown.failure_code = 'order_already_paid')],
    [
      'begins at another gateway',
      0,
      ({ payment }) => (payment.candidates = payment.candidates.toReversed()),
    ],
  ])('proves nothing by a payment that %s', async (_what, after, change) => {
    expect(await find(after, change)).toEqual([]);
  });
});
