import { describe, expect, it } from 'vitest';
import { findDeliveryProblems } from '../../../chaos/deliveries.ts';
import { type Disruptions, noDisruptions } from '../../../chaos/disruptions.ts';
import type { Post } from '../../../chaos/receiver.ts';
import type { AttemptRow } from '../../../chaos/service-records.ts';

const sender = 101;
const other = 102;
const answeredAt = 50;

/** A POST that was answered after 50 ms. */
const aPost = (at: number, fields: Partial<Post> = {}): Post => ({
  at,
  endedAt: at + answeredAt,
  status: 204,
  number: 1,
  sender,
  isSigned: true,
  eventId: 'event',
  kind: 'payment.paid',
  body: Buffer.from('{}'),
  paymentId: 'PAY_1',
  ...fields,
});

const attempts = [{ number: 1, completed: true, status: 204 }];

/** The problems of an attempt that was sent at 0 and again 20 s later. */
const sentAgain = (disruptions: Partial<Disruptions>, first = aPost(0)) =>
  findDeliveryProblems({
    posts: [first, aPost(20_000)],
    attempts,
    disruptions: { ...noDisruptions, ...disruptions },
  });

const unexplained = ['attempt 1 was sent 2 times, 1 without a reason'];

describe('an attempt that is sent again', () => {
  it('is not excused by the death of another worker', () => {
    expect(sentAgain({})).toEqual(unexplained);
    expect(sentAgain({ workers: [{ pid: other, at: answeredAt + 3_900 }] })).toEqual(unexplained);
    expect(sentAgain({ workers: [{ pid: other, at: answeredAt }] })).toEqual(unexplained);
  });

  it('is excused by the death of its sender before it can have been recorded', () => {
    expect(sentAgain({ workers: [{ pid: sender, at: answeredAt + 4_900 }] })).toEqual([]);
    expect(sentAgain({ workers: [{ pid: sender, at: answeredAt + 5_100 }] })).toEqual(unexplained);
    expect(sentAgain({ workers: [{ pid: sender, at: -1_100 }] })).toEqual(unexplained);
    const hanging = aPost(0, { endedAt: 10_000 });
    expect(sentAgain({ workers: [{ pid: sender, at: 9_000 }] }, hanging)).toEqual([]);
  });

  it('is excused by Postgres when that was down as it had to be recorded', () => {
    expect(sentAgain({ postgres: [{ from: answeredAt + 4_900, to: 7_000 }] })).toEqual([]);
    expect(sentAgain({ postgres: [{ from: -2_000, to: 10 }] })).toEqual([]);
    expect(sentAgain({ postgres: [{ from: -2_000, to: -1_100 }] })).toEqual(unexplained);
    expect(sentAgain({ postgres: [{ from: answeredAt + 5_100, to: 7_000 }] })).toEqual(unexplained);
    const hanging = aPost(0, { endedAt: 10_000 });
    expect(sentAgain({ postgres: [{ from: 1_000, to: 3_000 }] }, hanging)).toEqual(unexplained);
    expect(sentAgain({ postgres: [{ from: 8_000, to: 9_500 }] }, hanging)).toEqual([]);
  });

  it('is excused by the death of any worker when the sender is unknown', () => {
    const { sender: _, ...gone } = aPost(0);
    expect(sentAgain({ workers: [{ pid: other, at: 20 }] }, gone)).toEqual([]);
    expect(sentAgain({ workers: [{ pid: other, at: answeredAt + 5_100 }] }, gone)).toEqual(
      unexplained,
    );
  });
});

it('finds nothing wrong with an attempt that was sent once', () => {
  const posts = [aPost(0)];
  expect(findDeliveryProblems({ posts, attempts, disruptions: noDisruptions })).toEqual([]);
});

describe('the ledger', () => {
  const refused = aPost(0, { status: 500 });
  const accepted = aPost(60_000 + answeredAt, { number: 2 });
  const first = { number: 1, completed: true, status: 500 };
  const second = { number: 2, completed: true, status: 204 };

  it.each<[problem: string | undefined, posts: Post[], rows: AttemptRow[]]>([
    [undefined, [refused, accepted], [first, second]],
    ['no POST of it was accepted', [refused], [first]],
    ['its ledger has the numbers 1, 1, 2', [refused, accepted], [first, first, second]],
    ['its ledger has the numbers 2', [accepted], [second]],
    ['attempt 2 is not in the ledger', [refused, accepted], [first]],
    [
      'attempt 1 was never completed',
      [refused, accepted],
      [{ ...first, completed: false }, second],
    ],
    [
      'attempt 1 is recorded as 204, which was never answered',
      [refused, accepted],
      [{ ...first, status: 204 }, second],
    ],
    // The response to an interrupted attempt is unknown.
    [undefined, [refused, accepted], [{ ...first, status: null }, second]],
    [
      'attempt 2 came after an accepted one',
      [{ ...refused, status: 204 }, accepted],
      [{ ...first, status: 204 }, second],
    ],
  ])('is compared with the POSTs that arrived: %s', (problem, posts, rows) => {
    const problems = findDeliveryProblems({ posts, attempts: rows, disruptions: noDisruptions });
    expect(problems).toEqual(problem === undefined ? [] : [problem]);
  });
});

describe('the second attempt', () => {
  const refused = { status: 500, completed: true };
  const apart = (ms: number, first: Partial<Post> = {}) =>
    findDeliveryProblems({
      posts: [aPost(0, { status: 500, ...first }), aPost(answeredAt + ms, { number: 2 })],
      attempts: [
        { ...refused, number: 1 },
        { number: 2, completed: true, status: 204 },
      ],
      disruptions: noDisruptions,
    });

  it('comes a minute after the end of the first', () => {
    expect(apart(60_000)).toEqual([]);
    expect(apart(40_000)).toEqual(['attempt 2 came 40000 ms after the one before, not 60000']);
    expect(apart(60_000, { endedAt: 10_000 })).toHaveLength(1);
  });
});
