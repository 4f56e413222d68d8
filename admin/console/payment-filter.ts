import { html } from 'hono/html';
import { failureReasons } from '../../contract/failure-codes.ts';
import { statuses } from '../../contract/status.ts';
import { formatMoney } from '../../contract/money.ts';
import { everyPayment, type PaymentFilter } from '../../postgres/admin/payments.ts';
import { type Chip, type Choice, choiceOf, type Choices, chosenOf } from './filter-bar.ts';
import { readFilter } from './filters.ts';
import type { Html } from './html.ts';
import { amountFilters, readAmounts } from './money.ts';
import type { Query } from './query.ts';
import type { ConsoleRequest } from './request.ts';

const failureCodes = Object.keys(failureReasons);

/** The longest order of a payment, in UTF-16: the page of an order leads here with a whole one. */
const orderMax = 200;

const ownChoices = (query: Query, gateways: readonly string[]) =>
  ({
    status: choiceOf(query, 'status', statuses, { label: 'Status', of: 'status' }),
    failureCode: choiceOf(query, 'failure', failureCodes, {
      label: 'Failure',
      any: 'any',
      of: 'failure',
    }),
    gateway: choiceOf(query, 'gateway', gateways, { label: 'Gateway' }),
  }) satisfies Choices<PaymentFilter>;

/** Reads the filter of the list of payments from its address. */
export const readPaymentFilter = (
  request: Pick<ConsoleRequest, 'query' | 'zone' | 'test'>,
  now: Date,
  gateways: readonly string[],
): PaymentFilter & { test: boolean } => {
  const { query } = request;
  const { currency, amountFrom, amountTo } = readAmounts(query);
  return {
    ...everyPayment,
    ...readFilter(request, now),
    ...chosenOf(ownChoices(query, gateways)),
    orderPrefix: query.read('order', (text) => (text.length <= orderMax ? text : null)),
    currency,
    amountFrom,
    amountTo,
  };
};

/** The fields for text. */
export const textFilters = (query: Query): Html =>
  html`<label>
      Order begins with
      <input name="order" maxlength="${orderMax}" size="14" value="${query.get('order')?.slice(0, orderMax) ?? ''}" autocomplete="off" spellcheck="false" />
    </label>
    ${amountFilters(query)}`;

export const paymentChoices = (query: Query, gateways: readonly string[]): Choice[] =>
  Object.values(ownChoices(query, gateways));

/** `Amount: 13.00 EUR to 20.00 EUR`. */
const amountWords = ({ currency, amountFrom, amountTo }: PaymentFilter): string | null => {
  if (currency === null) return null;
  const [from, to] = [amountFrom, amountTo].map((amount) =>
    amount === null ? null : formatMoney({ amount, currency }),
  );
  if (from && to) return `Amount: ${from} to ${to}`;
  if (from) return `Amount: from ${from}`;
  return to ? `Amount: up to ${to}` : `Currency: ${currency}`;
};

/** The parts that the fields for text have set. */
export const textChips = (filter: PaymentFilter): Chip[] => {
  const amounts = amountWords(filter);
  return [
    ...(filter.orderPrefix === null
      ? []
      : [{ words: `Order begins with: ${filter.orderPrefix}`, names: ['order'] }]),
    ...(amounts === null ? [] : [{ words: amounts, names: ['least', 'most', 'currency'] }]),
  ];
};
