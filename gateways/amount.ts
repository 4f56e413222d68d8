import type { FieldError } from '../contract/errors.ts';
import { currencyExponents } from '../contract/money.ts';
import { GatewayUnavailable } from './errors.ts';

/** The unit in which a gateway takes a currency, and how much of it. */
export interface CurrencyTerms {
  /** Decimal places of the amount on the wire. −1 for tomans: one toman is ten rials. */
  wireExponent: number;
  /** `min`, `max` and `step` are in our minor units. */
  min: number;
  max: number;
  /** Amounts must be a multiple of this. Larger than 1 where the wire is coarser than our minor unit. */
  step: number;
}

/** The payments that a gateway takes. */
export interface PaymentBounds {
  /** A create with any other currency is rejected. */
  currencies: ReadonlyMap<string, CurrencyTerms>;
  /** The time a payment may stay open. */
  expirySeconds: { min: number; max: number };
}

type Currencies = Pick<PaymentBounds, 'currencies'>;

export interface Money {
  amount: number;
  currency: string;
}

/** Converts to the gateway's unit. @throws RangeError for an amount that a create rejects */
export const toWire = ({ currencies }: Currencies, { amount, currency }: Money): number => {
  const terms = currencies.get(currency);
  if (!terms || amount % terms.step !== 0)
    throw new RangeError(`${amount} ${currency} cannot be sent to the gateway`);
  const shift = terms.wireExponent - exponentOf(currency);
  return shift < 0 ? amount / 10 ** -shift : amount * 10 ** shift;
};

/**
 * Converts to our minor units. The result may have a fraction: it equals none of our amounts then. The
 * amount of a currency that the gateway does not take stays as it is: none of our payments has it.
 */
export const fromWire = ({ currencies }: Currencies, { amount, currency }: Money): number => {
  const terms = currencies.get(currency);
  if (!terms) return amount;
  const shift = exponentOf(currency) - terms.wireExponent;
  return shift < 0 ? amount / 10 ** -shift : amount * 10 ** shift;
};

/** {@link toWire} as decimal text, as `10.50`. @throws RangeError for an amount that a create rejects */
export const toDecimal = ({ currencies }: Currencies, money: Money): string => {
  const amount = toWire({ currencies }, money);
  const places = Math.max(currencies.get(money.currency)?.wireExponent ?? 0, 0);
  // Exact: a double has 15 digits, and the largest amount has 12 and two more on the wire.
  return (amount / 10 ** places).toFixed(places);
};

/**
 * {@link fromWire} of decimal text, as `10.50` or `-0.35`.
 * @throws GatewayUnavailable for another text, and for more than 15 digits
 */
export const fromDecimal = (
  { currencies }: Currencies,
  { amount, currency }: { amount: string; currency: string },
): number => {
  const terms = currencies.get(currency);
  const places = terms ? exponentOf(currency) - Math.min(terms.wireExponent, 0) : 0;
  const digits = amount.replace(/[-.]/g, '').length;
  // The text moves the point: a product of doubles would not be exact. With more digits, a fraction could become a whole number.
  const minor = Number(`${amount}e${places}`);
  if (!/^-?\d+(\.\d+)?$/.test(amount) || digits > 15 || !Number.isSafeInteger(Math.trunc(minor)))
    throw new GatewayUnavailable('The amount is not a decimal number of at most 15 digits');
  return minor;
};

/** Why a gateway does not take an amount of a currency that it takes. */
export const amountProblem = (
  { min, max, step }: Pick<CurrencyTerms, 'min' | 'max' | 'step'>,
  amount: number,
): 'bounds' | 'step' | undefined => {
  if (amount < min || amount > max) return 'bounds';
  return amount % step === 0 ? undefined : 'step';
};

/**
 * The `fields` of VALIDATION_FAILED for a payment that the gateway does not take.
 * @param name of the gateway, where there are several
 */
export const findProblems = (
  { currencies, expirySeconds }: PaymentBounds,
  { amount, currency, expiresInSeconds }: Money & { expiresInSeconds: number },
  name = 'this gateway',
): FieldError[] => {
  const terms = currencies.get(currency);
  const problems: FieldError[] = [];
  const add = (path: string, rule: string, message: string) =>
    problems.push({ path, rule: `gateway_${rule}`, message });
  if (!terms) {
    const codes = [...currencies.keys()];
    const more = codes.length > 5 ? ` and ${codes.length - 5} more` : '';
    const taken = codes.slice(0, 5).join(', ') + more;
    add('currency', 'currency', `is not taken by ${name}, which takes ${taken}`);
  } else {
    const problem = amountProblem(terms, amount);
    const range = `from ${terms.min} to ${terms.max} ${currency}`;
    const step = `a multiple of ${terms.step} ${currency}`;
    if (problem)
      add('amount', problem, `must be ${problem === 'step' ? step : range} minor units at ${name}`);
  }
  const { min, max } = expirySeconds;
  if (expiresInSeconds < min || expiresInSeconds > max)
    add('expires_in', 'bounds', `must be from ${min} to ${max} seconds at ${name}`);
  return problems;
};

const exponentOf = (currency: string): number => {
  const exponent = currencyExponents.get(currency);
  if (exponent === undefined) throw new RangeError(`${currency} is not a currency`);
  return exponent;
};
