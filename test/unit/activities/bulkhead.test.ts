import { describe, expect, it } from 'vitest';
import { createBulkhead, type Entry, type Bulkhead } from '../../../activities/bulkhead.ts';

const perOwner = 4;

const setUp = () => {
  let nowMs = 1_000_000;
  const places = createBulkhead({ perOwner, clockMs: () => nowMs });
  let next = 0;
  const take = (application = 'a', id = `p${(next += 1)}`): Entry => places.take(application, id);
  return { take, places, pass: (ms: number) => (nowMs += ms) };
};

const waitOf = (entry: Entry): number => {
  if (entry.entered) throw new Error('It was let in');
  return entry.retryAfterMs;
};
const leave = (entry: Entry | undefined) => {
  if (!entry?.entered) throw new Error('It was not let in');
  entry.leave();
};

describe('the places of deliveries', () => {
  it('FS-48: are exact: as many as there are, never one more', () => {
    const { take } = setUp();
    const entries = Array.from({ length: 50 }, () => take());
    expect(entries.filter(({ entered }) => entered)).toHaveLength(perOwner);
    leave(entries[0]);
    expect(take('a', 'p5').entered).toBe(true);
    expect(take('a', 'p6').entered).toBe(false);
  });

  it('FS-47: are of each application by itself', () => {
    const { take } = setUp();
    for (let one = 0; one < 100; one += 1) take('a');
    for (let one = 0; one < perOwner; one += 1) expect(take('b').entered).toBe(true);
  });

  it('send nobody away for longer than would be too late, nor for no time at all', () => {
    const { take, places } = setUp();
    for (let one = 0; one < 1_000; one += 1) take();
    const within = (withinMs: number) => waitOf(places.take('a', 'late', { withinMs }));
    expect(waitOf(places.take('a', 'late'))).toBeGreaterThan(2_000);
    expect([within(2_000), within(0), within(-5_000)]).toEqual([2_000, 250, 250]);
  });

  it('leaving twice frees one place', () => {
    const { take } = setUp();
    const [first] = Array.from({ length: perOwner }, () => take());
    leave(first);
    leave(first);
    expect(take().entered).toBe(true);
    expect(take().entered).toBe(false);
  });

  it('the delay grows with the backlog, at the pace at which places become free', () => {
    const { take, pass } = setUp();
    // A receiver that holds every place for 10 s, until the pace is known.
    for (let round = 0; round < 30; round += 1) {
      const entries = Array.from({ length: perOwner }, () => take());
      pass(10_000);
      for (const entry of entries) if (entry.entered) entry.leave();
    }
    for (let one = 0; one < perOwner; one += 1) take();
    const waits = Array.from({ length: 80 }, () => waitOf(take()));
    const paceMs = 10_000 / perOwner;
    for (const [index, wait] of waits.entries()) {
      expect(wait).toBeGreaterThan((index + 1) * paceMs * 0.9);
      expect(wait).toBeLessThan((index + 1) * paceMs * 1.1);
    }
  });

  it('the delay is never nothing, which the engine would take for never, and never too long', () => {
    const { take } = setUp();
    const waits = Array.from({ length: 20_000 }, () => take())
      .slice(perOwner)
      .map(waitOf);
    expect(Math.min(...waits)).toBeGreaterThanOrEqual(250);
    expect(Math.max(...waits)).toBeLessThanOrEqual(300_000);
  });

  it('a place that is free is taken by whoever comes: nobody is waited for', () => {
    const { take, pass } = setUp();
    const inside = Array.from({ length: perOwner }, () => take());
    pass(waitOf(take('a', 'perhaps at another worker')));
    leave(inside[0]);
    expect(take('a', 'new').entered).toBe(true);
  });

  it('who comes back in vain is sent away for less than who has just come', () => {
    const { take, pass } = setUp();
    for (let one = 0; one < perOwner; one += 1) take();
    const waits = Array.from({ length: 40 }, (_, index) => waitOf(take('a', `w${index}`)));
    pass(waits[9] ?? 0);
    expect(waitOf(take('a', 'w9'))).toBeLessThan(waitOf(take('a', 'new')) / 2);
  });

  describe.each([1, 2, 4])('of %i workers, among which the engine deals', (workers) => {
    it.each([
      ['a thousand at once', { count: 1_000, overMs: 1_000 }],
      ['half of what the places can do', { count: 20 * 20 * workers, overMs: 20_000 }],
      ['more than they can do', { count: 20 * 50 * workers, overMs: 20_000 }],
    ])('%s: everybody gets in, nearly as soon as could be, and seldom asks', (_, load) => {
      const holdMs = 100;
      const tookMs = dealt({ workers, holdMs, ...load });
      const idealMs = Math.max(load.overMs, (load.count * holdMs) / (perOwner * workers));
      expect(tookMs).toBeLessThan(idealMs * 1.2 + 5_000);
    });
  });
});

/** Work that comes at random, each time to any of the workers, as tasks of a queue do. */
const dealt = ({
  workers,
  holdMs,
  count,
  overMs,
}: Record<'workers' | 'holdMs' | 'count' | 'overMs', number>) => {
  const random = dice();
  let nowMs = 0;
  let tries = 0;
  const all = Array.from({ length: workers }, () =>
    createBulkhead({ perOwner, clockMs: () => nowMs }),
  );
  const coming: Coming[] = Array.from({ length: count }, (_, index) => ({
    atMs: random() * overMs,
    id: `p${index}`,
  }));
  const inside = new Map<Bulkhead, number>();
  for (;;) {
    coming.sort((one, other) => other.atMs - one.atMs);
    const next = coming.pop();
    if (!next) return nowMs;
    nowMs = Math.max(nowMs, next.atMs);
    if ('leave' in next) {
      next.leave();
      continue;
    }
    const worker = all[Math.floor(random() * workers)]!; // There are so many.
    tries += 1;
    expect(tries, 'tries').toBeLessThan(count * 8);
    const entry = worker.take('a', next.id);
    if (entry.entered) {
      const held = (inside.get(worker) ?? 0) + 1;
      expect(held).toBeLessThanOrEqual(perOwner);
      inside.set(worker, held);
      const goOut = () => {
        inside.set(worker, (inside.get(worker) ?? 0) - 1);
        entry.leave();
      };
      coming.push({ atMs: nowMs + holdMs, leave: goOut });
    } else coming.push({ atMs: nowMs + entry.retryAfterMs, id: next.id });
  }
};

type Coming = { atMs: number } & ({ id: string } | { leave: () => void });

/** The same throws in every run. */
const dice = () => {
  let state = 1;
  return () => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647;
};
