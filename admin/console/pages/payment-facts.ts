import { html } from 'hono/html';
import { formatMoney } from '../../../contract/money.ts';
import { byLabel, pick } from '../../operations/fact.ts';
import { paymentFacts } from '../../operations/facts.ts';
import { labelOf } from '../../operations/labels.ts';
import type { PaymentRecord, PaymentRow } from '../../../postgres/admin/payments.ts';
import { codedState, type Html, idLink, type Row } from '../html.ts';
import { applicationOf } from '../thing-page.ts';

/** Tells real money from fake: that of a live token may be fake, too. */
export const moneyTag = ({ test, gatewayKind }: Pick<PaymentRow, 'test' | 'gatewayKind'>): Html =>
  html`<span class="tag">${test ? labelOf('mode', 'test') : labelOf('gateway', gatewayKind)}</span>`;

const signedFor = [
  ...(['description', 'gateway', 'gatewayReference', 'card', 'created'] as const),
  ...(['refunded', 'refundPending'] as const),
];

/** The facts that a person signs for who changes a payment. */
export const paymentCells = (payment: PaymentRecord): Row => ({
  Amount: formatMoney(payment),
  Status: codedState('status', payment.status),
  Payment: idLink(`/payments/${payment.id}`, payment.id),
  Order: payment.orderId,
  Application: applicationOf(payment),
  ...byLabel(pick(paymentFacts(payment), ...signedFor)),
});
