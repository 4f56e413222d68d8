import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { compile } from 'json-schema-to-typescript';
import { format } from 'prettier';
import { releasedPath } from './release-openapi.ts';

/*
 * Writes the types of the client package from the released OpenAPI document. A test compares the file with
 * the document.
 */

export const clientTypesPath = join(import.meta.dirname, '../client/src/types.ts');

type Json = string | number | boolean | null | Json[] | { [name: string]: Json };
type JsonObject = { [name: string]: Json };

interface Parameter {
  in: string;
  name: string;
  required?: boolean;
  description?: string;
  schema: JsonObject;
}

interface Document {
  info: { version: string };
  paths: Record<string, Record<string, { operationId: string; parameters?: Parameter[] }>>;
  components: { schemas: Record<string, JsonObject> };
}

/** The lists whose filters are types of the client. */
const queries = {
  listPayments: 'ListPayments',
  listRefundsOfPayment: 'ListRefundsOfPayment',
  listRefunds: 'ListRefunds',
  listDisputesOfPayment: 'ListDisputesOfPayment',
  listDisputes: 'ListDisputes',
  listLinks: 'ListLinks',
  listMovements: 'ListMovements',
  listGateways: 'ListGateways',
  listEvents: 'ListEvents',
};

/** The bodies that an application sends. */
const requests = [
  'CancelPayment',
  'CreatePayment',
  'CreateRefund',
  'CreateReplay',
  'SandboxPlan',
  'SandboxRefundPlan',
  'TestWebhook',
];

const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** `'a' | 'b' | (string & {})`: editors offer the known values, and new ones are no type error. */
const openEnumType = (members: Json): string | undefined => {
  if (!Array.isArray(members) || members.length !== 2) return undefined;
  const [known, any] = members;
  if (!isObject(known) || !Array.isArray(known['enum'])) return undefined;
  if (!isObject(any) || any['type'] !== 'string' || Object.keys(any).length > 1) return undefined;
  return [...known['enum'].map((value) => JSON.stringify(value)), '(string & {})'].join(' | ');
};

/** A default is part of the description, which editors show. */
const withDefault = (schema: JsonObject): JsonObject => {
  const { default: usual, description = '' } = schema;
  if (usual === undefined || typeof description !== 'string') return schema;
  const shown = `\`${typeof usual === 'string' ? usual : JSON.stringify(usual)}\``;
  return description.includes(shown)
    ? schema
    : { ...schema, description: `${description} By default ${shown}.`.trim() };
};

/** The schema as the generator reads it: references within the file, open enums, nothing that repeats a type. */
const prepare = (value: Json): Json => {
  if (Array.isArray(value)) return value.map(prepare);
  if (!isObject(value)) return value;
  const type = openEnumType(value['anyOf'] ?? null);
  if (type !== undefined)
    return {
      ...(typeof value['description'] === 'string' && { description: value['description'] }),
      tsType: type,
    };
  return Object.fromEntries(
    Object.entries(withDefault(value))
      .filter(([name]) => !['propertyNames', 'examples', 'minItems', 'maxItems'].includes(name))
      .map(([name, inner]) => [
        name,
        name === '$ref' && typeof inner === 'string'
          ? inner.replace('#/components/schemas/', '#/$defs/')
          : name === 'items'
            ? inParentheses(prepare(inner))
            : prepare(inner),
      ]),
  );
};

/** The generator writes the type of an array's items as it is, and `[]` after it. */
const inParentheses = (schema: Json): Json =>
  isObject(schema) && typeof schema['tsType'] === 'string'
    ? { ...schema, tsType: `(${schema['tsType']})` }
    : schema;

/** Names the type of the currencies, which requests have as a list. */
const nameCurrencies = (schemas: Record<string, JsonObject>): Record<string, JsonObject> => {
  const list = JSON.stringify(schemas['Currency']?.['enum']);
  const replace = (value: Json): Json => {
    if (Array.isArray(value)) return value.map(replace);
    if (!isObject(value)) return value;
    if (JSON.stringify(value['enum']) === list) return { ...value, enum: [], tsType: 'Currency' };
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, replace(inner)]));
  };
  return Object.fromEntries(
    Object.entries(schemas).map(([name, schema]) => [
      name,
      name === 'Currency' ? schema : (replace(schema) as JsonObject),
    ]),
  );
};

