import { z } from 'zod';
import type { KnownPayout, PayoutStatus } from '../contract/payout.ts';
import type { HttpResponse } from './call.ts';
import { escapedPath, parseResponse } from './call.ts';
import { GatewayUnavailable } from './errors.ts';
import { toMinor } from './mollie-currencies.ts';
import { Amount, Time } from './mollie-responses.ts';
import { accountText } from './redact.ts';

const Settlement = z.object({
  id: z.string(),
  status: z.enum(['open', 'pending', 'processing-at-bank', 'paidout', 'failed']),
  amount: Amount,
  createdAt: Time,
  settledAt: Time.nullish(),
  reference: z.string().nullish(),
});

const states: Record<z.output<typeof Settlement>['status'], PayoutStatus> = {
  open: 'on_its_way',
  pending: 'on_its_way',
  'processing-at-bank': 'on_its_way',
  paidout: 'paid',
  failed: 'failed',
};

export const settlementPath = (id: string): string => escapedPath`/v2/settlements/${id}`;

/** Mollie calls a payout a settlement. @throws GatewayUnavailable for an answer that cannot be used */
export const parseSettlement = (response: HttpResponse, id: string): KnownPayout => {
  const name = 'mollie, settlement';
  if (response.status !== 200)
    throw new GatewayUnavailable(`${name}: unexpected response, HTTP ${response.status}`);
  const settlement = parseResponse(Settlement, response, name);
  if (settlement.id !== id)
    throw new GatewayUnavailable(`${name}: the response is about another one`);
  return {
    amount: Math.round(toMinor(settlement.amount)),
    currency: settlement.amount.currency,
    status: states[settlement.status],
    createdAt: settlement.createdAt,
    arrivesOn: settlement.settledAt?.toISOString().slice(0, 10) ?? null,
    descriptor: null,
    bankReference: accountText(settlement.reference),
    // Its lists have payments and refunds, and none of the ids that the transactions of the balance have.
    lines: 'never',
  };
};
