import type { FailureCode } from '../contract/failure-codes.ts';

/** The provider's code and message as admins see them: short, without card numbers, valid in Postgres. */
export const providerMessage = (
  code: string | number | null | undefined,
  message: string | null | undefined,
) => ({
  code: code === null || code === undefined ? null : redact(String(code), 100),
  message: message === null || message === undefined ? null : redact(message, 500),
});

/** The state of a payment that failed, with the provider's code and message as admins see them. */
export const failed = (
  failureCode: FailureCode,
  code: string | number | null,
  message: string | null | undefined = null,
) => ({ state: 'failed' as const, failureCode, ...providerMessage(code, message) });

const redact = (text: string, length: number): string =>
  // toWellFormed() comes last: slice() may cut a character in half, which Postgres rejects.
  text.replaceAll('\0', '').replaceAll(cardNumbers, maskDigits).slice(0, length).toWellFormed();

/** At least as many digits as a card number has, in any script, in one piece or in groups. */
const digits = String.raw`\p{Nd}(?:[\s\p{Cf}./_\p{Pd}]{0,2}\p{Nd}){12,}`;
/** UUIDs and ZarinPal's authorities: words of 36 characters with at least one letter. */
const reference = String.raw`(?<![\w-])(?=[\d-]*[A-Za-z])[A-Za-z\d-]{36}(?![\w-])`;
/** A date of either calendar, which a time may follow. Card numbers are not grouped like this. */
const date = String.raw`(?<!\d)(?:1[349]|20)\d\d[-/.]\d\d[-/.]\d\d(?!\d)`;
const cardNumbers = new RegExp(`(${reference}|${date})|${digits}`, 'gu');

const maskDigits = (found: string, kept: string | undefined): string =>
  kept ?? [...found.replaceAll(/\P{Nd}/gu, '')].fill('*', 6, -4).join('');

/** First six digits, asterisks, last four: the only form in which we keep a card number. Else null. */
export const maskedPan = (text: string | null | undefined): string | null => {
  const compact = (text ?? '').replaceAll(/[\s-]/g, '');
  const [, first, middle, last] = /^(\d{6})([\dXx*]{2,9})(\d{4})$/.exec(compact) ?? [];
  return first && middle && last ? `${first}${'*'.repeat(middle.length)}${last}` : null;
};
