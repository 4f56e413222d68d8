/** As much of JSON Schema as the contract uses. */
export interface Schema {
  $ref?: string;
  type?: string | string[];
  const?: unknown;
  enum?: unknown[];
  pattern?: string;
  format?: string;
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
  maxProperties?: number;
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: boolean | Schema;
  items?: Schema;
  anyOf?: Schema[];
}

/** `input`: what callers send, which may not be narrowed. `output`: what they get, not widened. */
export type Direction = 'input' | 'output';

export interface Sides {
  released: Schema;
  current: Schema;
  where: string;
  direction: Direction;
}

export type Resolve = (schema: Schema) => Schema;

/** Everything in a schema that breaks who was built against the released one. */
export const breaksOfSchema = (
  sides: Sides,
  resolve: { released: Resolve; current: Resolve },
): string[] => {
  const { where, direction } = sides;
  const before = alternativesOf(sides.released, resolve.released);
  const now = alternativesOf(sides.current, resolve.current);
  const breaksOf = (released: Schema) =>
    now
      .filter(({ type }) => released.type === undefined || type === released.type)
      .map((current) => breaksOfOne({ ...sides, released, current }, resolve))
      .toSorted((one, other) => one.length - other.length)[0] ?? [
      `${where}: ${String(released.type)} is gone`,
    ];
  const widened =
    direction === 'output'
      ? now.filter(({ type }) => !before.some((one) => !one.type || one.type === type))
      : [];
  return [
    ...before.flatMap(breaksOf),
    ...widened.map(({ type }) => `${where}: can be ${String(type)} now`),
  ];
};

/** A schema as a choice of schemas of one type each. */
const alternativesOf = (schema: Schema, resolve: Resolve): Schema[] => {
  const found = resolve(schema);
  if (found.anyOf) return found.anyOf.flatMap((one) => alternativesOf(one, resolve));
  return Array.isArray(found.type) ? found.type.map((type) => ({ ...found, type })) : [found];
};

const breaksOfOne = (sides: Sides, resolve: { released: Resolve; current: Resolve }): string[] => {
  const { released, current, where, direction } = sides;
  const items =
    released.items && current.items
      ? breaksOfSchema(
          { released: released.items, current: current.items, where: `${where}[]`, direction },
          resolve,
        )
      : [];
  return [
    ...breaksOfValues(sides),
    ...breaksOfBounds(sides),
    ...breaksOfProperties(sides, resolve),
    ...items,
  ];
};

const valuesOf = ({ enum: values, const: value }: Schema) =>
  values ?? (value === undefined ? undefined : [value]);

const breaksOfValues = ({ released, current, where, direction }: Sides): string[] => {
  const before = valuesOf(released);
  const now = valuesOf(current);
  const gone = now ? (before?.filter((value) => !now.includes(value)) ?? []) : [];
  const isClosed = direction === 'input' && !before && now;
  const isOpened = direction === 'output' && before && !now;
  return [
    ...gone.map((value) => `${where}: ${JSON.stringify(value)} is gone`),
    ...(isClosed || isOpened ? [`${where}: its values are another set`] : []),
    ...(['pattern', 'format'] as const)
      .filter((rule) => released[rule] !== current[rule])
      // Fewer rules for callers, or more for ourselves, break nobody.
      .filter((rule) => (direction === 'input' ? current : released)[rule] !== undefined)
      .map((rule) => `${where}: ${rule} is another`),
  ];
};

const lower = ['minimum', 'minLength', 'minItems'] as const;
const upper = ['maximum', 'maxLength', 'maxItems', 'maxProperties'] as const;

const breaksOfBounds = ({ released, current, where, direction }: Sides): string[] => {
  const [tight, loose] = direction === 'input' ? [current, released] : [released, current];
  return [
    ...lower.filter((rule) => (tight[rule] ?? -Infinity) > (loose[rule] ?? -Infinity)),
    ...upper.filter((rule) => (tight[rule] ?? Infinity) < (loose[rule] ?? Infinity)),
  ].map(
    (rule) => `${where}: ${rule} is ${direction === 'input' ? 'tighter' : 'looser'} than it was`,
  );
};

const breaksOfProperties = (
  sides: Sides,
  resolve: { released: Resolve; current: Resolve },
): string[] => {
  const { released, current, where, direction } = sides;
  const before = Object.entries(released.properties ?? {});
  const [mandatory, was] =
    direction === 'input'
      ? [current.required ?? [], released.required ?? []]
      : [released.required ?? [], current.required ?? []];
  const word = direction === 'input' ? 'must be sent now' : 'may be missing now';
  const isClosed =
    direction === 'input' &&
    current.additionalProperties === false &&
    released.additionalProperties !== false;
  return [
    ...before.flatMap(([name, schema]) => {
      const now = current.properties?.[name];
      if (!now) return [`${where}.${name}: is gone`];
      return breaksOfSchema(
        { released: schema, current: now, where: `${where}.${name}`, direction },
        resolve,
      );
    }),
    ...mandatory
      .filter((name) => !was.includes(name))
      .filter((name) => direction === 'input' || current.properties?.[name])
      .map((name) => `${where}.${name}: ${word}`),
    ...(isClosed ? [`${where}: refuses unknown fields now`] : []),
  ];
};
