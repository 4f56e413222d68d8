/**
 * A text for a terminal, on one line: without control and format characters, which move the cursor, change colours or
 * reverse text. Order ids, messages of gateways and responses of receivers can hold them.
 */
export const terminalLine = (text: string): string =>
  text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, (found) => (/[\t\r\n]/.test(found) ? ' ' : ''));

/** The same for a text of several lines. */
export const terminalText = (text: string): string =>
  text
    .split(/\r?\n/)
    .map((line) => terminalLine(line))
    .join('\n');

/** JSON text with every control and format character of its strings escaped. It stays the same JSON. */
export const escapeJson = (json: string): string =>
  // Line ends inside strings are escaped already. The others separate lines and stay.
  json.replace(/(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (character) =>
    character
      .split('')
      .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
      .join(''),
  );
