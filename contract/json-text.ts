/** A value that is JSON text already. */
export interface JsonText {
  jsonText: string;
}

/**
 * Writes an object with its fields in their order; a `jsonText` is inserted unchanged. Field names are
 * ours and need no escaping.
 */
export const formatObject = (
  fields: Readonly<Record<string, string | number | boolean | null | JsonText>>,
): string => {
  const members = Object.entries(fields).map(([name, value]) => {
    const text =
      typeof value === 'object' && value !== null ? value.jsonText : JSON.stringify(value);
    return `"${name}":${text}`;
  });
  return `{${members.join()}}`;
};
