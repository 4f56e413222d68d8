import { randomUUID } from 'node:crypto';
import { disputeEventExamples } from '../../../api/disputes/dispute-examples.ts';
import { eventExamples } from '../../../api/payments/payment-examples.ts';
import { refundEventExamples } from '../../../api/refunds/refund-examples.ts';
import type { EventKind } from '../../../contract/event.ts';

/** An order of 12.50 EUR of live payments, and an event that comes about it. */
export interface Transition {
  what: string;
  order: { id: string; status: string; payment: string };
  event: Record<string, unknown> & { event: EventKind; event_id: string };
  /** Its status afterwards. */
  becomes: string;
}

const waiting = ['pending', 'failed', 'cancelled', 'expired'];
/** `shipped` stands for all that only a shop knows. */
const taken = ['paid', 'shipped'];

/** The payment that changed the order last, and another one. */
const own = 'PAY_01K9Z5W6X7Y8ZABCDEFGHJKMNP';
const other = 'PAY_01K9Z5W6X7Y8ZABCDEFGHJKMNQ';

const ofOrder = { amount: 1250, currency: 'EUR', test: false };
const sums = { payment_amount: 1250, amount_refunded: 0, amount_refund_pending: 0 };
const refund = (event: EventKind, changes: object) => ({
  ...{ ...refundEventExamples.succeeded, ...ofOrder, ...sums },
  ...{ event, status: event.replace('refund.', ''), ...changes },
});
const dispute = (event: EventKind, changes: object) => ({
  ...{ ...disputeEventExamples.opened, ...ofOrder, ...sums },
  ...{ payment_currency: 'EUR', amount_disputed: 0, event, ...changes },
});
const lost = { status: 'lost', amount: 1000, amount_held: 1000, amount_disputed: 1000 };

/** By what an event makes of an order. `gone`: all of the payment's money has gone back. */
const events: Record<
  'paid' | 'unpaid' | 'gone' | 'nothing',
  [string, { event: EventKind; [field: string]: unknown }][]
> = {
  paid: [['payment.paid', { ...eventExamples.paid, ...ofOrder }]],
  unpaid: (['failed', 'cancelled', 'expired'] as const).map((status) => [
    `payment.${status}`,
    {
      ...{ ...eventExamples.failed, ...ofOrder, event: `payment.${status}`, status },
      failure_code: status === 'failed' ? 'card_declined' : null,
    },
  ]),
  gone: [
    ['refund.succeeded of all', refund('refund.succeeded', { amount_refunded: 1250 })],
    [
      'refund.succeeded of the rest',
      refund('refund.succeeded', { amount: 9, amount_refunded: 1250 }),
    ],
    [
      'dispute.closed, lost in another currency',
      dispute('dispute.closed', { ...lost, currency: 'USD', amount_disputed: 1250 }),
    ],
    [
      'dispute.closed, lost over what a refund has left',
      dispute('dispute.closed', { ...lost, amount_refunded: 250 }),
    ],
  ],
  nothing: [
    [
      'payment.failed with order_already_paid',
      { ...eventExamples.failed, ...ofOrder, failure_code: 'order_already_paid' },
    ],
    [
      'refund.created',
      refund('refund.created', { status: 'pending', amount_refund_pending: 1250 }),
    ],
    ['refund.succeeded of a part', refund('refund.succeeded', { amount_refunded: 1249 })],
    ['refund.failed', refund('refund.failed', { failure_code: 'unknown' })],
    ['dispute.opened', dispute('dispute.opened', { amount_disputed: 1250 })],
    ['dispute.updated', dispute('dispute.updated', { amount_disputed: 1250 })],
    ['dispute.closed, lost over a part', dispute('dispute.closed', lost)],
    ['dispute.closed, won', dispute('dispute.closed', { status: 'won' })],
    [
      'a kind of a later version',
      { ...eventExamples.paid, ...ofOrder, event: 'payment.won' as EventKind, status: 'won' },
    ],
    ['a test payment', { ...eventExamples.paid, ...ofOrder, test: true }],
    ['another amount', { ...eventExamples.paid, ...ofOrder, amount: 1 }],
    ['another currency', { ...eventExamples.paid, ...ofOrder, currency: 'IRR' }],
  ],
};

const becomes = (
  status: string,
  event: keyof typeof events,
  { isOwn, name }: { isOwn: boolean; name: string },
): string => {
  if (event === 'nothing') return status;
  if (event === 'gone') return waiting.includes(status) || isOwn ? 'refunded' : status;
  if (event === 'unpaid') return waiting.includes(status) ? name.replace('payment.', '') : status;
  const isBoughtAgain = status === 'refunded' && !isOwn;
  return waiting.includes(status) || isBoughtAgain ? 'paid' : status;
};

/** What every receiver makes of each event, for an order of each status, about the payment that it has and about another one. */
export const orderTransitions: readonly Transition[] = [...waiting, ...taken, 'refunded'].flatMap(
  (status) =>
    [own, other].flatMap((payment) =>
      (['paid', 'unpaid', 'gone', 'nothing'] as const).flatMap((group) =>
        events[group].map(([name, event]) => {
          const isOwn = payment === own;
          const id = `order-of-${status}-${isOwn ? 'own' : 'other'}-${name.replaceAll(/\W+/g, '-')}`;
          return {
            what: `${status}, then ${name} of ${isOwn ? 'its payment' : 'another payment'}`,
            order: { id, status, payment: status === 'pending' ? '' : own },
            event: { ...event, event_id: randomUUID(), order_id: id, payment_id: payment },
            becomes: becomes(status, group, { isOwn, name }),
          };
        }),
      ),
    ),
);
