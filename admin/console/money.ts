import { html } from 'hono/html';
import { currencyExponents, parseMoneyOf, spellMoney } from '../../contract/money.ts';
import type { PaymentFilter } from '../../postgres/admin/payments.ts';
import type { Html } from './html.ts';
import type { Query } from './query.ts';

const typedMax = 24;

/** An amount as people write it. Its currency stands beside it, or has a field of its own. */
export const moneyField = (
  label: string,
  { name, currency, typed }: { name: string; currency: string | null; typed: string },
): Html =>
  html`<label>
    ${label}
    <span class="money">
      <input name="${name}" inputmode="decimal" maxlength="${typedMax}" size="9" value="${typed}" autocomplete="off" spellcheck="false" />
      ${currency}
    </span>
  </label>`;

/** The amounts of a filter: nothing, or money of one currency. */
type AmountRange = Pick<PaymentFilter, 'currency' | 'amountFrom' | 'amountTo'>;

const fields = ['least', 'most', 'currency'] as const;

const typedIn = (query: Query, name: (typeof fields)[number]): string =>
  query.get(name)?.trim() ?? '';

/** Reads `6.00` with the currency of the filter, or `6.00 EUR`. */
export const readAmounts = (query: Query): AmountRange => {
  const [least, most] = [typedIn(query, 'least'), typedIn(query, 'most')];
  const [named] = /[A-Z]{3}$/.exec(spellMoney(least)) ?? /[A-Z]{3}$/.exec(spellMoney(most)) ?? [];
  const currency = typedIn(query, 'currency').toUpperCase() || named;
  const reject = (why: string): AmountRange => {
    query.reject(fields, why);
    return { currency: null, amountFrom: null, amountTo: null };
  };
  if (currency === undefined) return reject('Name the currency of the amounts.');
  if (!currencyExponents.has(currency))
    return reject(`There is no currency ${currency.slice(0, 3)}.`);
  const [from, to] = [least, most].map((text) =>
    text === '' ? { amount: null } : parseMoneyOf(currency, text),
  );
  if (from && 'problem' in from) return reject(from.problem);
  if (to && 'problem' in to) return reject(to.problem);
  const [amountFrom, amountTo] = [from?.amount ?? null, to?.amount ?? null];
  return { currency, amountFrom, amountTo };
};

export const amountFilters = (query: Query): Html =>
  html`${moneyField('Amount from', { name: 'least', currency: null, typed: typedIn(query, 'least') })}
    ${moneyField('to', { name: 'most', currency: null, typed: typedIn(query, 'most') })}
    <label>
      Currency
      <input name="currency" maxlength="3" size="4" value="${typedIn(query, 'currency')}" autocomplete="off" spellcheck="false" />
    </label>`;
