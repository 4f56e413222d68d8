import { z } from 'zod';
import type { Balance, BookEntry, StatementLine } from '../contract/book-entry.ts';
import { fromWire } from './amount.ts';
import type { HttpResponse } from './call.ts';
import { parseResponse } from './call.ts';
import { toBookPage } from './book-page.ts';
import { GatewayUnavailable } from './errors.ts';
import type { BookPage } from './gateway.ts';
import { providerMessage } from './redact.ts';
import { stripeCurrencies } from './stripe-currencies.ts';

const pageSize = 100;

const Currency = z.string().regex(/^[a-z]{3}$/);
const Id = z.string().regex(/^[a-z]{2,5}_[A-Za-z0-9_]{1,200}$/);
/** A charge, a refund or a dispute, as far as they have the same fields. A charge of a slow method is pending for days. */
const Source = z.object({
  id: Id,
  amount: z.int(),
  currency: Currency,
  status: z.string().nullish(),
  payment_intent: z.string().nullish(),
  metadata: z.record(z.string(), z.string()).nullish(),
});
type Source = z.output<typeof Source>;
const Transaction = z.object({
  id: z.string().regex(/^txn_[A-Za-z0-9_]{1,200}$/),
  type: z.string(),
  reporting_category: z.string().nullish(),
  description: z.string().nullish(),
  created: z.int().positive(),
  amount: z.int(),
  currency: Currency,
  fee: z.int(),
  available_on: z.int().positive().nullish(),
  /** The balance that it moves. One of cards or of prefunded refunds is not that of payments. */
  balance_type: z.string().nullish(),
  // A source that is not expanded is its id.
  source: z.unknown(),
});
type Transaction = z.output<typeof Transaction>;
const List = z.object({ data: z.array(Transaction), has_more: z.boolean() });

type Kind = BookEntry['kind'];

/*
 * Sources: https://docs.stripe.com/reports/reporting-categories and https://docs.stripe.com/reports/balance-transaction-types; for
 * types that are in neither, stripe-node 23.1.0. What is in no list here is `other`, and so a difference: it may be the
 * money of a payer. Of the documented ones these are Connect, Issuing, Capital, Climate, customers' funds that nobody has
 * claimed, captures of a part, and adjustments without a category of their own.
 */
/** The owner's own money goes in or out, waits in a reserve, or becomes available on another day. */
const ownMoney =
  'topup topup_reversal payout_minimum_balance_hold ' +
  'payout_minimum_balance_release advance advance_funding payment_network_reserve_hold payment_network_reserve_release ' +
  'risk_reserved_funds connect_reserved_funds reserved_funds reserve_transaction reserve_hold reserve_release';
/** Categories. `type=adjustment` alone holds disputes, refunds that failed, and fees. */
const kinds = new Map<string, Kind>([
  ['charge', 'payment'],
  ['charge_failure', 'payment_failed'],
  ['refund', 'refund'],
  ['refund_failure', 'refund_returned'],
  ['dispute', 'chargeback'],
  ['dispute_reversal', 'chargeback'],
  ['fee', 'fee'],
  ['tax', 'fee'],
  ['network_cost', 'fee'],
  ['partial_capture_reversal', 'other'],
  ['payout', 'payout'],
  ['payout_reversal', 'payout_returned'],
  ...ownMoney.split(' ').map((name) => [name, 'own_money'] as const),
]);
/** Types whose category is not documented, or not known here. */
const kindsOfTypes = new Map<string, Kind>([
  ...kinds,
  ['payment', 'payment'],
  ['payout_cancel', 'payout_returned'],
  ['payout_failure', 'payout_returned'],
  ['payment_failure_refund', 'payment_failed'],
  // The payer's bank took back what Stripe had credited.
  ['payment_reversal', 'chargeback'],
  ['payment_refund', 'refund'],
  ['stripe_fee', 'fee'],
  ['stripe_fx_fee', 'fee'],
  ['tax_fee', 'fee'],
]);

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
  if (hasMore && data.length === 0)
    throw new GatewayUnavailable(`${name}: an empty page that another one follows`);
  return toBookPage(
    data.map((transaction) => ({
      id: transaction.id,
      entry: toEntry(transaction),
      line: isOfPayments(transaction) ? toLine(transaction) : undefined,
    })),
    hasMore ? (data.at(-1)?.id ?? null) : null,
  );
};

const isOfPayments = ({ balance_type: type }: Transaction) => !type || type === 'payments';

const toLine = (transaction: Transaction): StatementLine => {
  const {
    id,
    type,
    reporting_category: category,
    created,
    available_on: availableOn,
  } = transaction;
  const source = Source.safeParse(transaction.source).data;
  const kind = kindOf(transaction, source);
  const word = (of: string | null | undefined) => providerMessage(of ?? null, null).code;
  const { amount, currency } = toMinor(transaction.amount, transaction.currency);
  return {
    id,
    at: new Date(created * 1000),
    kind,
    type: word(type) ?? '',
    category: word(category),
    amount,
    fee: toMinor(transaction.fee, transaction.currency).amount,
    currency,
    availableOn: availableOn ? new Date(availableOn * 1000) : null,
    source: sourceIn(transaction, { kind, source }),
    payout: kind === 'payout' || kind === 'payout_returned' ? payoutIn(transaction) : null,
  };
};

