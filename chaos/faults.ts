import { setTimeout as sleep } from 'node:timers/promises';
import { faults } from '../test/fakes/server.ts';
import type { Member } from '../tools/production/member.ts';
import type { Gateway } from './gateways.ts';
import type { Link } from './link.ts';
import type { Random } from './random.ts';
import type { Outage } from './recovery.ts';

export interface Kill {
  at: number;
  member: Member;
}

/** From our processes to what they lean on. */
export type Wires = Record<'postgres' | 'temporal', Link>;

export interface FaultOptions {
  random: Random;
  signal: AbortSignal;
}

/** Who keeps them alive gives up after five deaths in a minute, which is not what is tested here. */
const mostDeaths = 3;
const withinMs = 60_000;

/** SIGKILL to a process at random, again and again, also while it starts or stops. */
export const killAtRandom = async (
  members: readonly Member[],
  { everyMs, ...options }: FaultOptions & { everyMs: number },
): Promise<Kill[]> => {
  const kills: Kill[] = [];
  const { random, signal } = options;
  while (await pause(everyMs * random.between(0.4, 1.6), signal)) {
    const since = Date.now() - withinMs;
    const rested = members.filter(
      ({ lives }) => lives.filter(({ endedAt = 0 }) => endedAt > since).length < mostDeaths,
    );
    if (rested.length === 0) continue;
    const member = random.pick(rested);
    const at = Date.now();
    if (member.kill()) kills.push({ at, member });
  }
  return kills;
};

/** Between a gateway and the service: a little latency always, now and then much, or nothing at all. */
export const troubleGateways = async (
  gateways: readonly Gateway[],
  { random, signal, onlyLatency }: FaultOptions & { onlyLatency: boolean },
): Promise<void> => {
  await Promise.all(
    gateways.map(async ({ slug, link, provider }) => {
      const own = random.branch(slug);
      link.slow(() => own.between(usualMs.from, usualMs.to));
      if (onlyLatency) return;
      await Promise.all([
        troubleLink(link, { random: own, signal }),
        spoilAnswers(provider, { random: own.branch('answers'), signal }),
      ]);
    }),
  );
};

/** Between our processes and what they lean on. @returns when each was broken */
export const troubleWires = async (
  { postgres, temporal }: Wires,
  { random, signal }: FaultOptions,
): Promise<Record<keyof Wires, Outage[]>> => {
  const broken = await Promise.all([
    breakNowAndThen(postgres, random.branch('postgres'), signal),
    breakNowAndThen(temporal, random.branch('temporal'), signal),
  ]);
  return { postgres: broken[0], temporal: broken[1] };
};

const breakNowAndThen = async (
  wire: Link,
  random: Random,
  signal: AbortSignal,
): Promise<Outage[]> => {
  const broken: Outage[] = [];
  while (await pause(random.between(5_000, 20_000), signal)) {
    const from = Date.now();
    if (random.chance(0.7)) wire.reset();
    else {
      wire.cut(true);
      await pause(random.between(200, 3_000), signal);
      wire.cut(false);
    }
    broken.push({ from, to: Date.now() });
  }
  return broken;
};

const usualMs = { from: 20, to: 150 };

const troubleLink = async (link: Gateway['link'], { random, signal }: FaultOptions) => {
  const usual = () => random.between(usualMs.from, usualMs.to);
  while (await pause(random.between(10_000, 40_000), signal)) {
    const lastsMs = random.between(2_000, 10_000);
    if (random.chance(0.5)) link.cut(true);
    // Up to longer than a call may take.
    else link.slow(() => random.between(500, 12_000));
    await pause(lastsMs, signal);
    link.cut(false);
    link.slow(usual);
  }
};

const spoilAnswers = async (provider: Gateway['provider'], { random, signal }: FaultOptions) => {
  let callsThen = -1;
  while (await pause(random.between(1_000, 8_000), signal)) {
    // Never a second one before the first has met its call: they would outlive the run's faults.
    if (provider.calls.length === callsThen) continue;
    callsThen = provider.calls.length;
    provider.fail(random.pick(faults));
  }
};

/** @returns whether it goes on */
const pause = async (ms: number, signal: AbortSignal): Promise<boolean> => {
  await sleep(ms, undefined, { signal }).catch(() => {});
  return !signal.aborted;
};