/** An application may set what it leaves out to undefined: the client does not send it. */
const allowUndefined = ({ properties, required = [], ...schema }: JsonObject): JsonObject => ({
  ...schema,
  required,
  properties: Object.fromEntries(
    Object.entries(isObject(properties) ? properties : {}).map(([name, property]) => {
      if (!isObject(property) || (Array.isArray(required) && required.includes(name)))
        return [name, property];
      const { description, ...type } = property;
      const anyOf = [type, { tsType: 'undefined' }];
      return [name, { ...(description !== undefined && { description }), anyOf }];
    }),
  ),
});

/** Editors offer the codes that are known, which the sandbox's plan lists. */
const failureCode = (schemas: Record<string, JsonObject>): JsonObject => {
  const plan = schemas['SandboxPlan']?.['properties'];
  const codes = isObject(plan) && isObject(plan['failure_code']) ? plan['failure_code'] : {};
  const tsType = openEnumType([{ enum: codes['enum'] ?? [] }, { type: 'string' }]);
  if (tsType === undefined) throw new Error('The document has no failure codes');
  return { description: schemas['FailureCode']?.['description'] ?? '', tsType };
};

/** Removes the generator's remarks about itself, and writes one-line comments on one line. */
const tidy = (text: string): string =>
  text
    .replace(/^export interface Unused \{[^}]*\}$/m, '')
    .replaceAll(/^ \* *\n \* This interface was referenced by .*\n.*\n/gm, '')
    .replaceAll(/^\/\*\*\n \* This interface was referenced by .*\n.*\n \*\/\n/gm, '')
    .replaceAll(/\/\*\*\n *\* (.*)\n *\*\//g, '/** $1 */')
    .replaceAll(/([};])\n(?=\/\*\*|export )/g, '$1\n\n');

const querySchema = (parameters: readonly Parameter[]): JsonObject => ({
  type: 'object',
  additionalProperties: false,
  properties: Object.fromEntries(
    parameters
      .filter(({ in: place }) => place === 'query')
      .map(({ name, description, schema }) => [
        name,
        { ...schema, ...(description !== undefined && { description }) },
      ]),
  ),
});

/** The details of all errors together; which of them are there depends on the code. */
const errorDetails = (schemas: readonly JsonObject[]): JsonObject => {
  const membersOf = (schema: Json | undefined) =>
    isObject(schema) && isObject(schema['properties']) ? schema['properties'] : {};
  const properties = schemas.map((schema) =>
    membersOf(membersOf(membersOf(schema)['error'])['details']),
  );
  return {
    type: 'object',
    description: 'With some codes. New members may appear.',
    properties: Object.assign({}, ...properties) as JsonObject,
    additionalProperties: true,
  };
};

export const clientTypes = async (): Promise<string> => {
  const document = JSON.parse(readFileSync(releasedPath, 'utf8')) as Document;
  const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods));
  const { schemas } = document.components;
  const isError = ([name]: [string, unknown]) => name.startsWith('Error_');
  const errors = Object.entries(schemas).filter(isError);
  const bodies = Object.entries(schemas).filter((each) => !isError(each));
  const filters = Object.entries(queries).map(([operationId, name]): [string, JsonObject] => {
    const operation = operations.find((each) => each.operationId === operationId);
    if (!operation?.parameters) throw new Error(`The document has no query of ${operationId}`);
    return [name, querySchema(operation.parameters)];
  });
  const details: [string, JsonObject] = [
    'ErrorDetails',
    errorDetails(errors.map(([, schema]) => schema)),
  ];
  const named = nameCurrencies(Object.fromEntries([...bodies, details, ...filters]));
  const defs = prepare(named) as JsonObject;
  for (const name of [...requests, ...Object.values(queries)]) {
    const schema = defs[name];
    if (!isObject(schema)) throw new Error(`The document has no schema ${name}`);
    defs[name] = allowUndefined(schema);
  }
  defs['FailureCode'] = failureCode(schemas);
  defs['ErrorCode'] = {
    description: 'The codes of errors. New codes may appear.',
    tsType: [...errors.map(([name]) => `'${name.replace('Error_', '')}'`), '(string & {})'].join(
      ' | ',
    ),
  };
  const text = await compile({ $defs: defs }, 'Unused', {
    additionalProperties: false,
    unreachableDefinitions: true,
    bannerComment: '',
    format: false,
  });
  return format(
    [
      '// `npm run openapi` writes this file from docs/openapi.json.',
      '',
      '/** The version of the API that this release was made from. */',
      `export const contractVersion = '${document.info.version}';`,
      '',
      tidy(text),
    ].join('\n'),
    { parser: 'typescript', printWidth: 100, singleQuote: true },
  );
};

if (import.meta.main) writeFileSync(clientTypesPath, await clientTypes());