/** The source is the payout, or its id. */
const payoutIn = ({ source }: Transaction): string | null => {
  const id = Id.safeParse(typeof source === 'string' ? source : Object(source).id).data;
  return id?.startsWith('po_') ? id : null;
};

export const toMinor = (of: number, currencyCode: string): Balance => {
  const { amount, currency } = toExactMinor(of, currencyCode);
  return { amount: Math.round(amount), currency };
};

const toExactMinor = (of: number, currencyCode: string): Balance => {
  const currency = currencyCode.toUpperCase();
  return { amount: fromWire({ currencies: stripeCurrencies }, { amount: of, currency }), currency };
};

const Amounts = z.array(z.object({ amount: z.int(), currency: Currency }));
const StripeBalance = z.object({ available: Amounts, pending: Amounts });

export const balancePath = '/v1/balance';

/** Money that is pending is in the list of transactions, too. @throws GatewayUnavailable for an answer that cannot be used */
export const parseBalance = (response: HttpResponse): Balance[] => {
  const name = 'stripe, balance';
  if (response.status !== 200)
    throw new GatewayUnavailable(`${name}: unexpected response, HTTP ${response.status}`);
  const { available, pending } = parseResponse(StripeBalance, response, name);
  const sums = Map.groupBy([...available, ...pending], ({ currency }) => currency);
  return [...sums].map(([currency, parts]) =>
    toMinor(
      parts.reduce((sum, { amount }) => sum + amount, 0),
      currency,
    ),
  );
};

const toEntry = (transaction: Transaction): BookEntry | undefined => {
  const { id, created, amount, fee } = transaction;
  // Such as the check of a card.
  if (amount === 0 && fee === 0) return undefined;
  const source = Source.safeParse(transaction.source).data;
  const kind = kindOf(transaction, source);
  // The money of one that is pending or has failed is not there: another entry takes it back, or it succeeds.
  if (kind === 'payment' && source?.status && source.status !== 'succeeded') return undefined;
  const ofSource = isOf(sourceOf[kind], source) ? source : undefined;
  const money = ofSource ? inPayersCurrency(transaction, ofSource) : transaction;
  const { amount: inMinor, currency } = toExactMinor(money.amount, money.currency);
  return {
    id,
    source: sourceIn(transaction, { kind, source }),
    kind,
    at: new Date(created * 1000),
    amount: inMinor,
    currency,
    fee: transaction.currency === money.currency ? toExactMinor(fee, money.currency).amount : null,
    payment: {
      reference: null,
      trackingCode: source?.payment_intent ?? null,
      id: source?.metadata?.['payment_id'] ?? null,
    },
    refundId: source?.metadata?.['refund_id'] ?? null,
    ...((kind === 'payment_failed' || kind === 'other') && { name: nameOf(transaction) }),
  };
};

const kindOf = (transaction: Transaction, source: Source | undefined): Kind => {
  const { type, reporting_category: category, amount } = transaction;
  const named = kinds.get(category ?? '') ?? kindsOfTypes.get(type);
  // An adjustment without a category.
  if (!named && !category && type === 'adjustment')
    return isOf(disputes, source)
      ? 'chargeback'
      : isOf(refunds, source)
        ? 'refund_returned'
        : 'other';
  // A refund by a slow method that comes back has the type of a refund.
  if (named === 'refund' && amount > 0) return 'refund_returned';
  const leaves = named === 'payment_failed';
  const comes = named === 'payment' || named === 'refund_returned' || named === 'payout_returned';
  return !named || (leaves && amount > 0) || (comes && amount < 0) ? 'other' : named;
};

/** The beginnings of ids. */
const charges = ['ch', 'py'];
const refunds = ['re', 'pyr'];
const disputes = ['dp', 'du'];
const sourceOf: Partial<Record<Kind, readonly string[]>> = {
  payment: charges,
  payment_failed: charges,
  refund: refunds,
  refund_returned: refunds,
};

const isOf = (beginnings: readonly string[] = [], source: Source | undefined): source is Source =>
  source !== undefined && beginnings.includes(source.id.split('_', 1)[0] ?? '');

/** The balance may have another currency than the payer's, and then the fee has it, too. */
const inPayersCurrency = ({ amount, currency }: Transaction, source: Source) =>
  currency === source.currency
    ? { amount, currency }
    : { amount: Math.abs(source.amount) * Math.sign(amount), currency: source.currency };

/** The charge or the refund. */
const sourceIn = (
  transaction: Transaction,
  { kind, source }: { kind: Kind; source: Source | undefined },
): string | null => {
  if (kind === 'refund_returned') return refundIn(transaction, source);
  return isOf(sourceOf[kind], source) ? source.id : null;
};

/** The source is the refund, or its id, or the description of an adjustment has its id. */
const refundIn = (
  { source: unexpanded, description }: Transaction,
  source: Source | undefined,
): string | null => {
  if (isOf(refunds, source)) return source.id;
  const text = typeof unexpanded === 'string' ? unexpanded : (description ?? '');
  return /\b(?:re|pyr)_[A-Za-z0-9]{1,200}\b/.exec(text)?.[0] ?? null;
};

/** For people. */
const nameOf = ({ type, reporting_category: category }: Transaction): string => {
  const name = category && category !== type ? `${type} (${category})` : type;
  return providerMessage(name, null).code ?? '';
};
