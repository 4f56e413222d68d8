import { html } from 'hono/html';
import type { Language } from '../../contract/languages.ts';
import { amountText, digitsOf } from '../../contract/payer-amount.ts';
import { type Html, speak } from './texts.ts';

interface Money {
  amount: number;
  currency: string;
}

/** People in Iran count in tomans of ten rials, while gateways and banks count in rials. */
const rialsOfToman = 10;

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
