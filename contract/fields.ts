import { isoTime } from './time.ts';

/** A field as it is stored and shown: its Postgres type and its JSON text. `Value` is its type in code. */
export interface Codec<Value> {
  sqlType: string;
  isNullable: boolean;
  toJson: (value: Value) => string;
}

export const codecOf = <Value>(
  sqlType: string,
  toJson: (value: Value) => string = JSON.stringify,
): Codec<Value> => ({ sqlType, isNullable: false, toJson });

export const nullable = <Value>({ sqlType, toJson }: Codec<Value>): Codec<Value | null> => ({
  sqlType,
  isNullable: true,
  toJson: (value) => (value === null ? 'null' : toJson(value)),
});

export const text = codecOf<string>('text');
export const integer = codecOf<number>('bigint');
export const boolean = codecOf<boolean>('boolean');
export const time = codecOf<Date>('timestamptz', (value) => `"${isoTime(value)}"`);
/** JSON as the caller sent it: stored as text and returned unchanged. */
export const json = codecOf<string>('text', (value) => value);

/** A field with a column. `property` is its name in code. */
export const stored =
  <WrittenBy extends string>(writtenBy: WrittenBy) =>
  <Property extends string, Value>(property: Property, codec: Codec<Value>) => ({
    property,
    codec,
    writtenBy,
    toJson: (record: Record<Property, Value>) => codec.toJson(record[property]),
  });

/** Writes one property of a record. It has no column of its own name. */
export const shown =
  <Shown>() =>
  <Property extends keyof Shown>(
    property: Property,
    { toJson }: Pick<Codec<Shown[Property]>, 'toJson'>,
  ) =>
  (record: Shown): string =>
    toJson(record[property]);
