import type { Payment, PaymentField, Refundable } from './payment-fields.ts';
import { notRefundable, paymentFields } from './payment-fields.ts';

export type { Payment } from './payment-fields.ts';

export const workflowStartFields = [
  'id',
  'application',
  'orderId',
  'amount',
  'currency',
  'gateway',
  'expiresAt',
] as const;
/** The part of a payment that starting its workflow needs. */
export type WorkflowStart = Pick<Payment, (typeof workflowStartFields)[number]> & {
  /** The event to deliver is that of a refund, whose workflow is started instead. */
  refundId?: string | null;
  refundAmount?: number | null;
  /** The event to deliver is that of a dispute or a link, which has a workflow of its own. */
  ownEventId?: string | null;
};

/** The input for starting the workflow of a dispute's or a link's event. The id is the payment's, or the link's without one. */
export type EventStart = Pick<WorkflowStart, 'id' | 'application' | 'orderId'> & {
  refundId?: null;
  ownEventId: string;
};

/** The input for starting the workflow of a refund. The id is the payment's. */
export type RefundStart = Pick<WorkflowStart, 'id' | 'application' | 'orderId'> & {
  refundId: string;
  /** Unknown while only the gateway has the refund. */
  refundAmount?: number | null;
  currency?: string;
};

/** The way of the payer's browser to the gateway: a link, or a form that submits itself. */
export type Redirect =
  { method: 'GET'; url: string } | { method: 'POST'; url: string; fields: Record<string, string> };

// The keys are the list's own.
const fieldNames = Object.keys(paymentFields) as PaymentField[];

/**
 * The JSON of a payment in the API: all fields in their order.
 * @param refundable by default nothing, which is true of every payment that is not paid
 */
export const presentPayment = (
  payment: Payment,
  publicBaseUrl: string,
  refundable: Refundable = notRefundable,
): string => {
  const members = fieldNames.map(
    (name) => `"${name}":${paymentFields[name].toJson(payment, publicBaseUrl, refundable)}`,
  );
  return `{${members.join()}}`;
};

/** The JSON of a payment in the response of its create, with the fields of the payer that nobody can use. */
export const presentCreated = (
  payment: Payment,
  { publicBaseUrl, payerIgnored }: { publicBaseUrl: string; payerIgnored: readonly string[] },
): string => {
  const json = presentPayment(payment, publicBaseUrl);
  if (payerIgnored.length === 0) return json;
  return `${json.slice(0, -1)},"payer_ignored":${JSON.stringify(payerIgnored)}}`;
};
