/** What a gateway says, kept for admins: short, and as Postgres can keep it. */
export const wordsOf = (
  code: string | number | null | undefined,
  message: string | null | undefined,
) => ({
  code: code === null || code === undefined ? null : clean(String(code), 100),
  message: message === null || message === undefined ? null : clean(message, 500),
});

const clean = (text: string, length: number): string =>
  // Well formed at last: what is cut may be half a character, which Postgres refuses.
  text.replaceAll('\0', '').replaceAll(cardNumbers, masked).slice(0, length).toWellFormed();

/** Whatever has as many digits as a card number or more, of any script, in one piece or in groups. */
const digits = String.raw`\p{Nd}(?:[\s\p{Cf}./_\p{Pd}]{0,2}\p{Nd}){12,}`;
/** UUIDs and ZarinPal's authorities: words of 36 characters, some of them letters. */
const reference = String.raw`(?<![\w-])(?=[\d-]*[A-Za-z])[A-Za-z\d-]{36}(?![\w-])`;
/** Of either calendar, which a time may follow: a card's number is not grouped so. */
const date = String.raw`(?<!\d)(?:1[349]|20)\d\d[-/.]\d\d[-/.]\d\d(?!\d)`;
const cardNumbers = new RegExp(`(${reference}|${date})|${digits}`, 'gu');

const masked = (found: string, kept: string | undefined): string =>
  kept ?? [...found.replaceAll(/\P{Nd}/gu, '')].fill('*', 6, -4).join('');

/** First six digits, asterisks, last four, the only form in which a card number is kept; else null. */
export const maskedPan = (text: string | null | undefined): string | null => {
  const bare = (text ?? '').replaceAll(/[\s-]/g, '');
  const [, first, middle, last] = /^(\d{6})([\dXx*]{2,9})(\d{4})$/.exec(bare) ?? [];
  return first && middle && last ? `${first}${'*'.repeat(middle.length)}${last}` : null;
};
