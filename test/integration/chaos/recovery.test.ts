import { expect, it } from 'vitest';
import type { Post } from '../../../chaos/receiver.ts';
import { absencesOf, endedByThemselves, recoveries } from '../../../chaos/recovery.ts';
import type { Life, Member, Part } from '../../../tools/production/member.ts';
import { createMember } from '../../../tools/production/member.ts';

it('a worker is absent by its death, Postgres until it is up again, or while its wire is broken', async () => {
  const worker = createMember('worker-1', 'worker');
  const postgres = createMember('postgres', 'postgres');
  const api = createMember('api-1', 'api');
  let pid = 100;
  for (const member of [worker, postgres, api]) {
    const ended = Promise.withResolvers<string>();
    const begin = (exited: Promise<string>) =>
      member.begin(async (onSpawn) => {
        onSpawn((pid += 1));
        return { pid, exited, stop: async () => {} };
      });
    await begin(ended.promise);
    ended.resolve('killed');
    await ended.promise;
    await begin(new Promise(() => {}));
  }
  const [at, from] = [worker, postgres].map(({ lives }) => lives[0]?.endedAt);
  const to = postgres.lives[1]?.readyAt;
  expect([at, from, to]).not.toContain(undefined);
  const broken = { postgres: [{ from: 1, to: 2 }], temporal: [{ from: 3, to: 4 }] };
  expect(absencesOf([worker, postgres, api], broken)).toEqual({
    workers: [{ pid: 101, at }],
    postgres: [{ from, to }, ...broken.postgres],
    temporal: broken.temporal,
  });
});

it('a process of ours that was up and ended is named, unless it was killed', () => {
  const lived = (part: Part, life: Partial<Life> = {}): Member => ({
    ...createMember(`${part}-1`, part),
    lives: [{ spawnedAt: 0, readyAt: 1_000, endedAt: 5_000, ...life }],
  });
  const api = lived('api');
  const { endedAt: _, ...running } = lived('worker').lives[0]!; // It has one.
  const { readyAt: __, ...neverUp } = lived('worker').lives[0]!;
  const others = [
    lived('postgres'),
    lived('temporal'),
    { ...lived('worker'), lives: [running, neverUp] },
  ];
  expect(endedByThemselves([...others, api, lived('worker')], [])).toEqual(['api-1', 'worker-1']);
  const killed = (at: number, member = api) => endedByThemselves([api], [{ at, member }]);
  expect([killed(5_000), killed(4_100)]).toEqual([[], []]);
  expect([killed(3_900), killed(5_100), killed(5_000, lived('worker'))]).toEqual([
    ['api-1'],
    ['api-1'],
    ['api-1'],
  ]);
});

it('how long it took: from each kill to the next life, and to the next event that nobody had yet', () => {
  const worker = {
    ...createMember('worker-1', 'worker'),
    lives: [1_000, 3_000, 9_000].map((readyAt) => ({ spawnedAt: readyAt - 100, readyAt })),
  };
  const kill = (at: number) => ({ at, member: worker });
  const post = (at: number, eventId: string) => ({ at, eventId }) as Post; // All that counts.
  const posts = [post(5_000, 'second'), post(1_500, 'first'), post(2_500, 'first')];
  expect(recoveries([kill(4_000), kill(2_000), kill(10_000)], posts)).toEqual([
    { part: 'worker', kills: 3, upAgain: [1_000, 5_000], nextOutcome: [1_000, 3_000] },
  ]);
});
