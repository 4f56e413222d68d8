import { z } from 'zod';
import type { BookEntry } from '../contract/book-entry.ts';
import { fromWire } from './amount.ts';
import type { HttpResponse } from './call.ts';
import { parseResponse } from './call.ts';
import { GatewayUnavailable } from './errors.ts';
import type { BookPage } from './gateway.ts';
import { stripeCurrencies } from './stripe-currencies.ts';

const pageSize = 100;

const Currency = z.string().regex(/^[a-z]{3}$/);
/** A charge or a refund, as far as both have the same fields. A charge of a slow method is pending for days. */
const Source = z.object({
  id: z.string().regex(/^[a-z]{2,5}_[A-Za-z0-9_]{1,200}$/),
  amount: z.int(),
  currency: Currency,
  status: z.string().nullish(),
  payment_intent: z.string().nullish(),
  metadata: z.record(z.string(), z.string()).nullish(),
});
const Transaction = z.object({
  id: z.string().regex(/^txn_[A-Za-z0-9_]{1,200}$/),
  type: z.string(),
  created: z.int().positive(),
  amount: z.int(),
  currency: Currency,
  fee: z.int(),
  // A source that is not expanded is its id.
  source: z.unknown(),
});
const List = z.object({ data: z.array(Transaction), has_more: z.boolean() });

/** Types that are not here belong to no payer, or undo a payment that never succeeded. */
const kinds: Readonly<Record<string, BookEntry['kind']>> = {
  charge: 'payment',
  payment: 'payment',
  refund: 'refund',
  payment_refund: 'refund',
  refund_failure: 'refund_returned',
  adjustment: 'chargeback',
  stripe_fee: 'fee',
  payout: 'payout',
};

/** The path of a page: the balance's transactions with what they belong to. */
export const bookPath = ({ from, to }: { from: Date; to: Date }, after: string | null): string => {
  const query = new URLSearchParams({
    'created[gte]': String(Math.ceil(from.getTime() / 1000)),
    'created[lt]': String(Math.ceil(to.getTime() / 1000)),
    limit: String(pageSize),
    'expand[]': 'data.source',
  });
  if (after !== null) query.set('starting_after', after);
  return `/v1/balance_transactions?${query.toString()}`;
};

/** @throws GatewayUnavailable for an answer that cannot be used */
export const parseBook = (response: HttpResponse): BookPage => {
  const name = 'stripe, balance transactions';
  if (response.status !== 200)
    throw new GatewayUnavailable(`${name}: unexpected response, HTTP ${response.status}`);
  const { data, has_more: hasMore } = parseResponse(List, response, name);
  return {
    entries: data.flatMap((transaction) => toEntry(transaction) ?? []),
    next: hasMore ? (data.at(-1)?.id ?? null) : null,
  };
};

const toEntry = (transaction: z.output<typeof Transaction>): BookEntry | undefined => {
  const { id, type, created, amount, fee } = transaction;
  const kind = kinds[type];
  if (!kind) return undefined;
  const source = Source.safeParse(transaction.source).data;
  // The balance may have another currency than the payer's, and then the fee has it, too.
  const isPayers = kind === 'payment' || kind === 'refund' || kind === 'refund_returned';
  if (kind === 'payment' && source?.status && source.status !== 'succeeded') return undefined;
  const money =
    isPayers && source
      ? { ...source, amount: Math.abs(source.amount) * Math.sign(amount) }
      : transaction;
  const currency = money.currency.toUpperCase();
  const minor = (of: number) =>
    Math.round(fromWire({ currencies: stripeCurrencies }, { amount: of, currency }));
  return {
    // The money of a refund that came back has the refund as its source, too.
    reference: source && (kind === 'payment' || kind === 'refund') ? source.id : id,
    kind,
    at: new Date(created * 1000),
    amount: minor(money.amount),
    currency,
    fee: transaction.currency === money.currency ? minor(fee) : null,
    payment: {
      reference: null,
      trackingCode: source?.payment_intent ?? null,
      id: source?.metadata?.['payment_id'] ?? null,
    },
    refundId: source?.metadata?.['refund_id'] ?? null,
  };
};
