import * as fc from 'fast-check';
import type { Resolve, Schema } from '../checks/openapi.ts';

/** Values by field name, for fields whose rules are only in their description. */
export type FieldValues = Readonly<Record<string, fc.Arbitrary<unknown>>>;

/** Characters of every length in UTF-8 and UTF-16, except NUL, which the API rejects. */
const characters = fc.oneof(
  fc.constantFrom(...'aZ09 "\\/<>&%é\u2028😀\u0001\u007f'),
  fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }).filter((text) => text !== '\0'),
);

const offset = fc.constantFrom('Z', '+00:00', '+03:30', '-11:00');
const moments = (first: string, last: string, ...others: string[]) => {
  const instant = fc.date({ min: new Date(first), max: new Date(last), noInvalidDate: true });
  return fc.oneof(
    instant.map((date) => date.toISOString().slice(0, 10)),
    fc.tuple(instant, offset).map(([date, zone]) => date.toISOString().replace('Z', zone)),
    fc.constantFrom(...others),
  );
};

/** Dates and times as the description of `from` and `to` allows them. The first are over, and before each of the second. */
export const earlyMoments = moments('2000-01-02', '2026-01-02', '1970-01-01', '1970-01-01T00:00Z');
export const lateMoments = moments(
  ...(['2040-01-02', '2099-12-30'] as const),
  ...['9999-12-31', '9999-12-31T23:59:59.999999999Z'],
);

/** Values that a schema accepts. */
export const acceptedBy = (schema: Schema, resolve: Resolve, fieldValues: FieldValues = {}) => {
  const build = (given: Schema, name = ''): fc.Arbitrary<unknown> => {
    const found = resolve(given);
    if (fieldValues[name]) return fieldValues[name];
    if (found.enum) return fc.constantFrom(...found.enum);
    if (found.type === 'integer')
      return fc.integer({ min: found.minimum ?? 0, max: found.maximum ?? 1_000 });
    if (found.type === 'object') return object(found);
    const longest = found.maxLength ?? Infinity;
    if (found.pattern)
      return fc
        .stringMatching(new RegExp(found.pattern, 'u'))
        .filter((text) => [...text].length <= longest);
    return fc.string({
      unit: characters,
      minLength: found.minLength ?? 0,
      maxLength: found.maxLength ?? 50,
    });
  };
  const object = ({ properties = {}, required = [] }: Schema) =>
    fc.record(
      Object.fromEntries(
        Object.entries(properties).map(([name, property]) => [name, build(property, name)]),
      ),
      { requiredKeys: required },
    );
  return build(schema);
};

/** Values that the schema of a field rejects: an arbitrary for each kind of them. */
export const rejectedBy = (
  schema: Schema,
  resolve: Resolve,
  { isRequired }: { isRequired: boolean },
): fc.Arbitrary<unknown>[] => {
  const { type, minimum, maximum, minLength = 0, maxLength, enum: values } = resolve(schema);
  const each = (...wrong: unknown[]) => wrong.map((value) => fc.constant(value));
  // A field that is not required reads both as nothing.
  const nothing = isRequired ? each(null, []) : [];
  const others = [...nothing, ...each(true, [1], 1.5, -1e300)];
  if (type === 'integer')
    return [
      ...others,
      ...each('5', '', {}),
      fc.integer({ max: (minimum ?? 0) - 1 }),
      ...(maximum === undefined ? [] : [fc.maxSafeInteger().filter((value) => value > maximum)]),
    ];
  if (type === 'boolean') return [...nothing, ...each({}, 0, 1, '', 'true')];
  if (type === 'object') return [...others, ...each('{}', 5)];
  return [
    ...others,
    ...each({}, 5),
    ...(values ? [fc.string().filter((text) => !values.includes(text))] : []),
    ...(minLength > 0 ? each('') : []),
    ...(maxLength === undefined
      ? []
      : [fc.string({ unit: characters, minLength: maxLength + 1, maxLength: maxLength + 40 })]),
  ];
};
