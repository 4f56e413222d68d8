/** A fact of a record: its words on the screen, and its value. Code finds it by its key, so its words may change. */
export interface Fact<Value = unknown> {
  label: string;
  value: Value;
}
type Facts = Readonly<Record<string, Fact>>;

export const fact = <Value>(label: string, value: Value): Fact<Value> => ({ label, value });

/** `1 attempt`, `2 attempts`. */
export const countOf = (count: number, one: string, many = `${one}s`): string =>
  `${count.toLocaleString('en')} ${count === 1 ? one : many}`;

/** Some of the facts, in this order. */
export const pick = <Of extends Facts, Key extends keyof Of>(facts: Of, ...keys: Key[]) =>
  Object.fromEntries(keys.map((key) => [key, facts[key]])) as Pick<Of, Key>; // Object.fromEntries forgets the keys.

/** The facts under their words. @param instead stands there instead of a value */
export const byLabel = <Of extends Facts, Cell = never>(
  facts: Of,
  instead: { readonly [Each in keyof Of]?: Cell } = {},
) =>
  Object.fromEntries(
    Object.entries(facts).map(([key, { label, value }]) => [
      label,
      Object.hasOwn(instead, key) ? instead[key] : value,
    ]),
  ) as Record<string, Of[keyof Of]['value'] | Cell>; // Object.fromEntries forgets the keys.
