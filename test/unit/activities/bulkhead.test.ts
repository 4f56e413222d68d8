import { describe, expect, it } from 'vitest';
import { type Acquisition, type Bulkhead, createBulkhead } from '../../../activities/bulkhead.ts';

const perOwner = 4;

const setUp = (limits: { longestLineMs?: number } = {}) => {
  let nowMs = 1_000_000;
  const bulkhead = createBulkhead({ perOwner, clockMs: () => nowMs, ...limits });
  let next = 0;
  const acquire = (owner = 'a', id = `p${(next += 1)}`): Acquisition => bulkhead.acquire(owner, id);
  return { acquire, bulkhead, pass: (ms: number) => (nowMs += ms) };
};

const delayOf = (acquisition: Acquisition): number => {
  if (acquisition.acquired) throw new Error('It acquired a slot');
  return acquisition.retryAfterMs;
};
const release = (acquisition: Acquisition | undefined) => {
  if (!acquisition?.acquired) throw new Error('It did not acquire a slot');
  acquisition.free();
};

describe('a bulkhead', () => {
  it('never gives out more slots than it has', () => {
    const { acquire } = setUp();
    const acquisitions = Array.from({ length: 50 }, () => acquire());
    expect(acquisitions.filter(({ acquired }) => acquired)).toHaveLength(perOwner);
    release(acquisitions[0]);
    expect(acquire('a', 'p5').acquired).toBe(true);
    expect(acquire('a', 'p6').acquired).toBe(false);
  });

  it('has separate slots for each owner', () => {
    const { acquire } = setUp();
    for (let count = 0; count < 100; count += 1) acquire('a');
    for (let count = 0; count < perOwner; count += 1) expect(acquire('b').acquired).toBe(true);
  });

  it('gives no delay above the longest useful one, and none below the minimum', () => {
    const { acquire, bulkhead } = setUp();
    for (let count = 0; count < 1_000; count += 1) acquire();
    const within = (withinMs: number) => delayOf(bulkhead.acquire('a', 'late', { withinMs }));
    expect(delayOf(bulkhead.acquire('a', 'late'))).toBeGreaterThan(2_000);
    expect([within(2_000), within(0), within(-5_000)]).toEqual([2_000, 250, 250]);
  });

  it('frees one slot if it is released twice', () => {
    const { acquire } = setUp();
    const [first] = Array.from({ length: perOwner }, () => acquire());
    release(first);
    release(first);
    expect(acquire().acquired).toBe(true);
    expect(acquire().acquired).toBe(false);
  });

  it('staggers the delays at the rate at which slots become free', () => {
    const { acquire, pass } = setUp();
    // The receiver uses every slot for 10 s, until the average is known.
    for (let round = 0; round < 30; round += 1) {
      const acquisitions = Array.from({ length: perOwner }, () => acquire());
      pass(10_000);
      for (const acquisition of acquisitions) if (acquisition.acquired) acquisition.free();
    }
    for (let count = 0; count < perOwner; count += 1) acquire();
    const delays = Array.from({ length: 80 }, () => delayOf(acquire()));
    const paceMs = 10_000 / perOwner;
    for (const [index, delay] of delays.entries()) {
      expect(delay).toBeGreaterThan((index + 1) * paceMs * 0.9);
      expect(delay).toBeLessThan((index + 1) * paceMs * 1.1);
    }
  });

  it('gives delays between 250 ms and 5 minutes; Temporal takes 0 for never', () => {
    const { acquire } = setUp();
    const delays = Array.from({ length: 6_000 }, () => acquire())
      .slice(perOwner)
      .map(delayOf);
    expect(Math.min(...delays)).toBeGreaterThanOrEqual(250);
    expect(Math.max(...delays)).toBeLessThanOrEqual(300_000);
  });

  it('gives a free slot to the next caller and does not reserve it for a retry', () => {
    const { acquire, pass } = setUp();
    const acquisitions = Array.from({ length: perOwner }, () => acquire());
    pass(delayOf(acquire('a', 'perhaps on another worker')));
    release(acquisitions[0]);
    expect(acquire('a', 'new').acquired).toBe(true);
  });

  it('gives a retry a shorter delay than a new caller', () => {
    const { acquire, pass } = setUp();
    for (let count = 0; count < perOwner; count += 1) acquire();
    const delays = Array.from({ length: 40 }, (_, index) => delayOf(acquire('a', `w${index}`)));
    pass(delays[9] ?? 0);
    expect(delayOf(acquire('a', 'w9'))).toBeLessThan(delayOf(acquire('a', 'new')) / 2);
  });

  it('says that the line is full if the turn comes too late, and keeps no position then', () => {
    const { acquire } = setUp({ longestLineMs: 10_000 });
    const isFull = (id: string) => {
      const acquisition = acquire('a', id);
      return !acquisition.acquired && acquisition.lineIsFull;
    };
    const slots = Array.from({ length: perOwner }, (_, index) => acquire('a', `s${index}`));
    // 250 ms in a slot are assumed until the first is released.
    const full = Array.from({ length: 1_000 }, (_, index) => isFull(`p${index}`));
    expect(full.indexOf(true)).toBe((10_000 * perOwner) / 250);
    expect(full.lastIndexOf(false)).toBeLessThan(full.indexOf(true));
    // Those in the line keep their positions, and new ones find room once it is shorter.
    expect(isFull('p5')).toBe(false);
    for (const slot of slots) release(slot);
    for (let index = 0; index < perOwner; index += 1) acquire('a', `p${index}`);
    expect(isFull('new')).toBe(false);
  });

  it('leaves a quarter of its slots to an owner who has a backlog and only fails', () => {
    const { acquire, bulkhead, pass } = setUp({ longestLineMs: 10_000 });
    /** Uses all slots that it can get, each for 10 s. @returns how many */
    const useAll = (failed: boolean) => {
      const used = Array.from({ length: perOwner + 200 }, () => acquire());
      pass(10_000);
      for (const slot of used) if (slot.acquired) slot.free({ failed });
      return used.filter(({ acquired }) => acquired).length;
    };
    expect([useAll(true), useAll(true), useAll(true)]).toEqual([perOwner, 1, 1]);
    expect([useAll(false), useAll(true)]).toEqual([1, perOwner]);
    // Without a backlog it has all slots again.
    expect(useAll(true)).toBe(1);
    pass(5 * 60_000);
    expect(useAll(true)).toBe(perOwner);
    pass(5 * 60_000);
    bulkhead.acquire('a', 'postponed before', { isBacklogged: true });
    expect(bulkhead.acquire('a', 'next').acquired).toBe(false);
  });

  it('takes no longer for a try when 100,000 payments wait', () => {
    const usOfTry = (waiting: number) => {
      const { acquire } = setUp();
      for (let count = 0; count < waiting; count += 1) acquire('a', `w${count}`);
      const before = process.cpuUsage();
      for (let count = 0; count < 2_000; count += 1) acquire('a', `w${waiting - 1 - count * 2}`);
      const { user, system } = process.cpuUsage(before);
      return (user + system) / 2_000;
    };
    usOfTry(5_000);
    // Walking the whole line took a millisecond.
    expect(usOfTry(100_000)).toBeLessThan(100);
  });

  describe.each([1, 2, 4])('on each of %i workers', (workers) => {
    it.each([
      ['a thousand callers at once', { count: 1_000, overMs: 1_000 }],
      ['half the load that the slots can take', { count: 20 * 20 * workers, overMs: 20_000 }],
      ['more load than the slots can take', { count: 20 * 50 * workers, overMs: 20_000 }],
    ])('serves %s nearly as soon as possible with few retries', (_, load) => {
      const holdMs = 100;
      const tookMs = simulate({ workers, holdMs, ...load });
      const idealMs = Math.max(load.overMs, (load.count * holdMs) / (perOwner * workers));
      expect(tookMs).toBeLessThan(idealMs * 1.2 + 5_000);
    });
  });
});

