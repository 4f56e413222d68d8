import { currencyExponents } from '../contract/money.ts';
import type { CurrencyTerms } from './amount.ts';
import { fromDecimal } from './amount.ts';

/*
 * Source: "Multicurrency" of docs.mollie.com, from which two are left out: BGN, which Bulgaria gave up in 2026, and RUB. Each
 * currency has the decimal places of ISO 4217, also where PayPal has fewer. An account takes those of its
 * methods.
 */
const withTwoDecimals =
  'AED AUD BRL CAD CHF CZK DKK EUR GBP HKD HUF ILS MXN MYR NOK NZD PHP PLN RON SEK SGD THB TWD USD ZAR';
const withoutDecimals = 'ISK JPY';

/*
 * Each method has bounds of its own, and Mollie's page offers the methods that take the amount. So these bounds refuse no
 * amount that a method takes, and Mollie refuses what none of them takes.
 */
const terms = (wireExponent: number): CurrencyTerms => ({
  wireExponent,
  min: 1,
  max: 99_999_999_999,
  step: 1,
});

export const mollieCurrencies: ReadonlyMap<string, CurrencyTerms> = new Map([
  ...withTwoDecimals.split(' ').map((code) => [code, terms(2)] as const),
  ...withoutDecimals.split(' ').map((code) => [code, terms(0)] as const),
]);

/** In our minor units, with a fraction where Mollie's amount has one. @throws GatewayUnavailable */
export const toMinor = ({ value, currency }: { value: string; currency: string }): number =>
  fromDecimal({ currencies: everyCurrency }, { amount: value, currency });

/** Money of others may have a currency that we do not take. */
const everyCurrency = new Map(
  [...currencyExponents].map(([code, exponent]) => [code, terms(exponent)] as const),
);
