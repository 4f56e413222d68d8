import { z } from 'zod';
import type { RefundFailureCode } from '../contract/refund-failure-codes.ts';
import { fromWire } from './amount.ts';
import type { HttpResponse } from './call.ts';
import { parseResponse } from './call.ts';
import { GatewayUnavailable } from './errors.ts';
import type { KnownRefund, Notification, RefundAnswer } from './gateway.ts';
import { providerMessage } from './redact.ts';
import { stripeCurrencies } from './stripe-currencies.ts';
import { IntentId, Refusal, refundStatuses } from './stripe-responses.ts';

const Metadata = z.record(z.string(), z.string()).nullish();
const Refund = z.object({
  id: z.string().regex(/^[a-z]{2,5}_[A-Za-z0-9_]{1,200}$/),
  amount: z.int().positive(),
  currency: z.string().regex(/^[a-z]{3}$/),
  created: z.int().positive(),
  metadata: Metadata,
  payment_intent: z.string().nullish(),
  status: z.enum(refundStatuses),
  pending_reason: z.string().nullish(),
  failure_reason: z.string().nullish(),
  destination_details: z
    .object({ card: z.object({ reference: z.string().nullish() }).nullish() })
    .nullish(),
});
const List = z.object({ data: z.array(Refund), has_more: z.boolean() });
const EventRefund = z.object({
  id: Refund.shape.id,
  payment_intent: IntentId,
  metadata: Metadata,
});

/** The failure reasons of a refund that Stripe accepted. */
const failureReasons: Record<string, RefundFailureCode> = {
  insufficient_funds: 'insufficient_balance',
  charge_for_pending_refund_disputed: 'disputed',
  lost_or_stolen_card: 'returned_by_bank',
  expired_or_canceled_card: 'returned_by_bank',
  declined: 'gateway_refused',
  merchant_request: 'cancelled',
};

/**
 * The error codes with which Stripe certainly gives nothing back. Any other code is no outcome. Source:
 * https://docs.stripe.com/error-codes.
 */
const refusals: Record<string, RefundFailureCode> = {
  charge_already_refunded: 'already_refunded',
  charge_disputed: 'disputed',
  refund_disputed_payment: 'disputed',
  charge_not_refundable: 'not_refundable',
  balance_insufficient: 'insufficient_balance',
  insufficient_funds: 'insufficient_balance',
  amount_too_small: 'not_refundable',
  amount_too_large: 'not_refundable',
};

/** @throws GatewayUnavailable unless Stripe takes the refund on, or certainly refuses it */
export const parseRefund = (response: HttpResponse, intent: string): RefundAnswer => {
  if (response.status !== 200) return parseRefundRefusal(response);
  const refund = parseResponse(Refund, response, 'stripe, refund');
  if (refund.payment_intent !== intent)
    throw new GatewayUnavailable('stripe, refund: the response is about another payment');
  return { result: 'accepted', refund: toKnown(refund) };
};

/** @throws GatewayUnavailable unless Stripe certainly refuses the refund */
export const parseRefundRefusal = (response: HttpResponse) => {
  const { status } = response;
  const { error } = parseResponse(Refusal, response, 'stripe, refund');
  const failureCode = refusalOf(status, error);
  if (!failureCode)
    throw new GatewayUnavailable(`stripe, refund: unexpected response, HTTP ${status}`);
  return {
    result: 'refused',
    failureCode,
    ...providerMessage(error.code ?? error.type, error.message),
  } as const;
};

/** Undefined for what is no outcome, as 409: a request with the same key is running. */
const refusalOf = (
  status: number,
  { type, code, param }: z.output<typeof Refusal>['error'],
): RefundFailureCode | undefined => {
  // The key is wrong, or lacks the right. Source: https://docs.stripe.com/api/errors.
  if (status === 401 || status === 403) return 'merchant_configuration';
  if (status !== 400 || type !== 'invalid_request_error') return undefined;
  // An amount over the rest has no code. Source: answers that several public clients have stored.
  if (!code) return param === 'amount' ? 'not_refundable' : undefined;
  return refusals[code];
};

/**
 * A page of the refunds of an intent. `next` leads to the following one; null: this is the last.
 * @throws GatewayUnavailable for an answer that cannot be used
 */
export const parseRefunds = (
  response: HttpResponse,
  intent: string,
): { refunds: KnownRefund[]; next: string | null } => {
  if (response.status !== 200)
    throw new GatewayUnavailable(`stripe, refunds: unexpected response, HTTP ${response.status}`);
  const { data, has_more: hasMore } = parseResponse(List, response, 'stripe, refunds');
  if (data.some((refund) => refund.payment_intent !== intent))
    throw new GatewayUnavailable('stripe, refunds: the response is about another payment');
  const last = data.at(-1)?.id;
  if (hasMore && last === undefined)
    throw new GatewayUnavailable('stripe, refunds: an empty page that another one follows');
  return { refunds: data.map(toKnown), next: hasMore ? (last ?? null) : null };
};

/** A refund of the dashboard has no metadata of ours, so only its payment intent leads to the payment. */
export const parseRefundEvent = (object: unknown): Notification => {
  const refund = EventRefund.safeParse(object).data;
  if (!refund) return { result: 'ignored' };
  const { id: reference, payment_intent: trackingCode, metadata } = refund;
  return {
    result: 'refund_changed',
    trackingCode,
    reference,
    refundId: metadata?.['refund_id'] ?? null,
  };
};

const toKnown = (refund: z.output<typeof Refund>): KnownRefund => {
  const { status, failure_reason: reason, metadata, destination_details: destination } = refund;
  const currency = refund.currency.toUpperCase();
  const isFailed = status === 'failed' || status === 'canceled';
  return {
    reference: refund.id,
    refundId: metadata?.['refund_id'] ?? null,
    amount: fromWire({ currencies: stripeCurrencies }, { amount: refund.amount, currency }),
    currency,
    state: stateOf(refund),
    failureCode: isFailed
      ? (failureReasons[reason ?? ''] ?? (status === 'canceled' ? 'cancelled' : 'unknown'))
      : null,
    ...providerMessage(isFailed ? (reason ?? status) : null, null),
    bankReference: destination?.card?.reference ?? null,
    expectedAt: null,
    createdAt: new Date(refund.created * 1000),
  };
};

const stateOf = ({
  status,
  pending_reason: reason,
}: z.output<typeof Refund>): KnownRefund['state'] => {
  switch (status) {
    case 'succeeded':
      return 'succeeded';
    case 'failed':
    case 'canceled':
      return 'failed';
    case 'pending':
    case 'requires_action':
      return reason === 'insufficient_funds' ? 'waiting_for_balance' : 'pending';
  }
};
