import { z } from 'zod';
import type { RefundFailureCode } from '../contract/refund-failure-codes.ts';
import type { HttpResponse } from './call.ts';
import { escapedPath, parseResponse } from './call.ts';
import { GatewayUnavailable } from './errors.ts';
import type { Account, KnownRefund, RefundAnswer } from './gateway.ts';
import { toMinor } from './mollie-currencies.ts';
import { Amount, checkMode, Metadata, Mode, parseList, Problem, Time } from './mollie-responses.ts';
import { providerMessage } from './redact.ts';

const Refund = z.object({
  id: z.string().regex(/^re_[A-Za-z0-9]{1,100}$/),
  mode: Mode,
  amount: Amount,
  status: z.enum(['queued', 'pending', 'processing', 'refunded', 'failed', 'canceled']),
  createdAt: Time,
  metadata: Metadata,
  paymentId: z.string(),
  externalReference: z.object({ id: z.string().nullish() }).nullish(),
});
type Refund = z.output<typeof Refund>;

/** Source: "Refunds" of docs.mollie.com. */
const states: Record<Refund['status'], KnownRefund['state']> = {
  queued: 'waiting_for_balance',
  pending: 'pending',
  processing: 'pending',
  refunded: 'succeeded',
  // After the bank got it, as for an account that was closed. The money is on the balance again.
  failed: 'failed',
  canceled: 'failed',
};

interface Of {
  kind: Account['kind'];
  reference: string;
}

export const refundsPath = (reference: string): string =>
  escapedPath`/v2/payments/${reference}/refunds`;

/** @throws GatewayUnavailable unless Mollie takes the refund on, or certainly refuses it */
export const parseRefund = (response: HttpResponse, of: Of): RefundAnswer => {
  if (response.status !== 201) return parseRefusal(response);
  const refund = parseResponse(Refund, response, 'mollie, refund');
  return { result: 'accepted', refund: toKnown(refund, of) };
};

/**
 * The amount is all that a person may have to change, and the answers about any other field are no outcome. Nor is 409: Mollie
 * answers so to a second equal refund within a short time, and while a request with the same key is running. Source: the
 * statuses of `create-refund` in the OpenAPI document, and "API idempotency" of docs.mollie.com.
 */
const refusalOf = (status: number, field: string | null | undefined) => {
  if (status === 401 || status === 403) return 'merchant_configuration';
  return status === 422 && isAboutAmount(field) ? 'not_refundable' : undefined;
};

/** A refusal names the field that it is about. */
export const isAboutAmount = (field: string | null | undefined): boolean =>
  field === 'amount' || field === 'amount.value';

const parseRefusal = (response: HttpResponse): RefundAnswer => {
  const { status } = response;
  const { title, detail, field } = parseResponse(Problem, response, 'mollie, refund');
  const failureCode: RefundFailureCode | undefined = refusalOf(status, field);
  if (!failureCode)
    throw new GatewayUnavailable(`mollie, refund: unexpected response, HTTP ${status}`);
  return { result: 'refused', failureCode, ...providerMessage(field ?? title, detail) };
};

/** A page of the refunds of a payment. @throws GatewayUnavailable for an answer that cannot be used */
export const parseRefunds = (
  response: HttpResponse,
  of: Of,
): { refunds: KnownRefund[]; next: string | null } => {
  const { items, next } = parseList(response, { item: Refund, name: 'refunds' });
  return { refunds: items.map((refund) => toKnown(refund, of)), next };
};

const toKnown = (refund: Refund, { kind, reference }: Of): KnownRefund => {
  checkMode(kind, refund);
  if (refund.paymentId !== reference)
    throw new GatewayUnavailable('mollie, refund: the response is about another payment');
  const { status, metadata, amount } = refund;
  const isFailed = states[status] === 'failed';
  return {
    reference: refund.id,
    refundId: metadata?.refund_id ?? null,
    amount: toMinor(amount),
    currency: amount.currency,
    state: states[status],
    failureCode: isFailed ? (status === 'canceled' ? 'cancelled' : 'returned_by_bank') : null,
    ...providerMessage(isFailed ? status : null, null),
    bankReference: refund.externalReference?.id ?? null,
    expectedAt: null,
    createdAt: refund.createdAt,
  };
};
