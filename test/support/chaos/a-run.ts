import { checkAll } from '../../../chaos/checks.ts';
import type { Evidence } from '../../../chaos/evidence.ts';
import { noDisruptions } from '../../../chaos/disruptions.ts';
import { createJournal } from '../../../chaos/journal.ts';
import type { Post } from '../../../chaos/receiver.ts';
import type { RefundRow, ShownPayment } from '../../../chaos/service-records.ts';
import { aVisit, receipt } from './support.ts';

const nobody = { tracking_code: null, card_pan_masked: null, paid_at: null };
export const endedAs = (status: string, failure_code: string | null = null) => ({
  status,
  failure_code,
  ...nobody,
});
/** As the service writes it. */
const now = () => new Date().toISOString().replace('Z', '+00:00');
export const sender = 101;
export const answeredAt = 50;

/**
 * The evidence of a payment that was paid and told; at Stripe 30,000 of it went back. The arguments change its event and
 * what the API shows.
 */
export const aRun = async (
  slug = 'zarinpal',
  inEvent: object = {},
  inApi: Partial<ShownPayment> = {},
) => {
  const { gateways, ...visit } = await aVisit({ slug });
  const { payment, gateway, reference, entry } = visit;
  gateway.decide(reference, 'paid');
  if (!gateway.oneStep) entry.verified = 1;
  const { id, order, amount, currency, behaviour } = payment;
  const shown: ShownPayment = {
    payment_id: id,
    application: 'shop',
    order_id: order,
    status: 'paid',
    amount,
    currency,
    tracking_code: receipt.trackingCode,
    card_pan_masked: gateway.reportsCard === 'never' ? null : receipt.card,
    test: true,
    paid_at: now(),
    failure_code: null,
    failure_reason: null,
    metadata: { order, behaviour },
    ...inApi,
  };
  const [eventId, kind] = ['event-1', `payment.${shown.status}`];
  const event = { event: kind, event_id: eventId, ...shown, ...inEvent };
  const body = Buffer.from(JSON.stringify(event));
  const post: Post = {
    at: 0,
    endedAt: answeredAt,
    status: 204,
    number: 1,
    sender,
    isSigned: true,
    body,
    paymentId: id,
    eventId,
    kind,
  };
  const posts = [post];
  const attempts = [{ number: 1, completed: true, status: 204 as number | null }];
  const refund: RefundRow = {
    id: 'REFUND_1',
    status: 'succeeded',
    stage: null,
    amount: 30_000,
    requestedBy: 'application',
    events: [{ id: 'event-2', kind: 'refund.succeeded', delivery: 'delivered' }],
  };
  const refundPost: Post = { ...post, eventId: 'event-2', kind: 'refund.succeeded' };
  const sums = { refunded: 0, pending: 0 };
  const refunds: RefundRow[] = [];
  const journal = createJournal();
  if (gateway.refundAtDashboard) {
    payment.refund = 'whole';
    gateway.refundAtDashboard(reference, refund.amount);
    journal.recordRefund(order, refund.id);
    sums.refunded = refund.amount;
    refunds.push(refund);
    posts.push(refundPost);
  }
  const evidence = {
    payments: [payment],
    records: {
      shown: new Map([[id, shown]]),
      gateways: new Map([[id, gateway.slug]]),
      events: new Map([[id, [{ id: eventId, body }]]]),
      attempts: new Map([[id, attempts]]),
      deliveries: new Map([[id, 'delivered']]),
      latePayments: new Map<string, string>(),
      orders: new Map([[order, 1]]),
      refunds: new Map([[id, refunds]]),
      sums: new Map([[id, sums]]),
    },
    posts,
    disruptions: noDisruptions,
    journal,
  } satisfies Evidence;
  const find = () => checkAll(evidence).map(({ text }) => text);
  return {
    ...{ ...visit, gateways, evidence, id, order, shown, post, posts, attempts, journal },
    records: evidence.records,
    ...{ refund, refundPost, refunds, sums, find },
  };
};
export type Run = Awaited<ReturnType<typeof aRun>>;
