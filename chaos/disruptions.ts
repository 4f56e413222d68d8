import type { Life, Member, Part } from '../tools/production/member.ts';
import type { Post } from './receiver.ts';

/** From the moment something went down until it was up again. */
export interface Outage {
  from: number;
  to: number;
}

export interface Kill {
  at: number;
  member: Member;
}

/** The time at which a process was seen to have ended. */
export interface Death {
  pid: number;
  at: number;
}

/** Events that excuse work that was done twice, or not at all. */
export interface Disruptions {
  workers: readonly Death[];
  postgres: readonly Outage[];
  temporal: readonly Outage[];
}

export const noDisruptions: Disruptions = { workers: [], postgres: [], temporal: [] };

/** @param linkOutages when the links to Postgres and Temporal were broken */
export const findDisruptions = (
  members: readonly Member[],
  linkOutages: Pick<Disruptions, 'postgres' | 'temporal'>,
): Disruptions => ({
  workers: members
    .filter(({ part }) => part === 'worker')
    .flatMap(({ lives }) =>
      lives.flatMap(({ pid, endedAt }) =>
        pid === undefined || endedAt === undefined ? [] : [{ pid, at: endedAt }],
      ),
    ),
  postgres: [...findOutages(members, 'postgres'), ...linkOutages.postgres],
  temporal: [...findOutages(members, 'temporal'), ...linkOutages.temporal],
});

/** The outage of a process that did not come back lasts until now. */
const findOutages = (members: readonly Member[], part: Part): Outage[] =>
  members
    .filter((member) => member.part === part)
    .flatMap(({ lives }) =>
      lives.flatMap(({ endedAt }, index) => {
        if (endedAt === undefined) return [];
        return [{ from: endedAt, to: nextReadyAt(lives, index) ?? Date.now() }];
      }),
    );

const nextReadyAt = (lives: readonly Life[], index: number): number | undefined =>
  lives.slice(index + 1).find(({ readyAt }) => readyAt !== undefined)?.readyAt;

/** The end of a killed process is seen within this time. */
const dyingMs = 5_000;

/** Temporal's server ends by itself when Postgres goes down while it starts. */
const ourParts: readonly Part[] = ['api', 'worker'];

/** Names our processes that were ready and then ended without a kill. */
export const findUnexplainedEnds = (members: readonly Member[], kills: readonly Kill[]): string[] =>
  members.flatMap((member) => {
    if (!ourParts.includes(member.part)) return [];
    const killedAt = kills.filter((kill) => kill.member === member).map(({ at }) => at);
    return member.lives
      .filter(({ readyAt, endedAt }) => readyAt !== undefined && endedAt !== undefined)
      .filter(({ endedAt = 0 }) => !killedAt.some((at) => at <= endedAt && at > endedAt - dyingMs))
      .map(() => member.name);
  });

/** The recovery of the service from the kills of one role. */
export interface Recovery {
  role: string;
  kills: number;
  /** Milliseconds from each kill until the process was ready again, sorted. */
  ready: number[];
  /** Milliseconds from each kill until the receiver got the next payment's event, sorted. */
  nextEvent: number[];
}

export const measureRecoveries = (kills: readonly Kill[], posts: readonly Post[]): Recovery[] => {
  const firstPosts = [...Map.groupBy(posts, ({ eventId }) => eventId).values()]
    .flatMap((same) => same[0]?.at ?? [])
    .sort((one, other) => one - other);
  return [...Map.groupBy(kills, ({ member }) => member.role)].map(([role, same]) => ({
    role,
    kills: same.length,
    ready: measure(same, ({ at, member }) =>
      member.lives.map(({ readyAt = 0 }) => readyAt).find((readyAt) => readyAt > at),
    ),
    nextEvent: measure(same, ({ at }) => firstPosts.find((first) => first > at)),
  }));
};

/** The sorted milliseconds from each kill to the time that is found for it. */
const measure = (kills: readonly Kill[], findTime: (kill: Kill) => number | undefined): number[] =>
  kills
    .flatMap((kill) => {
      const time = findTime(kill);
      return time === undefined ? [] : [time - kill.at];
    })
    .sort((one, other) => one - other);
