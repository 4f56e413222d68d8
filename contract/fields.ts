import { isoTime } from './time.ts';

/** A kind of value: its Postgres type and its JSON text. `Value` is its type in code. */
export interface Kind<Value> {
  sqlType: string;
  isNullable: boolean;
  toJson: (value: Value) => string;
}

export const kind = <Value>(
  sqlType: string,
  toJson: (value: Value) => string = JSON.stringify,
): Kind<Value> => ({ sqlType, isNullable: false, toJson });

export const nullable = <Value>({ sqlType, toJson }: Kind<Value>): Kind<Value | null> => ({
  sqlType,
  isNullable: true,
  toJson: (value) => (value === null ? 'null' : toJson(value)),
});

export const text = kind<string>('text');
export const integer = kind<number>('bigint');
export const boolean = kind<boolean>('boolean');
export const time = kind<Date>('timestamptz', (value) => `"${isoTime(value)}"`);
/** JSON as the caller sent it: stored as text and returned unchanged. */
export const json = kind<string>('text', (value) => value);

/** A field with a column. `property` is its name in code. */
export const stored =
  <WrittenBy extends string>(writtenBy: WrittenBy) =>
  <Property extends string, Value>(property: Property, valueKind: Kind<Value>) => ({
    property,
    kind: valueKind,
    writtenBy,
    toJson: (record: Record<Property, Value>) => valueKind.toJson(record[property]),
  });
