import { z } from 'zod';
import type { FailureCode } from '../contract/failure-codes.ts';
import type { HttpResponse } from './call.ts';
import { parseResponse } from './call.ts';
import { AccountProblem, GatewayUnavailable } from './errors.ts';
import type { Account, GatewayStatus, KnownRefund } from './gateway.ts';
import { toMinor } from './mollie-currencies.ts';
import { failed } from './redact.ts';

/* Source of the formats: Mollie's OpenAPI document, github.com/mollie/openapi at cfbba47b. */

export const Amount = z.object({ value: z.string(), currency: z.string().regex(/^[A-Z]{3}$/) });
export const Time = z.iso.datetime({ offset: true }).transform((text) => new Date(text));
const PaymentId = z.string().regex(/^tr_[A-Za-z0-9]{1,100}$/);
/** Any value, where a payment or a refund was made elsewhere. */
export const Metadata = z
  .object({ payment_id: z.string().nullish(), refund_id: z.string().nullish() })
  .nullish()
  .catch(null);

export const Mode = z.enum(['test', 'live']);
const Payment = z.object({
  id: PaymentId,
  mode: Mode,
  status: z.enum(['open', 'pending', 'authorized', 'paid', 'canceled', 'expired', 'failed']),
  amount: Amount,
  metadata: Metadata,
  details: z
    .object({
      failureReason: z.string().nullish(),
      failureMessage: z.string().nullish(),
    })
    .nullish(),
  _links: z.object({ checkout: z.object({ href: z.url() }).nullish() }),
});
export type Payment = z.output<typeof Payment>;

export const Problem = z.object({
  title: z.string(),
  detail: z.string(),
  field: z.string().nullish(),
});

type Kind = Account['kind'];
export const modeOf = (kind: Kind) => (kind === 'sandbox' ? 'test' : 'live');

interface OfMode {
  mode: z.output<typeof Mode>;
}

/** Test money never counts as live, nor the other way round. */
export const isOfKind = (kind: Kind, { mode }: OfMode): boolean => mode === modeOf(kind);

/** @throws AccountProblem */
export const checkMode = (kind: Kind, answer: OfMode): void => {
  if (!isOfKind(kind, answer))
    throw new AccountProblem(`Mollie's answer does not belong to a ${kind} account`);
};
/** @throws GatewayUnavailable for an answer that is not about this payment */
export const parsePayment = (
  response: HttpResponse,
  operation: string,
  of: { id: string; reference?: string },
): Payment => {
  const payment = parseResponse(Payment, response, `mollie, ${operation}`);
  const ours = payment.metadata?.payment_id;
  const isAbout = (of.reference ?? payment.id) === payment.id && (!ours || ours === of.id);
  if (!isAbout)
    throw new GatewayUnavailable(`mollie, ${operation}: the response is about another payment`);
  return payment;
};

/**
 * A page of a list. `next` leads to the following one: Mollie's link is an address, of which only the position is taken.
 * @throws GatewayUnavailable for an answer that cannot be used
 */
export const parseList = <Item extends z.ZodType>(
  response: HttpResponse,
  { item, name }: { item: Item; name: string },
): { items: z.output<Item>[]; next: string | null } => {
  if (response.status !== 200)
    throw new GatewayUnavailable(`mollie, ${name}: unexpected response, HTTP ${response.status}`);
  const List = z.object({
    _embedded: z.object({ [name]: z.array(item) }),
    _links: z.object({ next: z.object({ href: z.url() }).nullish() }),
  });
  const { _embedded: embedded, _links: links } = parseResponse(List, response, `mollie, ${name}`);
  const next = links.next ? new URL(links.next.href).searchParams.get('from') : null;
  const items = embedded[name] ?? [];
  if (links.next && (next === null || items.length === 0))
    throw new GatewayUnavailable(`mollie, ${name}: the following page cannot be found`);
  return { items, next };
};

/** `details.failureReason` of cards. Source: `payment-details-failure-reason` of the OpenAPI document. */
const failures: Partial<Record<string, FailureCode>> = {
  authentication_abandoned: 'authentication_failed',
  authentication_failed: 'authentication_failed',
  authentication_required: 'authentication_failed',
  authentication_unavailable_acs: 'issuer_unavailable',
  card_declined: 'card_declined',
  card_expired: 'expired_card',
  inactive_card: 'card_not_supported',
  insufficient_funds: 'insufficient_funds',
  invalid_cvv: 'authentication_failed',
  invalid_card_holder_name: 'invalid_card',
  invalid_card_number: 'invalid_card',
  invalid_card_type: 'card_not_supported',
  possible_fraud: 'suspected_fraud',
  refused_by_issuer: 'card_declined',
};

/** Only cards have a reason. Without one, the payer did not complete the payment. */
const toFailureCode = (reason: string | null): FailureCode =>
  reason === null ? 'payment_not_completed' : (failures[reason] ?? 'unknown');

/** @param refunds of the payment, whose status stays `paid` whatever was given back */
export const toStatus = (payment: Payment, refunds: readonly KnownRefund[]): GatewayStatus => {
  const { id, status, details } = payment;
  switch (status) {
    case 'open':
      return { state: 'waiting' };
    // The money is reserved: Mollie captures it by itself, since we ask for no `captureMode`, or a person does at its
    // dashboard. It ends as `paid`, `canceled` or `expired`. Only then is there money, so nothing is to be delivered before.
    case 'authorized':
    case 'pending':
      return { state: 'processing' };
    case 'canceled':
      return { state: 'cancelled' };
    case 'expired':
      return { state: 'expired' };
    case 'failed': {
      const reason = details?.failureReason ?? null;
      return failed(toFailureCode(reason), reason, details?.failureMessage);
    }
    case 'paid':
      return toPaidStatus(id, payment.amount, refunds);
  }
};

const toPaidStatus = (
  id: string,
  paid: z.output<typeof Amount>,
  refunds: readonly KnownRefund[],
): GatewayStatus => {
  const amount = toMinor(paid);
  const given = (isCounted: (refund: KnownRefund) => boolean) =>
    refunds.filter(isCounted).reduce((sum, refund) => sum + refund.amount, 0);
  // Only a refund that succeeded has returned the money; one that fails leaves it with us.
  if (given(({ state }) => state === 'succeeded') >= amount)
    return { ...failed('payment_reversed', 'refunded'), trackingCode: id };
  if (given(({ state }) => state !== 'failed') >= amount) return { state: 'processing' };
  return {
    state: 'paid',
    amount,
    currency: paid.currency,
    trackingCode: id,
    // Mollie sends the last four digits only.
    cardPanMasked: null,
  };
};
