/** Parses a percentage from 0 to 100 with at most two decimals. @returns hundredths of a percent; undefined for any other text */
export const parsePercent = (text: string): number | undefined => {
  const value = Math.round(Number(text) * 100);
  return /^(0|[1-9]\d{0,2})(\.\d{1,2})?$/.test(text) && value <= 10_000 ? value : undefined;
};

/** Formats hundredths of a percent, as {@link parsePercent} reads them. */
export const formatPercent = (basisPoints: number): string => String(basisPoints / 100);