/** Callers come at random times, and each try goes to a random worker, as tasks of a queue do. */
const simulate = ({
  workers,
  holdMs,
  count,
  overMs,
}: Record<'workers' | 'holdMs' | 'count' | 'overMs', number>) => {
  const random = randomNumbers();
  let nowMs = 0;
  let tries = 0;
  const all = Array.from({ length: workers }, () =>
    createBulkhead({ perOwner, clockMs: () => nowMs }),
  );
  const coming: Coming[] = Array.from({ length: count }, (_, index) => ({
    atMs: random() * overMs,
    id: `p${index}`,
  }));
  coming.sort((one, other) => other.atMs - one.atMs);
  const inUse = new Map<Bulkhead, number>();
  for (;;) {
    const next = coming.pop();
    if (!next) return nowMs;
    nowMs = Math.max(nowMs, next.atMs);
    if ('free' in next) {
      next.free();
      continue;
    }
    const worker = all[Math.floor(random() * workers)]!; // Always below `workers`.
    tries += 1;
    expect(tries, 'tries').toBeLessThan(count * 8);
    const acquisition = worker.acquire('a', next.id);
    if (acquisition.acquired) {
      const held = (inUse.get(worker) ?? 0) + 1;
      expect(held).toBeLessThanOrEqual(perOwner);
      inUse.set(worker, held);
      const freeSlot = () => {
        inUse.set(worker, (inUse.get(worker) ?? 0) - 1);
        acquisition.free();
      };
      schedule(coming, { atMs: nowMs + holdMs, free: freeSlot });
    } else schedule(coming, { atMs: nowMs + acquisition.retryAfterMs, id: next.id });
  }
};

type Coming = { atMs: number } & ({ id: string } | { free: () => void });

/** Keeps the list sorted: the next one is last. */
const schedule = (coming: Coming[], item: Coming) => {
  const index = coming.findLastIndex(({ atMs }) => atMs > item.atMs) + 1;
  coming.splice(index, 0, item);
};

/** Pseudo-random numbers, the same in every run. */
const randomNumbers = () => {
  let state = 1;
  return () => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647;
};
