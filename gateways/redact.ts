import type { FailureCode } from '../contract/failure-codes.ts';
import type { Payer } from '../contract/payer.ts';

/** The provider's code and message as admins see them: short, without card numbers, valid in Postgres. */
export const providerMessage = (
  code: string | number | null | undefined,
  message: string | null | undefined,
) => ({
  code: code === null || code === undefined ? null : redact(String(code), 100),
  message: message === null || message === undefined ? null : redact(message, 500),
});

/**
 * A text about the account's own money, as a bank's number of a payout: short and valid in Postgres. It
 * holds no payer's data, and a bank's number may be as long as a card's, so no digit is masked.
 */
export const accountText = (text: string | number | null | undefined): string | null =>
  String(text ?? '')
    .replaceAll(/\p{Cc}/gu, '')
    .trim()
    .slice(0, 100)
    .toWellFormed() || null;

/** The state of a payment that failed, with the provider's code and message as admins see them. */
export const failed = (
  failureCode: FailureCode,
  code: string | number | null,
  message: string | null | undefined = null,
) => ({ state: 'failed' as const, failureCode, ...providerMessage(code, message) });

const redact = (text: string, length: number): string =>
  // toWellFormed() comes last: slice() may cut a character in half, which Postgres rejects.
  text
    .replaceAll('\0', '')
    .replaceAll(emails, '***')
    .replaceAll(mobiles, maskAllDigits)
    .replaceAll(cardNumbers, maskDigits)
    .slice(0, length)
    .toWellFormed();

const gap = String.raw`[\s\p{Cf}()./_\p{Pd}]{0,2}`;
/** A digit of the Latin, Arabic, Persian and full-width scripts. */
const scripted = (digit: number): string =>
  `[${[0x30, 0x660, 0x6f0, 0xff10].map((zero) => String.fromCodePoint(zero + digit)).join('')}]`;
const [zero, eight, nine] = [0, 8, 9].map(scripted);
/** 0, +98 and 0098 may stand before the 9 and nine digits of an Iranian mobile number. */
const iranianPrefix = `(?:(?:\\+|${zero}${gap}${zero})?${gap}${nine}${gap}${eight}${gap}(?:${zero}${gap})?|${zero}${gap})`;
const iranian = String.raw`(?<!\p{Nd})${iranianPrefix}${nine}(?:${gap}\p{Nd}){9}(?!\p{Nd})`;
const international = String.raw`\+${gap}\p{Nd}(?:${gap}\p{Nd}){6,14}(?!\p{Nd})`;

const emails =
  /[\p{L}\p{N}.!#$%&'*+/?^_`{|}~-]{1,64}(?:@|%40)[\p{L}\p{N}-]{1,63}(?:\.[\p{L}\p{N}-]{1,63}){0,8}/gu;

/** At least as many digits as a card number has, in any script, in one piece or in groups. */
const digits = String.raw`\p{Nd}(?:[\s\p{Cf}./_\p{Pd}]{0,2}\p{Nd}){12,}`;
/** UUIDs and ZarinPal's authorities: words of 36 characters with at least one letter. */
const reference = String.raw`(?<![\w-])(?=[\d-]*[A-Za-z])[A-Za-z\d-]{36}(?![\w-])`;
/** A date of either calendar, which a time may follow. Card numbers are not grouped like this. */
const date = String.raw`(?<!\d)(?:1[349]|20)\d\d[-/.]\d\d[-/.]\d\d(?!\d)`;
const mobiles = new RegExp(`(${reference}|${date})|${iranian}|${international}`, 'gu');
const cardNumbers = new RegExp(`(${reference}|${date})|${digits}`, 'gu');

const maskDigits = (found: string, kept: string | undefined): string =>
  kept ?? [...found.replaceAll(/\P{Nd}/gu, '')].fill('*', 6, -4).join('');

/** Six and four digits of a mobile number would leave one to guess. */
const maskAllDigits = (found: string, kept: string | undefined): string =>
  kept ?? found.replaceAll(/\p{Nd}/gu, '*');

/** The syntax characters alone: with the flag `u` any other escape is an error, whose message would quote the payer. */
const escaped = (text: string): string => text.replaceAll(/[$()*+./?[\\\]^{|}]/g, String.raw`\$&`);

/** The parts of a payer's data that a provider may echo. */
const echoOf = ({ mobile, email, name }: Payer): RegExp => {
  const national = [...(mobile ?? '').replaceAll(/\D/g, '')].slice(-9).map(Number);
  const echoes = [
    ...(national.length > 0
      ? [String.raw`\+?(?:\p{Nd}${gap}){0,7}${national.map(scripted).join(gap)}`]
      : []),
    ...(email === undefined ? [] : [escaped(email)]),
    ...(name === undefined || name.trim() === ''
      ? []
      : [
          String.raw`(?<![\p{L}\p{N}])${name
            .trim()
            .split(/\s+/)
            .map(escaped)
            .join(String.raw`[\s+]+`)}(?![\p{L}\p{N}])`,
        ]),
  ];
  return new RegExp(echoes.join('|') || '(?!)', 'giu');
};

/** A text of a provider without what it echoes of the payer. A name has no form by which it could be found later. */
export const withoutEcho = (text: string | null, payer: Payer): string | null =>
  text?.replaceAll(echoOf(payer), '***') ?? null;

/** First six digits, asterisks, last four: the only form in which we keep a card number. Else null. */
export const maskedPan = (text: string | null | undefined): string | null => {
  const compact = (text ?? '').replaceAll(/[\s-]/g, '');
  const [, first, middle, last] = /^(\d{6})([\dXx*]{2,9})(\d{4})$/.exec(compact) ?? [];
  return first && middle && last ? `${first}${'*'.repeat(middle.length)}${last}` : null;
};
