import * as fc from 'fast-check';

/** Any JSON value, with strings that need escapes. */
export const document = fc.jsonValue({
  maxDepth: 5,
  stringUnit: fc.constantFrom(...'aé"\\/ \n\u2028😀'),
});

/** Writes a value as JSON, with keys in random order and random white space. */
export const written = (value: unknown, random: () => number): string => {
  const space = () => ['', ' ', '\n\t', '\r '][Math.floor(random() * 4)] ?? '';
  const write = (inner: unknown): string => {
    if (Array.isArray(inner))
      return `[${space()}${inner.map(write).join(`${space()},${space()}`)}]`;
    if (typeof inner !== 'object' || inner === null) return JSON.stringify(inner);
    const members = Object.entries(inner)
      .map((entry) => ({ entry, at: random() }))
      .toSorted((one, other) => one.at - other.at)
      .map(
        ({ entry: [key, member] }) => `${JSON.stringify(key)}${space()}:${space()}${write(member)}`,
      );
    return `{${space()}${members.join(`${space()},`)}${space()}}`;
  };
  return `${space()}${write(value)}${space()}`;
};

/** Makes random sources for `written`: functions that return numbers from 0 to 1. */
export const randomness = fc
  .infiniteStream(fc.double({ min: 0, max: 0.999, noNaN: true }))
  .map((stream) => () => Number(stream.next().value));
