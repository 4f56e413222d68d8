import * as fc from 'fast-check';
import { acceptedBy, rejectedBy, type FieldValues } from './arbitraries.ts';
import type { Operation, Resolve, Schema } from '../checks/openapi.ts';

/** The parts of a request, by their place in the document. */
export interface Parts {
  path: Record<string, unknown>;
  query: Record<string, unknown>;
  header: Record<string, unknown>;
  body: unknown;
}

const parameterSchema = ({ parameters = [] }: Operation, place: string): Schema => {
  const here = parameters.filter((one) => one.in === place);
  return {
    type: 'object',
    properties: Object.fromEntries(here.map(({ name, schema = {} }) => [name, schema])),
    required: here.filter(({ required }) => required).map(({ name }) => name),
  };
};

const bodySchema = (operation: Operation): Schema | undefined =>
  Object.values(operation.requestBody?.content ?? {})[0]?.schema;

/** Requests that the document allows. */
export const validRequests = (
  operation: Operation,
  resolve: Resolve,
  fieldValues: FieldValues,
): fc.Arbitrary<Parts> => {
  const part = (schema: Schema) =>
    acceptedBy(schema, resolve, fieldValues) as fc.Arbitrary<Record<string, unknown>>;
  const body = bodySchema(operation);
  const parts: fc.Arbitrary<Parts> = fc.record({
    path: part(parameterSchema(operation, 'path')),
    query: part(parameterSchema(operation, 'query')),
    header: part(parameterSchema(operation, 'header')),
    body: fieldValues['body'] ?? (body ? part(body) : fc.constant(undefined)),
  });
  return parts.map(withoutConflicts);
};

/** Rules that are only in the description of a list: `cursor` excludes `page`, and pages are limited. */
const withoutConflicts = (parts: Parts): Parts => {
  const { page, ...query } = parts.query;
  const isDeep = Number(page) * Number(query['per_page'] ?? 20) > 10_000;
  return page === undefined || 'cursor' in query || isDeep ? { ...parts, query } : parts;
};

/** Valid requests with one invalid part, and the name of that part: an arbitrary for each kind of fault in each part. */
export const invalidRequests = (
  operation: Operation,
  resolve: Resolve,
  fieldValues: FieldValues,
): fc.Arbitrary<{ parts: Parts; at: string }>[] => {
  const faults = [
    ...faultsIn('query', parameterSchema(operation, 'query'), resolve),
    ...faultsIn('body', bodySchema(operation), resolve),
  ];
  const valid = validRequests(operation, resolve, fieldValues);
  return faults.map((fault) =>
    fc.tuple(valid, fault).map(([parts, { place, name, value }]) => {
      const changed = { ...(parts[place] as Record<string, unknown>), [name]: value };
      if (value === undefined) delete changed[name];
      return { parts: { ...parts, [place]: changed }, at: name };
    }),
  );
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
    ...Object.entries(properties).flatMap(([name, property]) =>
      (place === 'body'
        ? rejectedBy(property, resolve, { isRequired: required.includes(name) })
        : rejectedText(name, property, resolve)
      ).map((values) => fault(name, values)),
    ),
    fc
      .stringMatching(/^[a-z_]{1,12}$/)
      .filter((name) => !names.includes(name))
      .chain((name) => fault(name, fc.constant('1'))),
  ];
};

/** A query has only texts, so an invalid value is a text that does not parse. */
const rejectedText = (name: string, schema: Schema, resolve: Resolve): fc.Arbitrary<unknown>[] => {
  const { type, maximum = 0, minLength = 0, maxLength, enum: values } = resolve(schema);
  const each = (...wrong: string[]) => wrong.map((text) => fc.constant(text));
  if (type === 'integer')
    return each('0', '-1', '01', '1.0', '1e1', '', ' 1', 'x', String(maximum + 1));
  if (name === 'from' || name === 'to') return each(...rejectedTimes);
  if (values) return [fc.string().filter((text) => !values.includes(text))];
  if (maxLength === undefined) return each('', 'x', 'MTox');
  return each(...(minLength > 0 ? [''] : []), 'y'.repeat(maxLength + 1), 'a\0b');
};

/** Includes times that RFC 3339 allows and the description does not: other years, leap seconds, long fractions. */
const rejectedTimes = [
  '',
  'x',
  '2026-02-30',
  '2026-11-20T10:00:00',
  '1763600000',
  '1969-12-31',
  '10000-01-01',
  '1970-01-01T00:00:00+00:01',
  '9999-12-31T23:59:59-00:01',
  '2016-12-31T23:59:60Z',
  '2026-11-20T24:00:00Z',
  '2026-11-20T10:00:00.1234567890Z',
];

/** The request to send; its body is still a value. */
export const toRequest = (path: string, { path: inPath, query, header, body }: Parts) => {
  const given = Object.entries(query).filter(([, value]) => value !== undefined);
  const texts = given.map(([name, value]) => [name, String(value)] as const);
  const search = new URLSearchParams(Object.fromEntries(texts)).toString();
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(String(inPath[name])),
  );
  const headers = Object.fromEntries(
    Object.entries(header).map(([name, value]) => [name, String(value)]),
  );
  return { path: `${filled}${search && `?${search}`}`, headers, body };
};
