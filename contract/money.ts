import { asciiDigits } from './digits.ts';

/** Amounts are integers in the minor unit of their currency, e.g. cents. */
export const amountBounds = { min: 1, max: 999_999_999_999 } as const;

const byExponent = {
  0: 'BIF CLP DJF GNF IRR ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF',
  2:
    'AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BMD BND BOB BOV BRL BSD BTN BWP BYN BZD ' +
    'CAD CDF CHE CHF CHW CNY COP COU CRC CUP CVE CZK DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS ' +
    'GIP GMD GTQ GYD HKD HNL HTG HUF IDR ILS INR JMD KES KGS KHR KPW KYD KZT LAK LBP LKR LRD LSL MAD ' +
    'MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MXV MYR MZN NAD NGN NIO NOK NPR NZD PAB PEN PGK PHP ' +
    'PKR PLN QAR RON RSD RUB SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT ' +
    'TOP TRY TTD TWD TZS UAH USD USN UYU UZS VED VES WST XAD XCD XCG YER ZAR ZMW ZWG',
  3: 'BHD IQD JOD KWD LYD OMR TND',
  4: 'CLF UYW',
} as const;

/**
 * Maps a currency code to its number of decimal places. Source: ISO 4217, without codes that have no minor
 * unit. IRR has 0 instead of ISO's 2, because every Iranian gateway takes whole rials.
 */
export const currencyExponents: ReadonlyMap<string, number> = new Map(
  Object.entries(byExponent).flatMap(([exponent, codes]) =>
    codes.split(' ').map((code) => [code, Number(exponent)] as const),
  ),
);

const signs = new Map([
  ['€', 'EUR'],
  ['$', 'USD'],
  ['£', 'GBP'],
  ['¥', 'JPY'],
  ['￥', 'JPY'],
  ['円', 'JPY'],
  ['﷼', 'IRR'],
]);
const sign = `([${[...signs.keys()].join('')}])`;
const signed = new RegExp(`^(?:${sign}\\s*(?=\\d)(.*)|(.*\\d)\\s*${sign})$`);

/** A text with the digits and separators of numbers of every script as those that this service reads. */
export const spellNumbers = (text: string): string =>
  asciiDigits(text).replaceAll('٫', '.').replaceAll('٬', "'").replaceAll('،', ',');

/** Spells `€84`, `84,00 €` and `۸۴ EUR` with the digits 0 to 9, and the currency's code behind the number. */
export const spellMoney = (text: string): string =>
  spellNumbers(text).replace(
    signed,
    (_, before?: string, after = '', number = '', behind?: string) =>
      `${after || number} ${signs.get(before ?? behind ?? '')}`,
  );

/** `"12.50 EUR"`, `"1250 JPY"`, `"12.500 KWD"` */
const exampleIn = (currency: string): string => {
  const exponent = currencyExponents.get(currency) ?? 0;
  const money = { amount: exponent === 0 ? 1_250 : 125 * 10 ** (exponent - 1), currency };
  return `"${typedMoney(money)} ${currency}"`;
};

const grouped = /^[1-9]\d{0,2}(?:[.,' ]\d{3})+(?:[.,]\d+)?$/;

/** All decimals of the currency or none, behind a point or a comma, and nothing that could be misread. */
const parseNumber = (
  number: string,
  currency: string,
): { amount: number } | { problem: string } => {
  const exponent = currencyExponents.get(currency);
  if (exponent === undefined) return { problem: `There is no currency ${currency}.` };
  const [, whole = '', separator, decimals] =
    /^(0|[1-9]\d{0,14})(?:([.,])(\d+))?$/.exec(number) ?? [];
  const hasPoint = separator === '.' && decimals?.length === exponent;
  if (grouped.test(number) && !hasPoint)
    return {
      problem: `It could have separators of thousands. Write it without them, like ${exampleIn(currency)}.`,
    };
  if (whole === '') return { problem: `It is not money like ${exampleIn(currency)}.` };
  if (decimals !== undefined && decimals.length !== exponent)
    return { problem: `${currency} has ${exponent === 0 ? 'no' : exponent} decimals.` };
  const amount = Number(whole + (decimals ?? '').padEnd(exponent, '0'));
  if (amount < amountBounds.min || amount > amountBounds.max)
    return { problem: `It must be from 1 to ${amountBounds.max} minor units.` };
  return { amount };
};

const splitMoney = (text: string): [number: string, currency: string | undefined] => {
  const spelled = spellMoney(text);
  const [, number = spelled, currency] = /^(.*) ([A-Z]{3})$/.exec(spelled) ?? [];
  return [number, currency];
};

/**
 * Parses money by name, as "12.50 USD", "12,50 USD" or "12.50 $".
 * @returns why it is none
 */
export const parseMoney = (
  text: string,
): { amount: number; currency: string } | { problem: string } => {
  const [number, currency] = splitMoney(text);
  if (currency === undefined) return { problem: `It is not money like ${exampleIn('USD')}.` };
  const money = parseNumber(number, currency);
  return 'problem' in money ? money : { ...money, currency };
};

/**
 * Parses money of a known currency, as "12.50", "12,50" or "12.50 USD".
 * @returns why it is none, or is of another one
 */
export const parseMoneyOf = (
  currency: string,
  text: string,
): { amount: number } | { problem: string } => {
  const [number, named = currency] = splitMoney(text);
  const money = parseNumber(number, named);
  if ('problem' in money || named === currency) return money;
  return { problem: `It is in ${named}, and not in ${currency}.` };
};

/** Formats 123456 of USD as "1234.56", as {@link parseMoneyOf} reads it. */
export const typedMoney = (money: { amount: number; currency: string }): string =>
  formatMoney(money).replaceAll(',', '').replace(/ .*/, '');

/** Formats 1250 of USD as "12.50 USD". For people, never for arithmetic. */
export const formatMoney = ({ amount, currency }: { amount: number; currency: string }): string => {
  const exponent = currencyExponents.get(currency) ?? 0;
  const digits = String(Math.abs(amount)).padStart(exponent + 1, '0');
  const whole = digits.slice(0, digits.length - exponent).replace(/\B(?=(\d{3})+$)/g, ',');
  const decimal = exponent === 0 ? whole : `${whole}.${digits.slice(-exponent)}`;
  return `${amount < 0 ? '-' : ''}${decimal} ${currency}`;
};
