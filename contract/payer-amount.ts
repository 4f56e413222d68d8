import type { Language } from './languages.ts';
import { currencyExponents, typedMoney } from './money.ts';
import json from './payer-advice.json' with { type: 'json' };

interface Money {
  amount: number;
  currency: string;
}

/** Intl's own decimals differ from ours for 15 currencies; a text is exact where a number would be rounded. */
export const digitsOf = (language: Language, money: Money): string => {
  const decimals = currencyExponents.get(money.currency) ?? 0;
  return new Intl.NumberFormat(language, {
    minimumFractionDigits: decimals,
    maximumFractionDigits: decimals,
  }).format(typedMoney(money) as `${number}`);
};

/** An amount in the digits of a language, always with its unit. */
export const amountText = (language: Language, money: Money): string => {
  const amount = digitsOf(language, money);
  return money.currency === 'IRR'
    ? json.unit_rial[language].replace('{amount}', amount)
    : `${amount} ${money.currency}`;
};
