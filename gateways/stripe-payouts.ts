import { z } from 'zod';
import type { KnownPayout, PayoutStatus } from '../contract/payout.ts';
import type { HttpResponse } from './call.ts';
import { escapedPath, parseResponse } from './call.ts';
import { GatewayUnavailable } from './errors.ts';
import { accountText } from './redact.ts';
import { toMinor } from './stripe-book.ts';

/** Source: `Payout` of stripe-node. */
const states: Readonly<Record<string, PayoutStatus>> = {
  pending: 'on_its_way',
  in_transit: 'on_its_way',
  paid: 'paid',
  failed: 'failed',
  canceled: 'cancelled',
};

const Payout = z.object({
  id: z.string(),
  amount: z.int(),
  currency: z.string().regex(/^[a-z]{3}$/),
  created: z.int().positive(),
  arrival_date: z.int().positive().nullish(),
  automatic: z.boolean(),
  reconciliation_status: z.string().nullish(),
  statement_descriptor: z.string().nullish(),
  status: z.string(),
  trace_id: z.object({ value: z.string().nullish() }).nullish(),
});
const List = z.object({
  data: z.array(z.object({ id: z.string() })),
  has_more: z.boolean(),
});

export const payoutPath = (id: string): string => escapedPath`/v1/payouts/${id}`;

/** The path of a page of what the payout has paid out, which includes the payout itself. */
export const payoutLinesPath = (id: string, after: string | null): string => {
  const query = new URLSearchParams({ payout: id, limit: '100' });
  if (after !== null) query.set('starting_after', after);
  return `/v1/balance_transactions?${query.toString()}`;
};

/** @throws GatewayUnavailable for an answer that cannot be used */
export const parsePayout = (response: HttpResponse, id: string): KnownPayout => {
  const payout = parse(Payout, response);
  if (payout.id !== id) throw new GatewayUnavailable(`${name}: the response is about another one`);
  const status = states[payout.status];
  if (!status) throw new GatewayUnavailable(`${name}: a status that is not known`);
  const { arrival_date: arrival, automatic, reconciliation_status: reconciliation } = payout;
  return {
    ...toMinor(payout.amount, payout.currency),
    status,
    createdAt: new Date(payout.created * 1000),
    arrivesOn: arrival ? new Date(arrival * 1000).toISOString().slice(0, 10) : null,
    descriptor: accountText(payout.statement_descriptor),
    bankReference: accountText(payout.trace_id?.value),
    lines: !automatic ? 'never' : reconciliation === 'completed' ? 'listed' : 'later',
  };
};

/** @throws GatewayUnavailable for an answer that cannot be used */
export const parsePayoutLines = (
  response: HttpResponse,
): { ids: string[]; next: string | null } => {
  const { data, has_more: hasMore } = parse(List, response);
  const ids = data.map(({ id }) => id);
  if (hasMore && ids.length === 0)
    throw new GatewayUnavailable(`${name}: an empty page that another one follows`);
  return { ids, next: hasMore ? (ids.at(-1) ?? null) : null };
};

const name = 'stripe, payout';
const parse = <T>(schema: z.ZodType<T>, response: HttpResponse): T => {
  if (response.status !== 200)
    throw new GatewayUnavailable(`${name}: unexpected response, HTTP ${response.status}`);
  return parseResponse(schema, response, name);
};
