import { describe, expect, it } from 'vitest';
import { deliveryProblems } from '../../../chaos/deliveries.ts';
import type { Post } from '../../../chaos/receiver.ts';
import type { LedgerRow } from '../../../chaos/records.ts';
import type { Absences } from '../../../chaos/recovery.ts';
import { noAbsences } from '../../../chaos/recovery.ts';

const sender = 101;
const other = 102;
const answeredAt = 50;

/** Answered after 50 ms. */
const aPost = (at: number, fields: Partial<Post> = {}): Post => ({
  ...{ at, endedAt: at + answeredAt, status: 204, number: 1, sender, isSigned: true },
  ...{ eventId: 'event', kind: 'payment.paid', body: Buffer.from('{}'), paymentId: 'PAY_1' },
  ...fields,
});

const ledger = [{ number: 1, completed: true, status: 204 }];

/** Sent at 0 and again 20 s later; what then is not explained. */
const sentAgain = (absences: Partial<Absences>, first = aPost(0)) =>
  deliveryProblems({
    posts: [first, aPost(20_000)],
    ledger,
    absences: { ...noAbsences, ...absences },
  });

const notCut = ['attempt 1 was sent 2 times, and 1 not cut'];

describe('FS-22: an attempt is sent again only where it was cut', () => {
  it('finds one that was answered and sent again, whatever another worker suffered', () => {
    expect(sentAgain({})).toEqual(notCut);
    expect(sentAgain({ workers: [{ pid: other, at: answeredAt + 3_900 }] })).toEqual(notCut);
    expect(sentAgain({ workers: [{ pid: other, at: answeredAt }] })).toEqual(notCut);
  });

  it('is explained by the death of its sender before it can have been recorded', () => {
    expect(sentAgain({ workers: [{ pid: sender, at: answeredAt + 4_900 }] })).toEqual([]);
    expect(sentAgain({ workers: [{ pid: sender, at: answeredAt + 5_100 }] })).toEqual(notCut);
    expect(sentAgain({ workers: [{ pid: sender, at: -1_100 }] })).toEqual(notCut);
    const hanging = aPost(0, { endedAt: 10_000 });
    expect(sentAgain({ workers: [{ pid: sender, at: 9_000 }] }, hanging)).toEqual([]);
  });

  it('is explained by Postgres where that was away when it was to be recorded', () => {
    expect(sentAgain({ postgres: [{ from: answeredAt + 4_900, to: 7_000 }] })).toEqual([]);
    expect(sentAgain({ postgres: [{ from: -2_000, to: 10 }] })).toEqual([]);
    expect(sentAgain({ postgres: [{ from: -2_000, to: -1_100 }] })).toEqual(notCut);
    expect(sentAgain({ postgres: [{ from: answeredAt + 5_100, to: 7_000 }] })).toEqual(notCut);
    const hanging = aPost(0, { endedAt: 10_000 });
    expect(sentAgain({ postgres: [{ from: 1_000, to: 3_000 }] }, hanging)).toEqual(notCut);
    expect(sentAgain({ postgres: [{ from: 8_000, to: 9_500 }] }, hanging)).toEqual([]);
  });

  it('of a sender who was not found out, by the death of any', () => {
    const { sender: _, ...gone } = aPost(0);
    expect(sentAgain({ workers: [{ pid: other, at: 20 }] }, gone)).toEqual([]);
    expect(sentAgain({ workers: [{ pid: other, at: answeredAt + 5_100 }] }, gone)).toEqual(notCut);
  });
});

it('what was sent once is explained by nothing', () => {
  const posts = [aPost(0)];
  expect(deliveryProblems({ posts, ledger, absences: noAbsences })).toEqual([]);
});

describe('the ledger and what arrived say the same', () => {
  const refused = aPost(0, { status: 500 });
  const accepted = aPost(60_000 + answeredAt, { number: 2 });
  const first = { number: 1, completed: true, status: 500 };
  const second = { number: 2, completed: true, status: 204 };

  it.each<[problem: string | undefined, posts: Post[], rows: LedgerRow[]]>([
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
      'attempt 1 is recorded as 204, which nobody answered',
      [refused, accepted],
      [{ ...first, status: 204 }, second],
    ],
    // Of what was cut nobody knows the answer.
    [undefined, [refused, accepted], [{ ...first, status: null }, second]],
    [
      'attempt 2 came after one that was accepted',
      [{ ...refused, status: 204 }, accepted],
      [{ ...first, status: 204 }, second],
    ],
  ])('or it is found: %s', (problem, posts, rows) => {
    const problems = deliveryProblems({ posts, ledger: rows, absences: noAbsences });
    expect(problems).toEqual(problem === undefined ? [] : [problem]);
  });
});

describe('an attempt keeps its distance', () => {
  const refused = { status: 500, completed: true };
  const apart = (ms: number, first: Partial<Post> = {}) =>
    deliveryProblems({
      posts: [aPost(0, { status: 500, ...first }), aPost(answeredAt + ms, { number: 2 })],
      ledger: [
        { ...refused, number: 1 },
        { number: 2, completed: true, status: 204 },
      ],
      absences: noAbsences,
    });

  it('of a minute from the end of the first one', () => {
    expect(apart(60_000)).toEqual([]);
    expect(apart(40_000)).toEqual(['attempt 2 came 40000 ms after the one before, not 60000']);
    expect(apart(60_000, { endedAt: 10_000 })).toHaveLength(1);
  });
});
