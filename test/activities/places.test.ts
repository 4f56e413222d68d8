import { describe, expect, it } from 'vitest';
import { createPlaces, type Entry } from '../../activities/places.ts';

const perOwner = 4;

const setUp = () => {
  let nowMs = 1_000_000;
  const places = createPlaces({ perOwner, clockMs: () => nowMs });
  let next = 0;
  const take = (application = 'a', id = `p${(next += 1)}`): Entry => places.take(application, id);
  return { take, places, pass: (ms: number) => (nowMs += ms), now: () => nowMs };
};

const waitOf = (entry: Entry): number => {
  if (entry.entered) throw new Error('It was let in');
  return entry.comeBackInMs;
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

  it('who was sent away goes before who has just come', () => {
    const { take, pass } = setUp();
    const inside = Array.from({ length: perOwner }, () => take());
    const wait = waitOf(take('a', 'waiting'));
    pass(wait);
    leave(inside[0]);
    expect(take('a', 'new').entered).toBe(false);
    expect(take('a', 'waiting').entered).toBe(true);
  });

  it('who went to another worker is not waited for', () => {
    const { take, pass } = setUp();
    const inside = Array.from({ length: perOwner }, () => take());
    const wait = waitOf(take('a', 'gone'));
    pass(wait + 20_000);
    leave(inside[0]);
    expect(take('a', 'new').entered).toBe(true);
  });

  it('everybody gets in at last, at any time in any order', () => {
    const { take, pass, now } = setUp();
    const holdMs = 3_000;
    const arrivals = Array.from({ length: 200 }, (_, index) => ({
      id: `p${index}`,
      atMs: now() + index * 100,
    }));
    const inside: { entry: Entry; untilMs: number }[] = [];
    let tries = 0;
    let done = 0;
    while (arrivals.length > 0) {
      arrivals.sort((one, other) => one.atMs - other.atMs);
      const { id, atMs } = arrivals.shift()!; // The loop runs while there is one.
      pass(Math.max(0, atMs - now()));
      for (const held of inside.splice(0))
        if (held.untilMs <= now()) leave(held.entry);
        else inside.push(held);
      tries += 1;
      const entry = take('a', id);
      if (entry.entered) {
        done += 1;
        inside.push({ entry, untilMs: now() + holdMs });
      } else arrivals.push({ id, atMs: now() + entry.comeBackInMs });
      expect(inside.length).toBeLessThanOrEqual(perOwner);
    }
    expect(done).toBe(200);
    // 200 deliveries take 150 s of 4 places; who waits asks seldom.
    expect(now() - 1_000_000).toBeLessThan(170_000);
    expect(tries).toBeLessThan(1_200);
  });
});
