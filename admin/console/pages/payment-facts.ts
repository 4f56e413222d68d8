import { formatMoney } from '../../../contract/money.ts';
import { byLabel, pick } from '../../operations/fact.ts';
import { paymentFacts } from '../../operations/facts.ts';
import type { PaymentRecord } from '../../../postgres/admin-payments.ts';
import { html } from 'hono/html';
import { codedState, idLink, link, modeTag, type Row } from '../html.ts';

/** The gateway may hold money of it, and nobody has looked yet. */
export const isInDoubt = ({ latePaymentResult, latePaymentCheckedAt }: PaymentRecord): boolean =>
  latePaymentResult === 'by_hand' && latePaymentCheckedAt === null;

/** The facts that a person signs for who changes a payment. */
export const paymentCells = (payment: PaymentRecord): Row => ({
    Amount: formatMoney(payment),
    Status: codedState('status', payment.status),
    Payment: idLink(`/payments/${payment.id}`, payment.id),
    Order: payment.orderId,
    Application: html`${link(`/applications/${payment.application}`, payment.application)}
    ${modeTag(payment.test)}`,
    ...byLabel(
      pick(
        paymentFacts(payment),
        ...(['description', 'gateway', 'gatewayReference', 'card'] as const),
        ...(['created', 'refunded', 'refundPending'] as const),
      ),
    ),
});
