import { z } from 'zod';
import type { DisputeStage, DisputeStatus, KnownDispute } from '../contract/dispute.ts';
import { fromWire } from './amount.ts';
import type { HttpResponse } from './call.ts';
import { parseResponse } from './call.ts';
import { GatewayUnavailable } from './errors.ts';
import type { Driver, Notification } from './gateway.ts';
import { providerMessage } from './redact.ts';
import { stripeCurrencies } from './stripe-currencies.ts';
import { IntentId } from './stripe-responses.ts';

/** Source: `Dispute.Status` of stripe-node. */
const states: Readonly<Record<string, readonly [DisputeStage, DisputeStatus]>> = {
  warning_needs_response: ['inquiry', 'needs_response'],
  warning_under_review: ['inquiry', 'under_review'],
  warning_closed: ['inquiry', 'closed'],
  needs_response: ['chargeback', 'needs_response'],
  under_review: ['chargeback', 'under_review'],
  won: ['chargeback', 'won'],
  lost: ['chargeback', 'lost'],
  prevented: ['chargeback', 'closed'],
};

const Dispute = z.object({
  id: z.string().regex(/^[a-z]{2,5}_[A-Za-z0-9_]{1,200}$/),
  amount: z.int().positive(),
  currency: z.string().regex(/^[a-z]{3}$/),
  created: z.int().positive(),
  payment_intent: z.string().nullish(),
  reason: z.string().nullish(),
  network_reason_code: z.string().nullish(),
  status: z.string(),
  evidence_details: z
    .object({ due_by: z.int().nullish(), past_due: z.boolean().nullish() })
    .nullish(),
});
const List = z.object({ data: z.array(Dispute), has_more: z.boolean() });
const EventDispute = z.object({ payment_intent: IntentId });

/** A card payment has few disputes: one page is all. */
export const disputesPath = (intent: string): string =>
  `/v1/disputes?${new URLSearchParams({ payment_intent: intent, limit: '100' }).toString()}`;

/** Stripe's dashboard has the tests under a path of their own. */
export const disputeUrl: NonNullable<Driver['disputeUrl']> = ({ gatewayReference, gatewayKind }) =>
  `https://dashboard.stripe.com/${gatewayKind === 'live' ? '' : 'test/'}disputes/${gatewayReference}`;

/** @throws GatewayUnavailable for an answer that cannot be used */
export const parseDisputes = (response: HttpResponse, intent: string): KnownDispute[] => {
  const name = 'stripe, disputes';
  if (response.status !== 200)
    throw new GatewayUnavailable(`${name}: unexpected response, HTTP ${response.status}`);
  const { data, has_more: hasMore } = parseResponse(List, response, name);
  if (hasMore) throw new GatewayUnavailable(`${name}: the list is too long`);
  if (data.some((dispute) => dispute.payment_intent !== intent))
    throw new GatewayUnavailable(`${name}: the response is about another payment`);
  return data.map(toKnown);
};

/** The message has the dispute, but whoever asks later gets a newer one. */
export const parseDisputeEvent = (object: unknown): Notification => {
  const dispute = EventDispute.safeParse(object).data;
  return dispute
    ? { result: 'dispute_changed', trackingCode: dispute.payment_intent }
    : { result: 'ignored' };
};

const toKnown = (dispute: z.output<typeof Dispute>): KnownDispute => {
  const known = states[dispute.status];
  // Stripe may ask for an answer by then, whatever the status means.
  const [stage, status] = known ?? (['chargeback', 'needs_response'] as const);
  const currency = dispute.currency.toUpperCase();
  const { due_by: dueBy, past_due: isPastDue } = dispute.evidence_details ?? {};
  const text = (of: string | null | undefined) => providerMessage(of ?? null, null).code;
  return {
    gatewayReference: dispute.id,
    stage,
    status,
    amount: fromWire({ currencies: stripeCurrencies }, { amount: dispute.amount, currency }),
    currency,
    reason: text(dispute.reason),
    networkReason: text(dispute.network_reason_code),
    // 0: no answer is possible.
    respondBy: status === 'needs_response' && dueBy && !isPastDue ? new Date(dueBy * 1000) : null,
    openedAt: new Date(dispute.created * 1000),
    ...(!known && { unknownStatus: text(dispute.status) ?? 'unknown' }),
  };
};
