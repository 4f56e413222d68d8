/**
 * A whole number as people write it: digits alone, without a sign, blanks, leading zeros or an exponent.
 * @returns undefined for any other text, and beyond the bounds
 */
export const parseWholeNumber = (
  text: string,
  { min, max }: { min: number; max: number },
): number | undefined => {
  const value = /^(?:0|[1-9]\d{0,14})$/.test(text) ? Number(text) : NaN;
  return value >= min && value <= max ? value : undefined;
};
