import { DisputeEventBody } from '../../contract/dispute-event-schema.ts';
import type { DisputeResponse } from '../../contract/dispute-responses.ts';
import { disputeEventId } from '../../contract/ids.ts';
import { paymentExamples } from '../payments/payment-examples.ts';

const { payment_id, application, order_id, gateway, test, amount, currency } = paymentExamples.paid;

const chargeback: DisputeResponse = {
  dispute_id: 'DISPUTE_5C8R1XKQ0ZJ7W3N6VYH2B4MTGD',
  payment_id,
  application,
  order_id,
  gateway,
  test,
  stage: 'chargeback',
  status: 'needs_response',
  amount,
  amount_held: amount,
  currency,
  reason: 'fraudulent',
  network_reason: '10.4',
  respond_by: '2026-12-06T23:59:59.000+00:00',
  opened_at: '2026-11-27T09:31:12.000+00:00',
  closed_at: null,
  updated_at: '2026-11-27T09:31:40.118+00:00',
};

export const disputeExamples = {
  chargeback,
  won: {
    ...chargeback,
    status: 'won',
    amount_held: 0,
    respond_by: null,
    closed_at: '2026-12-20T06:02:11.459+00:00',
    updated_at: '2026-12-20T06:02:11.459+00:00',
  },
} satisfies Record<string, DisputeResponse>;

/** The schema picks the fields of an event and their order. */
export const disputeEventExamples = {
  opened: DisputeEventBody.parse({
    ...paymentExamples.paid,
    ...chargeback,
    event: 'dispute.opened',
    event_id: disputeEventId(chargeback.dispute_id, 1, 'dispute.opened'),
    created_at: chargeback.updated_at,
    sequence: 1,
    payment_amount: amount,
    payment_currency: currency,
    amount_disputed: amount,
  }),
} satisfies Record<string, DisputeEventBody>;
