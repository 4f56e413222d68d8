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

/**
 * Parses money by name, as "12.50 USD": all decimals of the currency or none, and nothing else that could be misread.
 * @returns why it is none
 */
export const parseMoney = (
  text: string,
): { amount: number; currency: string } | { problem: string } => {
  const [, whole = '', decimals, currency = ''] =
    /^(0|[1-9]\d{0,14})(?:\.(\d+))? ([A-Z]{3})$/.exec(text) ?? [];
  if (whole === '') return { problem: 'It is not money like "12.50 USD".' };
  const exponent = currencyExponents.get(currency);
  if (exponent === undefined) return { problem: `There is no currency ${currency}.` };
  if (decimals !== undefined && decimals.length !== exponent)
    return { problem: `${currency} has ${exponent === 0 ? 'no' : exponent} decimals.` };
  const amount = Number(whole + (decimals ?? '').padEnd(exponent, '0'));
  if (amount < amountBounds.min || amount > amountBounds.max)
    return { problem: `It must be from 1 to ${amountBounds.max} minor units.` };
  return { amount, currency };
};

/**
 * Parses money of a known currency, as "12.50" or "12.50 USD".
 * @returns why it is none, or is of another one
 */
export const parseMoneyOf = (
  currency: string,
  text: string,
): { amount: number } | { problem: string } => {
  const money = parseMoney(/[A-Z]$/i.test(text) ? text : `${text} ${currency}`);
  if ('problem' in money) return money;
  if (money.currency === currency) return { amount: money.amount };
  return { problem: `It is in ${money.currency}, and not in ${currency}.` };
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
