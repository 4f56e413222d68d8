import { expect, it } from 'vitest';
import { findDeliveryProblems } from '../../../chaos/deliveries.ts';
import { type Disruptions, noDisruptions } from '../../../chaos/disruptions.ts';
import type { Post } from '../../../chaos/receiver.ts';

const [sender, other] = [101, 102];
const answeredAt = 50;
const aPost = (values: object = {}) =>
  ({ at: 0, endedAt: answeredAt, status: 204, number: 1, sender, ...values }) as Post; // The only fields read.
const inLedger = (...statuses: (number | null)[]) =>
  statuses.map((status, index) => ({ number: index + 1, completed: true, status }));

it.each([
  [500, 60_000, []],
  [500, 40_000, ['attempt 2 came 40000 ms after the one before, not 60000']],
  [204, 60_000, ['attempt 2 came after an accepted one']],
])('after a first attempt that was answered %s, one after %s ms: %j', (status, ms, problems) => {
  const at = answeredAt + ms;
  const posts = [aPost({ status }), aPost({ number: 2, at, endedAt: at })];
  const find = (first: number | null) =>
    findDeliveryProblems({
      posts,
      attempts: inLedger(first, 204),
      disruptions: noDisruptions,
    });
  // Its answer may be unknown to the service.
  expect([find(status), find(null)]).toEqual([problems, problems]);
});

const unknown = { sender: undefined };
const hanging = { endedAt: 10_000 };
it.each<[isExcused: boolean, Partial<Disruptions>, first?: object]>([
  [false, {}],
  [false, { workers: [{ pid: other, at: answeredAt }] }],
  // The sender died before the result can have been recorded.
  [true, { workers: [{ pid: sender, at: answeredAt + 4_900 }] }],
  [false, { workers: [{ pid: sender, at: answeredAt + 5_100 }] }],
  [false, { workers: [{ pid: sender, at: -1_100 }] }],
  [true, { workers: [{ pid: sender, at: 9_000 }] }, hanging],
  [true, { workers: [{ pid: other, at: 20 }] }, unknown],
  [false, { workers: [{ pid: other, at: answeredAt + 5_100 }] }, unknown],
  // Postgres was down as it had to be recorded.
  [true, { postgres: [{ from: answeredAt + 4_900, to: 7_000 }] }],
  [true, { postgres: [{ from: -2_000, to: 10 }] }],
  [false, { postgres: [{ from: -2_000, to: -1_100 }] }],
  [false, { postgres: [{ from: answeredAt + 5_100, to: 7_000 }] }],
  [false, { postgres: [{ from: 1_000, to: 3_000 }] }, hanging],
  [true, { postgres: [{ from: 8_000, to: 9_500 }] }, hanging],
])('excuses an attempt that is sent again: %s, %j %j', (isExcused, disruptions, first) => {
  const problems = findDeliveryProblems({
    posts: [aPost(first), aPost({ at: 20_000, endedAt: 20_050 })],
    attempts: inLedger(204),
    disruptions: { ...noDisruptions, ...disruptions },
  });
  expect(problems).toEqual(isExcused ? [] : ['attempt 1 was sent 2 times, 1 without a reason']);
});
