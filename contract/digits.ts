const isDigit = (code: number): boolean => /^\p{Nd}$/u.test(String.fromCodePoint(code));

/** A text with the digits of every script as 0 to 9. Unicode has the ten digits of a script in a row. */
export const asciiDigits = (text: string): string =>
  text.replaceAll(/(?!\d)\p{Nd}/gu, (digit) => {
    const code = digit.codePointAt(0) ?? 0;
    let first = code;
    while (isDigit(first - 1)) first -= 1;
    return String((code - first) % 10);
  });
