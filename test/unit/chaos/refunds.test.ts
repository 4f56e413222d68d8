import { describe, expect, it } from 'vitest';
import { createJournal } from '../../../chaos/journal.ts';
import type { Post } from '../../../chaos/receiver.ts';
import { findRefundProblems } from '../../../chaos/refunds.ts';
import type { RefundRow, ServiceRecords } from '../../../chaos/service-records.ts';
import { aVisit } from '../../support/chaos/support.ts';

/** The evidence of a payment of which 30,000 went back, in one refund of the application. */
const aRun = async () => {
  const { payment, gateway, reference } = await aVisit({ slug: 'stripe' });
  const row: RefundRow = {
    id: 'REFUND_1',
    status: 'succeeded',
    stage: null,
    amount: 30_000,
    requestedBy: 'application',
    events: [{ id: 'event-1', kind: 'refund.succeeded', delivery: 'delivered' }],
  };
  gateway.refundAtDashboard?.(reference, 30_000);
  const post: Post = {
    at: 0,
    status: 204,
    number: 1,
    isSigned: true,
    body: Buffer.from('{}'),
    paymentId: payment.id,
    eventId: 'event-1',
    kind: 'refund.succeeded',
  };
  const rows = [row];
  const sums = { refunded: 30_000, pending: 0 };
  const posts = [post];
  const journal = createJournal();
  journal.recordRefund(payment.order, 'REFUND_1');
  const records = {
    shown: new Map([[payment.id, { status: 'paid' }]]),
    refunds: new Map([[payment.id, rows]]),
    sums: new Map([[payment.id, sums]]),
  } as unknown as ServiceRecords;
  const find = () => findRefundProblems(payment, { records, posts, journal });
  return { payment, gateway, reference, row, rows, sums, post, posts, journal, find };
};
type Run = Awaited<ReturnType<typeof aRun>>;

describe('findRefundProblems', () => {
  it('finds nothing wrong with a refund that is the same everywhere', async () => {
    expect((await aRun()).find()).toEqual([]);
  });

  it.each<[text: string, lie: (run: Run) => unknown]>([
    [
      'REFUND_2 was accepted, and is lost',
      ({ journal, payment }) => journal.recordRefund(payment.order, 'REFUND_2'),
    ],
    ['500 of it is still reserved', ({ sums }) => (sums.pending = 500)],
    [
      'it says that 29999 went back, and its refunds say 30000',
      ({ sums }) => (sums.refunded = 29_999),
    ],
    [
      'the gateway gave 60000 back, and its refunds say 30000',
      ({ gateway, reference }) => gateway.refundAtDashboard?.(reference, 30_000),
    ],
    ['60000 of 50000 went back', ({ rows, row }) => rows.push(row)],
    [
      'REFUND_1 has not ended: sent',
      ({ row }) => Object.assign(row, { status: 'pending', stage: 'sent' }),
    ],
    [
      'REFUND_1 is failed, and has the events refund.succeeded',
      ({ row }) => (row.status = 'failed'),
    ],
    ['REFUND_1 is succeeded, and has the events none', ({ row }) => (row.events = [])],
    [
      'the delivery of refund.succeeded of REFUND_1 is exhausted',
      ({ row }) => (row.events[0]!.delivery = 'exhausted'),
    ],
    ['the delivery of refund.succeeded of REFUND_1 is delivered', ({ posts }) => posts.splice(0)],
    ['the signature of a POST is wrong', ({ post }) => (post.isSigned = false)],
    [
      'refund.succeeded of REFUND_1 arrived with different bytes',
      ({ posts, post }) => posts.push({ ...post, body: Buffer.from('{ }') }),
    ],
  ])('finds: %s', async (text, lie) => {
    const run = await aRun();
    lie(run);
    expect(run.find()).toContain(text);
  });
});
