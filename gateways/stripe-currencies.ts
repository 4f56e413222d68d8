import { currencyExponents } from '../contract/money.ts';
import type { CurrencyTerms } from './amount.ts';

/** https://docs.stripe.com/currencies */
const withoutDecimals = 'BIF CLP DJF GNF JPY KMF KRW MGA PYG RWF VND VUV XAF XOF XPF';
const withThreeDecimals = 'BHD JOD KWD OMR TND';
// From memory. ISK and UGX have no decimals, and are sent with two zeros: the page names both as special cases.
const withTwoDecimals =
  'AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BMD BND BOB BRL BSD BWP BYN BZD CAD CDF CHF CNY ' +
  'COP CRC CVE CZK DKK DOP DZD EGP ETB EUR FJD FKP GBP GEL GIP GMD GTQ GYD HKD HNL HTG HUF IDR ILS ' +
  'INR ISK JMD KES KGS KHR KYD KZT LAK LBP LKR LRD LSL MAD MDL MKD MMK MNT MOP MUR MVR MWK MXN MYR ' +
  'MZN NAD NGN NIO NOK NPR NZD PAB PEN PGK PHP PKR PLN QAR RON RSD RUB SAR SBD SCR SEK SGD SHP SLE ' +
  'SOS SRD SZL THB TJS TOP TRY TTD TWD TZS UAH UGX USD UYU UZS WST XCD XCG YER ZAR ZMW';

/*
 * The page of currencies allows cards twelve digits, and other ways to pay fewer. The reference of PaymentIntents says
 * eight for all. A session offers whatever the account has turned on, so the bounds of the other ways hold.
 */
const mostDigits = 8;
const moreDigits = new Map([
  ['IDR', 12],
  ['COP', 10],
  ['INR', 9],
]);

/** The 31 least amounts of that page, on the wire. Of every other currency the least unit is taken. */
const byLeast = {
  30: 'GBP',
  50: 'USD ARS AUD BRL CAD CHF COP EUR IDR ILS INR JPY KRW NZD PHP RUB SGD ZAR',
  200: 'AED MYR PLN RON',
  250: 'DKK',
  300: 'NOK SEK',
  400: 'HKD',
  1_000: 'MXN THB',
  1_500: 'CZK',
  17_500: 'HUF',
};
const minima = new Map(
  Object.entries(byLeast).flatMap(([least, codes]) =>
    codes.split(' ').map((code) => [code, Number(least)] as const),
  ),
);

const createTerms = (currency: string, wireExponent: number): CurrencyTerms => {
  const exponent = currencyExponents.get(currency);
  if (exponent === undefined) throw new Error(`${currency} is not a currency of the contract`);
  // We have cents for MGA, Stripe has none. A third decimal must be 0 (from memory).
  const step = wireExponent === 3 ? 10 : 10 ** Math.max(0, exponent - wireExponent);
  const toMinorUnits = 10 ** (exponent - wireExponent);
  const mostOnWire = 10 ** (moreDigits.get(currency) ?? mostDigits) - 1;
  const most = Math.floor(mostOnWire * toMinorUnits);
  const min = (minima.get(currency) ?? 0) * toMinorUnits;
  return { wireExponent, min: Math.max(min, step), max: most - (most % step), step };
};

export const stripeCurrencies: ReadonlyMap<string, CurrencyTerms> = new Map(
  (
    [
      [withTwoDecimals, 2],
      [withoutDecimals, 0],
      [withThreeDecimals, 3],
    ] as const
  ).flatMap(([codes, wireExponent]) =>
    codes.split(' ').map((code) => [code, createTerms(code, wireExponent)] as const),
  ),
);
