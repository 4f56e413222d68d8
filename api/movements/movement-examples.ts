import type { MovementResponse } from '../../contract/movement-responses.ts';
import { paymentExamples } from '../payments/payment-examples.ts';
import { refundExamples } from '../refunds/refund-examples.ts';

const { payment_id, application, order_id, gateway, amount, currency, test } = paymentExamples.paid;
const { refund_id, amount: refunded } = refundExamples.succeeded;

const payment: MovementResponse = {
  movement_id: `payment:${payment_id}`,
  kind: 'payment',
  payment_id,
  refund_id: null,
  application,
  order_id,
  gateway,
  reference: 'SBX6f1d0c5e9b7a4f2d8c3e5a71',
  amount,
  currency,
  test,
  day: '2026-11-20',
  earlier_day: null,
  occurred_at: '2026-11-20T10:44:02.518+00:00',
  recorded_at: '2026-11-20T10:44:02.518+00:00',
};

export const movementExamples = {
  payment,
  refund: {
    ...payment,
    movement_id: `refund:${refund_id}`,
    kind: 'refund',
    refund_id,
    reference: 'SBXR0c5e9b7a4f2d8c3e5a716f1d',
    amount: -refunded,
    day: '2026-11-21',
    occurred_at: '2026-11-21T08:15:01.733+00:00',
    recorded_at: '2026-11-21T08:15:01.733+00:00',
  },
} satisfies Record<string, MovementResponse>;
