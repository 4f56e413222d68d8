import { z } from 'zod';
import type { BookEntry, StatementLine } from '../contract/book-entry.ts';
import type { HttpResponse } from './call.ts';
import { escapedPath } from './call.ts';
import { toBookPage } from './book-page.ts';
import { GatewayUnavailable } from './errors.ts';
import type { Account, BookPage } from './gateway.ts';
import { toMinor } from './mollie-currencies.ts';
import { Amount, checkMode, Mode, parseList, Time } from './mollie-responses.ts';
import { providerMessage } from './redact.ts';

const Id = z.string().regex(/^[a-z]{2,5}_[A-Za-z0-9]{1,100}$/);
const Context = z.object({
  paymentId: z.string().nullish(),
  refundId: z.string().nullish(),
  settlementId: z.string().nullish(),
});
type Context = z.output<typeof Context>;
const Transaction = z.object({
  id: Id,
  type: z.string(),
  resultAmount: Amount,
  initialAmount: Amount,
  deductionDetails: z
    .object({ repayments: Amount.nullish(), reservations: Amount.nullish() })
    .nullish(),
  // The examples of the OpenAPI document have its fields at once, its schema under the name of the type.
  context: z.record(z.string(), z.unknown()).nullish(),
  createdAt: Time,
});
type Transaction = z.output<typeof Transaction>;
const MollieBalance = z.object({ id: Id, mode: Mode });

type Kind = BookEntry['kind'];

/*
 * Source: `balance-transaction-type` of the OpenAPI document, and the longer list beside `context`, which has other names for
 * some. Every other type is `other`, and so a difference: it may be the money of a payer. Among the documented ones these
 * are compensations, corrections, loans, split payments, and movements that no text explains.
 */
const kinds = new Map<string, Kind>(
  (
    [
      ['payment', 'payment capture'],
      ['payment_failed', 'failed-payment'],
      ['refund', 'refund'],
      ['refund_returned', 'returned-refund'],
      // The payer's bank took back a direct debit.
      ['chargeback', 'chargeback chargeback-reversal unauthorized-direct-debit'],
      [
        'fee',
        'payment-fee failed-payment-fee reimbursement-fee balance-charge-fee invoice-compensation ' +
          'invoice-rounding-compensation managed-fee returned-managed-fee platform-connected-organizations-fee',
      ],
      ['payout', 'outgoing-transfer outgoing-custom-amount-transfer'],
      ['payout_returned', 'returned-transfer canceled-transfer canceled-outgoing-transfer'],
      [
        'own_money',
        'topup balance-topup balance-reserve balance-reserve-return cash-collateral-issuance cash-collateral-release ' +
          'held-rolling-reserve pending-rolling-reserve released-rolling-reserve to-be-released-rolling-reserve ' +
          'rolling-reserve-hold rolling-reserve-release capture-rolling-reserve-release',
      ],
    ] as const
  ).flatMap(([kind, names]) => names.split(' ').map((name) => [name, kind] as const)),
);
/** An amount that goes the other way makes `other` of these. */
const comes = new Set<Kind>(['payment', 'refund_returned', 'payout_returned']);
const leaves = new Set<Kind>(['payment_failed', 'refund', 'payout']);

/** An account has a balance for each currency that it is paid out in; Mollie converts other currencies. */
export const balancesPath = (kind: Account['kind']): string =>
  `/v2/balances?${new URLSearchParams({ limit: '250', ...testMode(kind) }).toString()}`;

/** The list has the newest transactions first, and no filter by time. */
export const transactionsPath = (
  kind: Account['kind'],
  { balance, from }: BookPosition,
): string => {
  const query = new URLSearchParams({ limit: '250', ...testMode(kind) });
  if (from !== null) query.set('from', from);
  return `${escapedPath`/v2/balances/${balance}/transactions`}?${query.toString()}`;
};

/** An access token belongs to both modes. */
const testMode = (kind: Account['kind']) => (kind === 'sandbox' ? { testmode: 'true' } : {});

/** The next transaction of a balance; null: its newest one. */
export interface BookPosition {
  balance: string;
  from: string | null;
}

/** As the service keeps it between two pages. */
export const positionText = ({ balance, from }: BookPosition): string => `${balance} ${from ?? ''}`;
export const parsePosition = (text: string): BookPosition => {
  const [balance = '', from = ''] = text.split(' ');
  return { balance, from: from === '' ? null : from };
};

