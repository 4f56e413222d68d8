import { setTimeout as sleep } from 'node:timers/promises';
import { faults } from '../test/fakes/server.ts';
import { type Member, pidOf } from '../tools/production/member.ts';
import type { Kill, Outage } from './disruptions.ts';
import type { Gateway } from './gateways.ts';
import type { Link } from './link.ts';
import type { Random } from './random.ts';
import { failures, type Receiver } from './receiver.ts';

/** The links from our processes to their servers. */
export type Links = Record<'postgres' | 'temporal', Link>;

export interface FaultOptions {
  random: Random;
  signal: AbortSignal;
}

/** More deaths of one process within a minute would leave the others no time to work. */
const maxDeaths = 3;
const withinMs = 60_000;

/** The mean time that the processes took to be ready, the last time that each was. */
export const meanStartMs = (members: readonly Pick<Member, 'lives'>[]): number => {
  const starts = members.flatMap(({ lives }) => {
    const { spawnedAt, readyAt } = lives.findLast((life) => life.readyAt !== undefined) ?? {};
    return spawnedAt === undefined || readyAt === undefined ? [] : [readyAt - spawnedAt];
  });
  return starts.reduce((sum, each) => sum + each, 0) / Math.max(starts.length, 1);
};

/**
 * Sends SIGKILL to random processes, also while they start or stop, but not while the load waits. On a machine on which they need
 * longer to start, it comes less often: otherwise most of them would be down.
 */
export const killAtRandom = async (
  members: readonly Member[],
  {
    everyMs,
    isWaiting,
    random,
    signal,
  }: FaultOptions & { everyMs: number; isWaiting: () => boolean },
): Promise<Kill[]> => {
  const kills: Kill[] = [];
  const drawPause = () => Math.max(everyMs, meanStartMs(members)) * random.between(0.4, 1.6);
  while (await pause(drawPause(), signal)) {
    if (isWaiting()) continue;
    const since = Date.now() - withinMs;
    const candidates = members.filter(
      (member) =>
        pidOf(member) !== undefined &&
        member.lives.filter(({ endedAt = 0 }) => endedAt > since).length < maxDeaths,
    );
    if (candidates.length === 0) continue;
    const member = random.pick(candidates);
    const at = Date.now();
    if (member.kill()) kills.push({ at, member });
  }
  return kills;
};

const usualDelayMs = { from: 20, to: 150 };

/** Disturbs the gateways: a little latency always, and now and then much latency or no connection. */
export const disturbGateways = async (
  gateways: readonly Gateway[],
  { random, signal, onlyLatency }: FaultOptions & { onlyLatency: boolean },
): Promise<void> => {
  await Promise.all(
    gateways.map(async ({ slug, link, provider }) => {
      const own = random.branch(slug);
      link.slow(() => own.between(usualDelayMs.from, usualDelayMs.to));
      if (onlyLatency) return;
      await Promise.all([
        disturbGatewayLink(link, { random: own, signal }),
        spoilResponses(provider, { random: own.branch('responses'), signal }),
      ]);
    }),
  );
};

/** The receiver refuses, breaks or hangs now and then, for all events that are new to it, and comes back. */
export const disturbReceiver = async (
  receiver: Pick<Receiver, 'failNew'>,
  { random, signal }: FaultOptions,
): Promise<void> => {
  while (await pause(random.between(4_000, 15_000), signal)) {
    receiver.failNew(random.pick(failures));
    await pause(random.between(1_000, 5_000), signal);
    receiver.failNew(undefined);
  }
};

/** Resets, cuts or swallows the links to our servers now and then. Returns when each was broken. */
export const disturbLinks = async (
  { postgres, temporal }: Links,
  { random, signal }: FaultOptions,
): Promise<Record<keyof Links, Outage[]>> => {
  const [postgresOutages, temporalOutages] = await Promise.all([
    breakNowAndThen(postgres, { random: random.branch('postgres'), signal }),
    breakNowAndThen(temporal, { random: random.branch('temporal'), signal }),
  ]);
  return { postgres: postgresOutages, temporal: temporalOutages };
};

const breakNowAndThen = async (link: Link, { random, signal }: FaultOptions): Promise<Outage[]> => {
  const outages: Outage[] = [];
  while (await pause(random.between(5_000, 20_000), signal)) {
    const from = Date.now();
    if (random.chance(0.6)) link.reset();
    else {
      const fault = random.pick(['cut', 'swallow'] as const);
      link[fault](true);
      await pause(random.between(200, 3_000), signal);
      link[fault](false);
    }
    outages.push({ from, to: Date.now() });
  }
  return outages;
};

const disturbGatewayLink = async (link: Link, { random, signal }: FaultOptions) => {
  while (await pause(random.between(10_000, 40_000), signal)) {
    const durationMs = random.between(2_000, 10_000);
    const fault = random.pick(['cut', 'swallow', 'slow', 'slow'] as const);
    // A call has less time than the longest of these delays.
    if (fault === 'slow') link.slow(() => random.between(500, 12_000));
    else link[fault](true);
    await pause(durationMs, signal);
    link.cut(false);
    link.swallow(false);
    link.slow(() => random.between(usualDelayMs.from, usualDelayMs.to));
  }
};

const spoilResponses = async (provider: Gateway['provider'], { random, signal }: FaultOptions) => {
  let callsBefore = -1;
  while (await pause(random.between(1_000, 8_000), signal)) {
    // One at a time: planned faults that no call has met would outlive the run's faults.
    if (provider.calls.length === callsBefore) continue;
    callsBefore = provider.calls.length;
    provider.fail(random.pick(faults));
  }
};

/** Returns false once the signal is aborted. */
const pause = async (ms: number, signal: AbortSignal): Promise<boolean> => {
  await sleep(ms, undefined, { signal }).catch(() => {});
  return !signal.aborted;
};
