import type { FailureCode } from './failure-codes.ts';
import { failureReasonOf } from './failure-codes.ts';
import { formatObject } from './json-text.ts';
import type { Status } from './status.ts';
import { isTerminal } from './status.ts';
import { isoTime } from './time.ts';

/** A payment as the service keeps it. Amount in minor units of the currency. */
export interface Payment {
  id: string;
  application: string;
  orderId: string;
  status: Status;
  amount: number;
  currency: string;
  gateway: string;
  description: string | null;
  callbackUrl: string;
  /** The JSON text that was sent, kept to the letter. */
  metadata: string;
  test: boolean;
  trackingCode: string | null;
  cardPanMasked: string | null;
  paidAt: Date | null;
  failureCode: FailureCode | null;
  expiresAt: Date;
  createdAt: Date;
  updatedAt: Date;
}

/** What starting a payment's workflow takes. */
export type WorkflowStart = Pick<
  Payment,
  'id' | 'application' | 'orderId' | 'amount' | 'currency' | 'gateway' | 'expiresAt'
>;

/** Where the gateway wants the payer's browser: a link, or a form that submits itself. */
export type Redirect =
  { method: 'GET'; url: string } | { method: 'POST'; url: string; fields: Record<string, string> };

/** Where a payer begins; null once the payment has ended. */
export const checkoutUrlOf = (payment: Payment, publicBaseUrl: string): string | null =>
  isTerminal(payment.status) ? null : `${publicBaseUrl}/api/v1/payments/${payment.id}/checkout`;

/** The payment as JSON text, contract section 3: fields in that order, metadata as it was sent. */
export const presentPayment = (payment: Payment, publicBaseUrl: string): string =>
  formatObject({
    payment_id: payment.id,
    application: payment.application,
    order_id: payment.orderId,
    status: payment.status,
    amount: payment.amount,
    currency: payment.currency,
    gateway: payment.gateway,
    description: payment.description,
    checkout_url: checkoutUrlOf(payment, publicBaseUrl),
    callback_url: payment.callbackUrl,
    tracking_code: payment.trackingCode,
    card_pan_masked: payment.cardPanMasked,
    paid_at: payment.paidAt && isoTime(payment.paidAt),
    failure_code: payment.failureCode,
    failure_reason: payment.failureCode && failureReasonOf(payment.failureCode),
    test: payment.test,
    metadata: { jsonText: payment.metadata },
    expires_at: isoTime(payment.expiresAt),
    created_at: isoTime(payment.createdAt),
    updated_at: isoTime(payment.updatedAt),
  });
