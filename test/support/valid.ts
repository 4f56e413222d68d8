import * as fc from 'fast-check';
import type { Operation } from '../../tools/breaking-changes.ts';
import type { Resolve, Schema } from '../../tools/breaking-schema.ts';
import type { Known } from './arbitraries.ts';
import { acceptedBy, refusedBy } from './arbitraries.ts';

/** A request in parts; the places that a document speaks of. */
export interface Parts {
  path: Record<string, unknown>;
  query: Record<string, unknown>;
  header: Record<string, unknown>;
  body: unknown;
}

const objectOf = ({ parameters = [] }: Operation, place: string): Schema => {
  const here = parameters.filter((one) => one.in === place);
  return {
    type: 'object',
    properties: Object.fromEntries(here.map(({ name, schema = {} }) => [name, schema])),
    required: here.filter(({ required }) => required).map(({ name }) => name),
  };
};

const bodyOf = (operation: Operation): Schema | undefined =>
  Object.values(operation.requestBody?.content ?? {})[0]?.schema;

/** Requests made of what the document says alone; `known` where only its words can say it. */
export const validRequests = (
  operation: Operation,
  resolve: Resolve,
  known: Known,
): fc.Arbitrary<Parts> => {
  const part = (schema: Schema) =>
    acceptedBy(schema, resolve, known) as fc.Arbitrary<Record<string, unknown>>;
  const body = bodyOf(operation);
  const parts: fc.Arbitrary<Parts> = fc.record({
    path: part(objectOf(operation, 'path')),
    query: part(objectOf(operation, 'query')),
    header: part(objectOf(operation, 'header')),
    body: known['body'] ?? (body ? part(body) : fc.constant(undefined)),
  });
  return parts.map(withoutContradiction);
};

/** What only the descriptions of a list say: a cursor instead of a page, and how deep pages go. */
const withoutContradiction = (parts: Parts): Parts => {
  const { page, ...query } = parts.query;
  const isDeep = Number(page) * Number(query['per_page'] ?? 20) > 10_000;
  return page === undefined || 'cursor' in query || isDeep ? { ...parts, query } : parts;
};

/** A valid request with one thing made wrong, and where that is. */
export const invalidRequests = (
  operation: Operation,
  resolve: Resolve,
  known: Known,
): fc.Arbitrary<{ parts: Parts; at: string }> | undefined => {
  const spots = [
    ...faultsIn('query', objectOf(operation, 'query'), resolve),
    ...faultsIn('body', bodyOf(operation), resolve),
  ];
  if (spots.length === 0) return undefined;
  return fc
    .tuple(validRequests(operation, resolve, known), fc.oneof(...spots))
    .map(([parts, { place, name, value }]) => {
      const changed = { ...(parts[place] as Record<string, unknown>), [name]: value };
      if (value === undefined) delete changed[name];
      return { parts: { ...parts, [place]: changed }, at: name };
    });
};

const faultsIn = (place: 'query' | 'body', schema: Schema | undefined, resolve: Resolve) => {
  if (!schema) return [];
  const { properties = {}, required = [] } = resolve(schema);
  const names = Object.keys(properties);
  if (names.length === 0) return [];
  const fault = (name: string, values: fc.Arbitrary<unknown>) =>
    values.map((value) => ({ place, name, value }));
  return [
    ...required.map((name) => fault(name, fc.constant(undefined))),
    ...Object.entries(properties).map(([name, property]) =>
      fault(
        name,
        place === 'body' ? refusedBy(property, resolve) : refusedText(name, property, resolve),
      ),
    ),
    fc
      .stringMatching(/^[a-z_]{1,12}$/)
      .filter((name) => !names.includes(name))
      .chain((name) => fault(name, fc.constant('1'))),
  ];
};

/** In a query everything is text, so a wrong value is a text that does not read as a right one. */
const refusedText = (name: string, schema: Schema, resolve: Resolve): fc.Arbitrary<unknown> => {
  const { type, maximum = 0, minLength = 0, maxLength, enum: values } = resolve(schema);
  if (type === 'integer')
    return fc.constantFrom('0', '-1', '01', '1.0', '1e1', '', ' 1', 'x', String(maximum + 1));
  if (name === 'from' || name === 'to') return refusedTime;
  if (values) return fc.string().filter((text) => !values.includes(text));
  if (maxLength === undefined) return fc.constantFrom('', 'x', 'MTox');
  return fc.constantFrom(...(minLength > 0 ? [''] : []), 'y'.repeat(maxLength + 1), 'a\0b');
};

/** Also what RFC 3339 allows and the description does not: other years, leap seconds, long fractions. */
const refusedTime = fc.constantFrom(
  ...['', 'x', '2026-02-30', '2026-11-20T10:00:00', '1763600000', '1969-12-31', '10000-01-01'],
  ...['1970-01-01T00:00:00+00:01', '9999-12-31T23:59:59-00:01', '2016-12-31T23:59:60Z'],
  ...['2026-11-20T24:00:00Z', '2026-11-20T10:00:00.1234567890Z'],
);

/** What goes over the wire; the body is still a value. */
export const sentAs = (path: string, { path: inPath, query, header, body }: Parts) => {
  const texts = Object.entries(query).map(([name, value]) => [name, String(value)] as const);
  const search = new URLSearchParams(Object.fromEntries(texts)).toString();
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(String(inPath[name])),
  );
  const headers = Object.fromEntries(
    Object.entries(header).map(([name, value]) => [name, String(value)]),
  );
  return { path: `${filled}${search && `?${search}`}`, headers, body };
};
