import { z } from 'zod';
import type { KnownDispute } from '../contract/dispute.ts';
import type { HttpResponse } from './call.ts';
import { escapedPath } from './call.ts';
import { GatewayUnavailable } from './errors.ts';
import { toMinor } from './mollie-currencies.ts';
import { Amount, parseList, Time } from './mollie-responses.ts';
import { providerMessage } from './redact.ts';

/** It has no mode: the payment has it. */
const Chargeback = z.object({
  id: z.string().regex(/^chb_[A-Za-z0-9]{1,100}$/),
  amount: Amount,
  // Only of a direct debit.
  reason: z.object({ code: z.string().nullish() }).nullish(),
  paymentId: z.string(),
  createdAt: Time,
  reversedAt: Time.nullish(),
});

/** A payment has few chargebacks: one page is all. */
export const chargebacksPath = (reference: string): string =>
  `${escapedPath`/v2/payments/${reference}/chargebacks`}?limit=250`;

/** @throws GatewayUnavailable for an answer that cannot be used */
export const parseChargebacks = (response: HttpResponse, reference: string): KnownDispute[] => {
  const { items, next } = parseList(response, { item: Chargeback, name: 'chargebacks' });
  if (next !== null) throw new GatewayUnavailable('mollie, chargebacks: the list is too long');
  if (items.some(({ paymentId }) => paymentId !== reference))
    throw new GatewayUnavailable('mollie, chargebacks: the response is about another payment');
  return items.map(toKnown);
};

const toKnown = (chargeback: z.output<typeof Chargeback>): KnownDispute => ({
  gatewayReference: chargeback.id,
  stage: 'chargeback',
  // Mollie knows no state between: the money is gone at once, until a reversal brings it back.
  status: chargeback.reversedAt ? 'won' : 'lost',
  amount: toMinor(chargeback.amount),
  currency: chargeback.amount.currency,
  reason: providerMessage(chargeback.reason?.code, null).code,
  networkReason: null,
  respondBy: null,
  openedAt: chargeback.createdAt,
});
