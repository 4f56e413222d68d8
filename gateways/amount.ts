import type { FieldError } from '../contract/errors.ts';
import { currencyExponents } from '../contract/money.ts';
import type { Capabilities } from './gateway.ts';

/** In which unit a gateway takes a currency, and how much of it. */
export interface CurrencyTerms {
  /** Decimal places of the amount on the wire; −1 for tomans, of which one is ten rials. */
  wireExponent: number;
  /** In our minor units, as everything outside the wire. */
  min: number;
  max: number;
  /** Whole multiples of this only, where the wire knows less than our minor unit. */
  step: number;
}

export interface Money {
  amount: number;
  currency: string;
}

/** The amount as the gateway is told it. @throws RangeError for one that a create refuses */
export const toWire = ({ currencies }: Capabilities, { amount, currency }: Money): number => {
  const terms = currencies.get(currency);
  if (!terms || amount % terms.step !== 0)
    throw new RangeError(`${amount} ${currency} cannot be said to the gateway`);
  const shift = terms.wireExponent - exponentOf(currency);
  return shift < 0 ? amount / 10 ** -shift : amount * 10 ** shift;
};

/**
 * What the gateway confirms, in our minor units. It may have a fraction, and then equals no amount of
 * ours; of a currency that the gateway does not take it stays as it is, for no payment of ours has that.
 */
export const fromWire = (
  { currencies }: Pick<Capabilities, 'currencies'>,
  { amount, currency }: Money,
): number => {
  const terms = currencies.get(currency);
  if (!terms) return amount;
  const shift = exponentOf(currency) - terms.wireExponent;
  return shift < 0 ? amount / 10 ** -shift : amount * 10 ** shift;
};

/** What a gateway does not take of a wanted payment, for the fields of VALIDATION_FAILED. */
export const problemsWith = (
  { currencies, expirySeconds }: Pick<Capabilities, 'currencies' | 'expirySeconds'>,
  { amount, currency, expiresInSeconds }: Money & { expiresInSeconds: number },
): FieldError[] => {
  const terms = currencies.get(currency);
  const problems: FieldError[] = [];
  const refuse = (path: string, rule: string, message: string) =>
    problems.push({ path, rule: `gateway_${rule}`, message });
  if (!terms) {
    const some = [...currencies.keys()].slice(0, 5).join(', ');
    refuse(
      'currency',
      'currency',
      `is not taken by this gateway, which takes ${some}${more(currencies.size)}`,
    );
  } else if (amount < terms.min || amount > terms.max)
    refuse(
      'amount',
      'bounds',
      `must be from ${terms.min} to ${terms.max} ${currency} minor units at this gateway`,
    );
  else if (amount % terms.step !== 0)
    refuse(
      'amount',
      'step',
      `must be a multiple of ${terms.step} ${currency} minor units at this gateway`,
    );
  const { min, max } = expirySeconds;
  if (expiresInSeconds < min || expiresInSeconds > max)
    refuse('expires_in', 'bounds', `must be from ${min} to ${max} seconds at this gateway`);
  return problems;
};

const more = (count: number): string => (count > 5 ? ` and ${count - 5} more` : '');

const exponentOf = (currency: string): number => {
  const exponent = currencyExponents.get(currency);
  if (exponent === undefined) throw new RangeError(`${currency} is not a currency`);
  return exponent;
};
