/** As much of JSON Schema as is compared. */
export interface Schema {
  $ref?: string;
  type?: string | string[];
  const?: unknown;
  enum?: unknown[];
  pattern?: string;
  format?: string;
  minimum?: number;
  maximum?: number;
  multipleOf?: number;
  minLength?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
  minProperties?: number;
  maxProperties?: number;
  propertyNames?: Schema;
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: boolean | Schema;
  items?: Schema;
  anyOf?: Schema[];
  default?: unknown;
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
  // What has no type is of any.
  const isFor = (released: Schema, { type }: Schema) =>
    type === released.type ||
    released.type === undefined ||
    (direction === 'input' && type === undefined);
  const breaksOf = (released: Schema) =>
    now
      .filter((current) => isFor(released, current))
      .map((current) => breaksOfOne({ ...sides, released, current }, resolve))
      .toSorted((one, other) => one.length - other.length)[0] ?? [
      `${where}: ${String(released.type)} is gone`,
    ];
  const narrowed =
    direction === 'input' && before.some(isOfAnyType) && !now.some(isOfAnyType)
      ? [`${where}: takes ${now.map(({ type }) => String(type)).join(' or ')} alone now`]
      : [];
  const widened =
    direction === 'output'
      ? now.filter(({ type }) => !before.some((one) => !one.type || one.type === type))
      : [];
  return [
    ...unknownKeywords([...before, ...now]).map((name) => `${where}: ${name} cannot be compared`),
    ...before.flatMap(breaksOf),
    ...narrowed,
    ...widened.map(({ type }) => `${where}: can be ${String(type)} now`),
  ];
};

const isOfAnyType = ({ type }: Schema) => type === undefined;

/** A schema as a choice of schemas of one type each; what stands beside the choice is of them all. */
const alternativesOf = (schema: Schema, resolve: Resolve): Schema[] => {
  const { $ref, ...beside } = schema;
  const { anyOf, ...found } = $ref === undefined ? beside : { ...resolve(schema), ...beside };
  if (anyOf) return anyOf.flatMap((one) => alternativesOf({ ...found, ...one }, resolve));
  return Array.isArray(found.type) ? found.type.map((type) => ({ ...found, type })) : [found];
};

const breaksOfOne = (sides: Sides, resolve: { released: Resolve; current: Resolve }): string[] => {
  const { released, current, where } = sides;
  const inner = (was: Schema | undefined, now: Schema | undefined, place: string) =>
    was || now
      ? breaksOfSchema(
          { ...sides, released: was ?? {}, current: now ?? {}, where: `${where}${place}` },
          resolve,
        )
      : [];
  return [
    ...breaksOfValues(sides),
    ...breaksOfBounds(sides),
    ...breaksOfProperties(sides, resolve),
    ...inner(released.items, current.items, '[]'),
    ...inner(released.propertyNames, current.propertyNames, ' keys'),
    ...inner(furtherOf(released), furtherOf(current), '.*'),
  ];
};

/** What fields without a name of their own must be. */
const furtherOf = ({ additionalProperties: further }: Schema) =>
  typeof further === 'object' ? further : undefined;

const valuesOf = ({ enum: values, const: value }: Schema) =>
  values ?? (value === undefined ? undefined : [value]);

/** What is sent by who leaves it out. */
const hasOtherDefault = ({ default: was }: Schema, { default: now }: Schema) =>
  was !== undefined && JSON.stringify(was) !== JSON.stringify(now);

const rules = ['pattern', 'format', 'multipleOf'] as const;

/** What only tells how wide a number to make of it: the bounds of `released` were within that before. */
const saysWidth = ({ format: was, minimum = -Infinity, maximum = Infinity }: Schema, now: Schema) =>
  was === undefined &&
  now.format === 'int64' &&
  minimum >= Number.MIN_SAFE_INTEGER &&
  maximum <= Number.MAX_SAFE_INTEGER;

const breaksOfValues = ({ released, current, where, direction }: Sides): string[] => {
  const before = valuesOf(released);
  const now = valuesOf(current);
  const gone = now ? (before?.filter((value) => !now.includes(value)) ?? []) : [];
  const isClosed = direction === 'input' && !before && now;
  const isOpened = direction === 'output' && before && !now;
  return [
    ...gone.map((value) => `${where}: ${JSON.stringify(value)} is gone`),
    ...(isClosed || isOpened ? [`${where}: its values are another set`] : []),
    ...(direction === 'input' && hasOtherDefault(released, current)
      ? [`${where}: its default is another`]
      : []),
    ...rules
      .filter((rule) => released[rule] !== current[rule])
      // Fewer rules for callers, or more for ourselves, break nobody.
      .filter((rule) => (direction === 'input' ? current : released)[rule] !== undefined)
      .filter(
        (rule) => !(direction === 'input' && rule === 'format' && saysWidth(released, current)),
      )
      .map((rule) => `${where}: ${rule} is another`),
  ];
};

const lower = ['minimum', 'minLength', 'minItems', 'minProperties'] as const;
const upper = ['maximum', 'maxLength', 'maxItems', 'maxProperties'] as const;

const compared: readonly string[] = [
  ...['type', 'const', 'enum', 'default', ...rules, ...lower, ...upper],
  ...['items', 'properties', 'required', 'additionalProperties', 'propertyNames'],
  // For people.
  ...['description', 'title', 'examples'],
];

const unknownKeywords = (schemas: Schema[]) => [
  ...new Set(schemas.flatMap(Object.keys).filter((name) => !compared.includes(name))),
];

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
  const unknown =
    direction === 'output' && released.additionalProperties === false
      ? Object.keys(current.properties ?? {}).filter((name) => !released.properties?.[name])
      : [];
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
    ...unknown.map((name) => `${where}.${name}: is new, and unknown fields were said not to come`),
  ];
};
