import { expect, it } from 'vitest';
import {
  findDisruptions,
  findUnexplainedEnds,
  measureRecoveries,
} from '../../../chaos/disruptions.ts';
import { meanStartMs } from '../../../chaos/faults.ts';
import type { Post } from '../../../chaos/receiver.ts';
import {
  createMember,
  type Life,
  type Member,
  type Part,
} from '../../../tools/production/member.ts';

const start = () => Promise.reject(new Error('It is never started'));

const aMember = (part: Part, lives: Partial<Life>[]): Member => ({
  ...createMember({ name: `${part}-1`, part, start }),
  lives: lives.map((life) => ({ spawnedAt: 0, ...life })),
});

it('excuses by the death of a worker, and by outages of Postgres and of the links', () => {
  const lives = [
    { pid: 101, readyAt: 1_000, endedAt: 5_000 },
    { pid: 102, readyAt: 7_000 },
  ];
  const linkOutages = { postgres: [{ from: 1, to: 2 }], temporal: [{ from: 3, to: 4 }] };
  const members = [aMember('worker', lives), aMember('postgres', lives), aMember('api', lives)];
  expect(findDisruptions(members, linkOutages)).toEqual({
    workers: [{ pid: 101, at: 5_000 }],
    postgres: [{ from: 5_000, to: 7_000 }, ...linkOutages.postgres],
    temporal: linkOutages.temporal,
  });
});

it('names a process of ours that was ready and ended without a kill', () => {
  const ended = { readyAt: 1_000, endedAt: 10_000 };
  const api = aMember('api', [ended]);
  const others = [
    aMember('postgres', [ended]),
    aMember('temporal', [ended]),
    aMember('worker', [{ endedAt: 5_000 }, { readyAt: 1_000 }]),
  ];
  const worker = aMember('worker', [ended]);
  expect(findUnexplainedEnds([...others, api, worker], [])).toEqual(['api-1', 'worker-1']);
  const afterKill = (at: number, member = api) => findUnexplainedEnds([api], [{ at, member }]);
  expect([afterKill(10_000), afterKill(5_100)]).toEqual([[], []]);
  expect([afterKill(4_900), afterKill(10_100), afterKill(10_000, worker)]).toEqual([
    ['api-1'],
    ['api-1'],
    ['api-1'],
  ]);
});

it('measures the time from each kill to the next ready process and the next event', () => {
  const worker = aMember(
    'worker',
    [1_000, 3_000, 9_000].map((readyAt) => ({ readyAt })),
  );
  const kill = (at: number) => ({ at, member: worker });
  const post = (at: number, eventId: string) => ({ at, eventId }) as Post; // The only fields read.
  const posts = [post(5_000, 'second'), post(1_500, 'first'), post(2_500, 'first')];
  expect(measureRecoveries([kill(4_000), kill(2_000), kill(10_000)], posts)).toEqual([
    { role: 'worker', kills: 3, ready: [1_000, 5_000], nextEvent: [1_000, 3_000] },
  ]);
});

it('measures how long processes take to start, each by the last time that it was ready', () => {
  const slow = aMember('temporal', [
    { spawnedAt: 0, readyAt: 1_000, endedAt: 2_000 },
    { spawnedAt: 3_000, readyAt: 12_000, endedAt: 13_000 },
    { spawnedAt: 14_000 },
  ]);
  const quick = aMember('api', [{ spawnedAt: 0, readyAt: 1_000 }]);
  expect(meanStartMs([slow, quick, aMember('worker', [{}])])).toBe(5_000);
  expect(meanStartMs([])).toBe(0);
});
