import { html } from 'hono/html';
import { currencyExponents, parseMoneyOf, spellMoney } from '../../contract/money.ts';
import type { PaymentFilter } from '../../postgres/admin/payments.ts';
import { notice, type Html } from './html.ts';

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
interface AmountRange extends Pick<PaymentFilter, 'currency' | 'amountFrom' | 'amountTo'> {
  /** Why the typed amounts are not used. */
  problem: string | null;
}

const typedIn = (query: URLSearchParams, name: string): string =>
  query.get(name)?.trim().slice(0, typedMax) ?? '';

/** Reads `6.00` with the currency of the filter, or `6.00 EUR`. */
export const readAmounts = (query: URLSearchParams): AmountRange => {
  const [least, most] = [typedIn(query, 'least'), typedIn(query, 'most')];
  const [named] = /[A-Z]{3}$/.exec(spellMoney(least)) ?? /[A-Z]{3}$/.exec(spellMoney(most)) ?? [];
  const currency = typedIn(query, 'currency').toUpperCase() || named;
  const unused = { currency: null, amountFrom: null, amountTo: null };
  if (currency === undefined)
    return { ...unused, problem: least + most === '' ? null : 'Name the currency of the amounts.' };
  if (!currencyExponents.has(currency))
    return { ...unused, problem: `There is no currency ${currency}.` };
  const [from, to] = [least, most].map((text) =>
    text === '' ? { amount: null } : parseMoneyOf(currency, text),
  );
  if (from && 'problem' in from) return { ...unused, problem: from.problem };
  if (to && 'problem' in to) return { ...unused, problem: to.problem };
  const [amountFrom, amountTo] = [from?.amount ?? null, to?.amount ?? null];
  return { currency, amountFrom, amountTo, problem: null };
};

export const amountFilters = (query: URLSearchParams): Html =>
  html`${moneyField('Amount from', { name: 'least', currency: null, typed: typedIn(query, 'least') })}
    ${moneyField('to', { name: 'most', currency: null, typed: typedIn(query, 'most') })}
    <label>
      Currency
      <input name="currency" maxlength="3" size="4" value="${typedIn(query, 'currency')}" autocomplete="off" spellcheck="false" />
    </label>`;

/** Says that the list is not filtered by what was typed. */
export const amountNotice = (query: URLSearchParams): Html => {
  const { problem } = readAmounts(query);
  return problem === null
    ? html``
    : notice('bad', `The list does not filter by amount. ${problem}`);
};
