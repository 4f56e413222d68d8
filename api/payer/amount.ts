import { html } from 'hono/html';
import type { Language } from '../../contract/languages.ts';
import { currencyExponents, typedMoney } from '../../contract/money.ts';
import { type Html, speak } from './texts.ts';

interface Money {
  amount: number;
  currency: string;
}

/** People in Iran count in tomans of ten rials, while gateways and banks count in rials. */
const rialsOfToman = 10;

/** Intl's own decimals differ from ours for 15 currencies; a text is exact where a number would be rounded. */
const digitsOf = (language: Language, money: Money): string => {
  const decimals = currencyExponents.get(money.currency) ?? 0;
  return new Intl.NumberFormat(language, {
    minimumFractionDigits: decimals,
    maximumFractionDigits: decimals,
  }).format(typedMoney(money) as `${number}`);
};

/** An amount in the digits of a language, always with its unit. */
export const amountText = (language: Language, money: Money): Html | string => {
  const amount = digitsOf(language, money);
  return money.currency === 'IRR'
    ? speak(language)('unit_rial', { amount })
    : `${amount} ${money.currency}`;
};

/** An amount for a whole page, and what it is in tomans. */
export const amountParts = (language: Language, money: Money): Html => {
  const { amount, currency } = money;
  const text = speak(language);
  const isToman = currency === 'IRR' && amount % rialsOfToman === 0;
  return html`<p class="amount">
      <span class="unseen">${text('amount')}</span>
      ${amountText(language, money)}
    </p>
    ${
      isToman
        ? html`<p class="soft">
          ${text('equals_toman', {
            amount: digitsOf(language, { currency, amount: amount / rialsOfToman }),
          })}
        </p>`
        : ''
    }`;
};
