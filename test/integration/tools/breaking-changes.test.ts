import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { findGoProgram } from '../../../stack/programs/go.ts';
import { thisMachine } from '../../../stack/programs/machine.ts';
import { oasdiff } from '../../../tools/go-programs.ts';
import { breakingChanges, type OpenApiDocument } from '../../../tools/breaking-changes.ts';
import { documentText, releasedPath } from '../../../tools/release-openapi.ts';
import { useProgram } from '../../support/runner/use-program.ts';

/** Plain JSON, so that a test can change any part by its path. */
type Tree = { [key: string]: Tree };
const released = readFileSync(releasedPath, 'utf8');
const parse = (text: string) => JSON.parse(text) as OpenApiDocument & Tree;

useProgram(() => findGoProgram(oasdiff, thisMachine()));

const changesAfter = (change: (document: Tree) => void): Promise<string[]> => {
  const document = parse(released);
  change(document);
  return breakingChanges(parse(released), document);
};

const at = (tree: Tree, ...path: string[]): Tree =>
  path.reduce((part, name) => {
    const found = part[name];
    if (!found) throw new Error(`${name} of ${path.join(' ')} is not in the released document`);
    return found;
  }, tree);
const set = (value: unknown) => value as Tree;
const schema = (document: Tree, name: string) => at(document, 'components', 'schemas', name);
const field = (document: Tree, name: string, ...path: string[]) =>
  at(schema(document, name), 'properties', ...path);
const create = (document: Tree, ...path: string[]) =>
  at(document, 'paths', '/api/v1/payments', 'post', ...path);
const pageSize = (document: Tree) => {
  const list = at(document, 'paths', '/api/v1/payments', 'get', 'parameters') as unknown;
  const found = (list as { name: string; schema: Tree }[]).find(({ name }) => name === 'per_page');
  if (!found) throw new Error('per_page is not a parameter of the released document');
  return found.schema;
};
const makeOptional = (document: Tree, name: string, optional: string) => {
  const required = at(schema(document, name), 'required') as unknown as string[];
  schema(document, name)['required'] = set(required.filter((one) => one !== optional));
};
/** The known values of a payment's status, which is an open set. */
const knownStatuses = (document: Tree) => at(field(document, 'Payment', 'status'), 'anyOf', '0');
const addStatus = (document: Tree) => {
  const statuses = at(knownStatuses(document), 'enum') as unknown as string[];
  knownStatuses(document)['enum'] = set([...statuses, 'refunded']);
};

it('finds no breaking change between the released document and the current one', async () => {
  expect(await breakingChanges(parse(released), parse(documentText()))).toEqual([]);
});

describe('finds a breaking change', () => {
  it.each<[string, (document: Tree) => void]>([
    ['a removed path', (d) => delete at(d, 'paths')['/api/v1/payments/{payment_id}/verify']],
    ['a renamed operation', (d) => (create(d)['operationId'] = set('makePayment'))],
    ['a removed status', (d) => delete create(d, 'responses')['201']],
    [
      'a removed response header',
      (d) => delete create(d, 'responses', '201', 'headers')['Location'],
    ],
    ['a removed response field', (d) => delete field(d, 'Payment')['tracking_code']],
    ['a response field that may be missing', (d) => makeOptional(d, 'Payment', 'amount')],
    [
      'a response field that can be null',
      (d) => (field(d, 'Payment', 'order_id')['type'] = set(['string', 'null'])),
    ],
    [
      'a removed payment status',
      (d) => (knownStatuses(d)['enum'] = set(['pending', 'paid', 'failed'])),
    ],
    [
      'a removed error code',
      (d) => {
        create(d, 'responses', '422', 'content', 'application/json')['schema'] = set({
          $ref: '#/components/schemas/Error_VALIDATION_FAILED',
        });
      },
    ],
    ['a removed body field', (d) => delete field(d, 'CreatePayment')['description']],
    [
      'a required body field',
      (d) => (schema(d, 'CreatePayment')['required'] = set(['order_id', 'gateway'])),
    ],
    ['a lower maximum', (d) => (field(d, 'CreatePayment', 'amount')['maximum'] = set(1_000_000))],
    [
      'a removed currency',
      (d) => (field(d, 'CreatePayment', 'currency')['enum'] = set(['EUR', 'USD'])),
    ],
    [
      'another default of a body field',
      (d) => (field(d, 'CreatePayment', 'expires_in')['default'] = set(600)),
    ],
    ['another default of a parameter', (d) => (pageSize(d)['default'] = set(50))],
    ['a removed default of a parameter', (d) => delete pageSize(d)['default']],
    ['a removed parameter', (d) => delete create(d)['parameters']],
    [
      'a token that a public operation needs',
      (d) => {
        at(d, 'paths', '/api/v1/openapi.json', 'get')['security'] = set([{ bearer: [] }]);
      },
    ],
    ['a removed event field', (d) => delete field(d, 'Event')['metadata']],
    ['an event field that may be missing', (d) => makeOptional(d, 'Event', 'amount')],
    [
      'an event field that can be null',
      (d) => (field(d, 'Event', 'order_id')['type'] = set(['string', 'null'])),
    ],
    [
      'a removed event header',
      (d) => {
        const post = at(d, 'webhooks', 'paymentEnded', 'post');
        const parameters = at(post, 'parameters') as unknown as { name: string }[];
        post['parameters'] = set(parameters.filter(({ name }) => name !== 'X-Service-Signature'));
      },
    ],
  ])('%s', async (_, change) => {
    expect(await changesAfter(change)).not.toEqual([]);
  });
});

describe('allows a change that v1 permits', () => {
  it.each<[string, (document: Tree) => void]>([
    [
      'a new endpoint',
      (d) => {
        at(d, 'paths')['/api/v1/invoices'] = set({
          get: { responses: { 200: { description: '' } } },
        });
      },
    ],
    [
      'an optional body field',
      (d) => (field(d, 'CreatePayment')['coupon'] = set({ type: 'string' })),
    ],
    ['a new response field', (d) => (field(d, 'Payment')['fee'] = set({ type: 'integer' }))],
    ['a new event field', (d) => (field(d, 'Event')['fee'] = set({ type: 'integer' }))],
    [
      'a new event field that every event has',
      (d) => {
        field(d, 'Event')['fee'] = set({ type: 'integer' });
        const required = at(schema(d, 'Event'), 'required') as unknown as string[];
        schema(d, 'Event')['required'] = set([...required, 'fee']);
      },
    ],
    ['an announced payment status', addStatus],
    [
      'an enum of a response that becomes an open set',
      (d) => {
        const kinds = at(field(d, 'Application', 'token_mode'), 'enum');
        const known = { type: 'string', enum: kinds };
        schema(d, 'Application')['properties'] = set({
          ...at(schema(d, 'Application'), 'properties'),
          token_mode: { anyOf: [known, { type: 'string' }] },
        });
      },
    ],
    [
      'a higher maximum length',
      (d) => (field(d, 'CreatePayment', 'order_id')['maxLength'] = set(200)),
    ],
    [
      'an optional parameter',
      (d) => {
        const parameters = at(create(d), 'parameters') as unknown as object[];
        create(d)['parameters'] = set([...parameters, { in: 'query', name: 'dry', schema: {} }]);
      },
    ],
    [
      'a new response status',
      (d) => (create(d, 'responses')['202'] = set({ description: 'Later.' })),
    ],
    ['another description', (d) => (create(d)['description'] = set('Makes a payment.'))],
  ])('%s', async (_, change) => {
    expect(await changesAfter(change)).toEqual([]);
  });
});
