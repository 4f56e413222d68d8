import type { Life, Member, Part } from '../tools/production/member.ts';
import type { Kill } from './faults.ts';
import type { Post } from './receiver.ts';

/** From the moment something died until it was up again. */
export interface Outage {
  from: number;
  to: number;
}

/** A process and when it was seen to be gone. */
export interface Death {
  pid: number;
  at: number;
}

/** What explains that something was done twice, or not at all. */
export interface Absences {
  workers: readonly Death[];
  postgres: readonly Outage[];
  temporal: readonly Outage[];
}

/** Nothing is explained. */
export const noAbsences: Absences = { workers: [], postgres: [], temporal: [] };

/** @param broken when their wires were */
export const absencesOf = (
  members: readonly Member[],
  broken: Pick<Absences, 'postgres' | 'temporal'>,
): Absences => ({
  workers: members
    .filter(({ part }) => part === 'worker')
    .flatMap(({ lives }) =>
      lives.flatMap(({ pid, endedAt }) =>
        pid === undefined || endedAt === undefined ? [] : [{ pid, at: endedAt }],
      ),
    ),
  postgres: [...outagesOf(members, 'postgres'), ...broken.postgres],
  temporal: [...outagesOf(members, 'temporal'), ...broken.temporal],
});

/** What did not come back is gone until now. */
const outagesOf = (members: readonly Member[], part: Part): Outage[] =>
  members
    .filter((member) => member.part === part)
    .flatMap(({ lives }) =>
      lives.flatMap(({ endedAt }, index) => {
        if (endedAt === undefined) return [];
        return [{ from: endedAt, to: upAfter(lives, index) ?? Date.now() }];
      }),
    );

const upAfter = (lives: readonly Life[], index: number): number | undefined =>
  lives.slice(index + 1).find(({ readyAt }) => readyAt !== undefined)?.readyAt;

/** How long a process that was killed may take to be gone. */
const dyingMs = 1_000;

/** What is ours; Temporal's server ends by itself when Postgres goes while it starts. */
const ours: readonly Part[] = ['api', 'worker'];

/** Names of our processes that were up and ended although nobody killed them. */
export const endedByThemselves = (members: readonly Member[], kills: readonly Kill[]): string[] =>
  members.flatMap((member) => {
    if (!ours.includes(member.part)) return [];
    const killed = kills.filter((kill) => kill.member === member).map(({ at }) => at);
    return member.lives
      .filter(({ readyAt, endedAt }) => readyAt !== undefined && endedAt !== undefined)
      .filter(({ endedAt = 0 }) => !killed.some((at) => at <= endedAt && at > endedAt - dyingMs))
      .map(() => member.name);
  });

export interface Recovery {
  part: Part;
  kills: number;
  /** Milliseconds from a kill until the program was up again, sorted. */
  upAgain: number[];
  /** Milliseconds from a kill until the next payment ended, as its receiver saw it, sorted. */
  nextOutcome: number[];
}

export const recoveries = (kills: readonly Kill[], posts: readonly Post[]): Recovery[] => {
  const firsts = [...Map.groupBy(posts, ({ eventId }) => eventId).values()]
    .flatMap((same) => same[0]?.at ?? [])
    .sort((one, other) => one - other);
  return [...Map.groupBy(kills, ({ member }) => member.part)].map(([part, same]) => ({
    part,
    kills: same.length,
    upAgain: sorted(same, ({ at, member }) => {
      const up = member.lives.find(({ readyAt = 0 }) => readyAt > at)?.readyAt;
      return up && up - at;
    }),
    nextOutcome: sorted(same, ({ at }) => {
      const next = firsts.find((first) => first > at);
      return next && next - at;
    }),
  }));
};

const sorted = (kills: readonly Kill[], ms: (kill: Kill) => number | undefined): number[] =>
  kills.flatMap((kill) => ms(kill) ?? []).sort((one, other) => one - other);
