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

/** Whatever has as many digits as a card number, in one piece or in groups. */
const cardNumbers = /(?<!\d)\d(?:[ -]?\d){12,18}(?!\d)/g;

const masked = (found: string): string => {
  const digits = found.replaceAll(/\D/g, '');
  return `${digits.slice(0, 6)}${'*'.repeat(digits.length - 10)}${digits.slice(-4)}`;
};

/** First six digits, asterisks, last four, the only form in which a card number is kept; else null. */
export const maskedPan = (text: string | null | undefined): string | null => {
  const bare = (text ?? '').replaceAll(/[\s-]/g, '');
  const [, first, middle, last] = /^(\d{6})([\dXx*]{2,9})(\d{4})$/.exec(bare) ?? [];
  return first && middle && last ? `${first}${'*'.repeat(middle.length)}${last}` : null;
};
