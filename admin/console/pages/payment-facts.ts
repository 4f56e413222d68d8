import { formatMoney } from '../../../contract/money.ts';
import { paymentFacts } from '../../operations/facts.ts';
import type { PaymentRecord } from '../../../postgres/admin-payments.ts';
import { html } from 'hono/html';
import { codedState, idLink, link, modeTag, type Row } from '../html.ts';

/** The gateway may hold money of it, and nobody has looked yet. */
export const isInDoubt = ({ latePaymentResult, latePaymentCheckedAt }: PaymentRecord): boolean =>
  latePaymentResult === 'by_hand' && latePaymentCheckedAt === null;

/** The facts that a person signs for who changes a payment. */
export const paymentCells = (payment: PaymentRecord): Row => {
  const facts = paymentFacts(payment);
  return {
    Amount: formatMoney(payment),
    Status: codedState('status', payment.status),
    Payment: idLink(`/payments/${payment.id}`, payment.id),
    Order: payment.orderId,
    Application: html`${link(`/applications/${payment.application}`, payment.application)}
    ${modeTag(payment.test)}`,
    Description: facts.Description,
    Gateway: facts.Gateway,
    'Gateway reference': facts['Gateway reference'],
    Card: facts.Card,
    Created: facts.Created,
    Refunded: facts.Refunded,
    'Refund pending': facts['Refund pending'],
  };
};