/** The ids of the balances in an order that stays. @throws GatewayUnavailable for an answer that cannot be used */
export const parseBalances = (response: HttpResponse, kind: Account['kind']): string[] => {
  const { items, next } = parseList(response, { item: MollieBalance, name: 'balances' });
  if (next !== null) throw new GatewayUnavailable('mollie, balances: the list is too long');
  for (const balance of items) checkMode(kind, balance);
  return items.map(({ id }) => id).toSorted();
};

/**
 * It has everything since the beginning of the period, also what is of the future. `next` is null at the end of the balance, and
 * before the first page whose transactions are all older.
 */
export const parseBook = (response: HttpResponse, { from }: { from: Date }): BookPage => {
  const { items, next } = parseList(response, { item: Transaction, name: 'balance_transactions' });
  const isOver = items.every(({ createdAt }) => createdAt < from);
  const since = items.filter(({ createdAt }) => createdAt >= from);
  return toBookPage(
    since.flatMap(partsOf).map((part) => ({
      id: part.id,
      entry: part.amount === 0 && part.fee === 0 ? undefined : toEntry(part),
      line: toLine(part),
    })),
    isOver ? null : next,
  );
};

/** A part of a transaction. Amounts are in minor units of the balance. */
interface Part {
  id: string;
  transaction: Transaction;
  kind: Kind;
  context: Context;
  amount: number;
  fee: number;
}

/** Money that Mollie withheld to repay a loan, or as a reserve, is no fee: it is a part of its own. */
const partsOf = (transaction: Transaction): Part[] => {
  const { id, type, initialAmount, resultAmount, deductionDetails } = transaction;
  if (initialAmount.currency !== resultAmount.currency)
    throw new GatewayUnavailable('mollie, balance transactions: two currencies in one');
  const amount = toMinor(initialAmount);
  const { repayments, reservations } = deductionDetails ?? {};
  const withheld = [repayments, reservations]
    .map((part) => (part ? toMinor(part) : 0))
    .reduce((sum, part) => sum + part, 0);
  const context = contextOf(transaction);
  const whole: Part = {
    ...{ id, transaction, kind: kindOf(type, amount), context, amount },
    // Without the noise that fractions leave in a difference of doubles.
    fee: Number((amount + withheld - toMinor(resultAmount)).toFixed(6)),
  };
  if (withheld === 0) return [whole];
  const noContext: Context = {};
  const other: Part = {
    ...{ id: `${id}-withheld`, transaction, kind: 'own_money', context: noContext },
    ...{ amount: withheld, fee: 0 },
  };
  return [whole, other];
};

const contextOf = ({ type, context }: Transaction): Context =>
  Context.safeParse(context?.[type] ?? context).data ?? {};

const kindOf = (type: string, amount: number): Kind => {
  const kind = kinds.get(type) ?? 'other';
  return (comes.has(kind) && amount < 0) || (leaves.has(kind) && amount > 0) ? 'other' : kind;
};

/** Mollie does not say which transaction a `payment_failed` takes back. */
const sourceOf = ({ kind, context }: Part): string | null => {
  if (kind === 'payment') return context.paymentId ?? null;
  return kind === 'refund' || kind === 'refund_returned' ? (context.refundId ?? null) : null;
};

const toEntry = (part: Part): BookEntry => {
  const { id, kind, context, transaction, amount, fee } = part;
  return {
    ...{ id, source: sourceOf(part), kind, at: transaction.createdAt, amount, fee },
    currency: transaction.resultAmount.currency,
    payment: { reference: context.paymentId ?? null, trackingCode: null, id: null },
    refundId: null,
    ...((kind === 'payment_failed' || kind === 'other') && { name: wordOf(transaction) }),
  };
};

const toLine = (part: Part): StatementLine => {
  const { id, kind, context, transaction, amount, fee } = part;
  const isPayout = kind === 'payout' || kind === 'payout_returned';
  return {
    ...{ id, kind, at: transaction.createdAt, type: wordOf(transaction), category: null },
    ...{ amount, fee, currency: transaction.resultAmount.currency, availableOn: null },
    source: sourceOf(part),
    payout: isPayout ? (context.settlementId ?? null) : null,
  };
};

const wordOf = ({ type }: Transaction): string => providerMessage(type, null).code ?? '';
