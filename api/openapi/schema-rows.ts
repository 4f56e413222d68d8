import type { Schema } from './read-document.ts';

/** A member of an object, with the names of what is around it. */
interface Member {
  name: string;
  facts: string[];
  text: string;
}

const nameOf = (ref: string): string => ref.slice(ref.lastIndexOf('/') + 1);

const alternativesOf = ({ anyOf, oneOf, allOf }: Schema): Schema[] => anyOf ?? oneOf ?? allOf ?? [];

const withArticle = (schema: Schema): string =>
  schema.type === 'array' ? `list of ${typeOf(schema.items ?? {})}` : String(schema.type ?? '');

/** `#Name` stands for an object of the document. */
const typeOf = (schema: Schema): string => {
  if (schema.$ref !== undefined) return `#${nameOf(schema.$ref)}`;
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(' | ');
  const alternatives = alternativesOf(schema);
  if (alternatives.length > 0)
    return [...new Set(alternatives.map(typeOf).filter(Boolean))].join(' or ');
  if (Array.isArray(schema.type)) return schema.type.join(' or ');
  return withArticle(schema);
};

const boundsOf = (schema: Schema): string[] => {
  const { minimum, maximum, minLength, maxLength, format } = schema;
  return [
    ...(format === undefined || format === 'int64' ? [] : [format]),
    ...(minimum === undefined ? [] : [`from ${minimum}`]),
    ...(maximum === undefined ? [] : [`to ${maximum}`]),
    ...(minLength === undefined || minLength === 0 ? [] : [`at least ${minLength} characters`]),
    ...(maxLength === undefined ? [] : [`at most ${maxLength} characters`]),
    ...(schema.default === undefined ? [] : [`default ${JSON.stringify(schema.default)}`]),
  ];
};

/** The object within a schema that says what its members are. */
const objectIn = (schema: Schema): Schema | undefined =>
  schema.properties ? schema : alternativesOf(schema).map(objectIn).find(Boolean);

const membersOf = (schema: Schema, around = ''): Member[] => {
  const object = objectIn(schema);
  return Object.entries(object?.properties ?? {}).flatMap(([key, member]) => {
    const name = `${around}${key}`;
    const facts = [
      ...[typeOf(member)].filter(Boolean),
      ...boundsOf(member),
      ...(object?.required?.includes(key) ? [] : ['optional']),
    ];
    const inner = member.type === 'array' ? (member.items ?? {}) : member;
    const dots = member.type === 'array' ? '[].' : '.';
    return [{ name, facts, text: member.description ?? '' }, ...membersOf(inner, `${name}${dots}`)];
  });
};

/** The words of the page about a schema. */
export const schemaRows = (schema: Schema) => ({
  facts: [...[typeOf(schema)].filter(Boolean), ...boundsOf(schema)],
  text: schema.description ?? '',
  members: membersOf(schema),
});
