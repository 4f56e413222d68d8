import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { Contract } from '../../../tools/breaking-changes.ts';
import { breakingChanges } from '../../../tools/breaking-changes.ts';
import { releasedPath } from '../../../tools/release-openapi.ts';

// Plain JSON, so that a change can be planted anywhere by its path.
type Tree = { [key: string]: Tree };
const released = readFileSync(releasedPath, 'utf8');
const planted = (change: (document: Tree) => void): string[] => {
  const document = JSON.parse(released) as Tree;
  change(document);
  return breakingChanges(JSON.parse(released) as Contract, document);
};

const at = (tree: Tree, ...path: string[]): Tree =>
  path.reduce((part, name) => {
    const found = part[name];
    if (!found) throw new Error(`${name} of ${path.join(' ')} is not in the released document`);
    return found;
  }, tree);
const set = (value: unknown) => value as Tree;
const schema = (document: Tree, name: string) => at(document, 'components', 'schemas', name);
const payment = (document: Tree, ...path: string[]) =>
  at(schema(document, 'Payment'), 'properties', ...path);
const body = (document: Tree, ...path: string[]) =>
  at(schema(document, 'CreatePayment'), 'properties', ...path);
const create = (document: Tree, ...path: string[]) =>
  at(document, 'paths', '/api/v1/payments', 'post', ...path);
const parameter = (document: Tree, name: string) => {
  const list = at(document, 'paths', '/api/v1/payments', 'get', 'parameters') as unknown;
  const found = (list as { name: string; schema: Tree }[]).find((one) => one.name === name);
  if (!found) throw new Error(`${name} is no parameter of the released document`);
  return found.schema;
};
const required = (tree: Tree) => (at(tree, 'required') as unknown as string[]).slice();

describe('what breaks an application is refused', () => {
  it.each<[string, (document: Tree) => void]>([
    ['a path is gone', (d) => delete at(d, 'paths')['/api/v1/payments/{payment_id}/verify']],
    ['an operation is gone', (d) => delete at(d, 'paths', '/api/v1/payments')['post']],
    ['an operation has another name', (d) => (create(d)['operationId'] = set('makePayment'))],
    ['a status is gone', (d) => delete create(d, 'responses')['201']],
    ['a header is gone', (d) => delete create(d, 'responses', '201', 'headers')['Location']],
    [
      'a header may be missing',
      (d) => {
        at(d, 'components', 'headers', 'X-Request-Id')['required'] = set(false);
      },
    ],
    [
      'a media type is gone',
      (d) => delete create(d, 'responses', '201', 'content')['application/json'],
    ],
    ['a field of an answer is gone', (d) => delete payment(d)['tracking_code']],
    [
      'a field of an answer may be missing',
      (d) => {
        const payments = schema(d, 'Payment');
        payments['required'] = set(required(payments).filter((name) => name !== 'amount'));
      },
    ],
    [
      'a field of an answer has another type',
      (d) => (payment(d, 'amount')['type'] = set('string')),
    ],
    [
      'a field of an answer can be null',
      (d) => {
        payment(d, 'order_id')['type'] = set(['string', 'null']);
      },
    ],
    [
      'a status of payments is gone',
      (d) => {
        payment(d, 'status')['enum'] = set(['pending', 'paid', 'failed', 'cancelled', 'expired']);
      },
    ],
    [
      'an error code is gone',
      (d) => {
        create(d, 'responses', '422', 'content', 'application/json')['schema'] = set({
          $ref: '#/components/schemas/Error_VALIDATION_FAILED',
        });
      },
    ],
    ['times have another format', (d) => (payment(d, 'created_at')['format'] = set('date'))],
    ['a field of a body is gone', (d) => delete body(d)['description']],
    [
      'a field of a body must be sent',
      (d) => {
        const creation = schema(d, 'CreatePayment');
        creation['required'] = set([...required(creation), 'gateway']);
      },
    ],
    [
      'a new field of a body must be sent',
      (d) => {
        const creation = schema(d, 'CreatePayment');
        at(creation, 'properties')['payer'] = set({ type: 'string' });
        creation['required'] = set([...required(creation), 'payer']);
      },
    ],
    ['a field of a body takes less', (d) => (body(d, 'amount')['maximum'] = set(1_000_000))],
    ['a field of a body takes no short text', (d) => (body(d, 'order_id')['minLength'] = set(3))],
    ['a field of a body has a pattern', (d) => (body(d, 'order_id')['pattern'] = set('^[a-z]+$'))],
    ['a currency is gone', (d) => (body(d, 'currency')['enum'] = set(['EUR', 'USD']))],
    [
      'a field of a body takes less keys',
      (d) => (body(d, 'metadata', 'propertyNames')['maxLength'] = set(10)),
    ],
    ['a field of a body wants keys', (d) => (body(d, 'metadata')['minProperties'] = set(1))],
    [
      'a field of a body takes texts alone',
      (d) => (body(d, 'metadata')['additionalProperties'] = set({ type: 'string' })),
    ],
    ['a field of a body takes tens alone', (d) => (body(d, 'amount')['multipleOf'] = set(10))],
    ['a field of a body has another default', (d) => (body(d, 'expires_in')['default'] = set(600))],
    ['a parameter has another default', (d) => (parameter(d, 'per_page')['default'] = set(50))],
    ['a parameter has lost its default', (d) => delete parameter(d, 'per_page')['default']],
    ['a parameter has a pattern', (d) => (parameter(d, 'from')['pattern'] = set('^2'))],
    ['a parameter has a format', (d) => (parameter(d, 'from')['format'] = set('date'))],
    [
      'a field of a body is a number that is not as wide',
      (d) => (body(d, 'amount')['format'] = set('int32')),
    ],
    [
      'a list of an answer is of other things',
      (d) => {
        at(schema(d, 'PaymentList'), 'properties', 'data')['items'] = set({ type: 'string' });
      },
    ],
    [
      'a field of an answer can hold other things',
      (d) => {
        at(schema(d, 'Application'), 'properties', 'callback_urls')['items'] = set({});
      },
    ],
    ['a field of a body has another type', (d) => (body(d, 'metadata')['type'] = set('string'))],
    [
      'a header must be sent',
      (d) => {
        create(d)['parameters'] = set([
          { in: 'header', name: 'Idempotency-Key', required: true, schema: { type: 'string' } },
        ]);
      },
    ],
    ['a parameter is gone', (d) => delete create(d)['parameters']],
    [
      'a public operation needs a token',
      (d) => {
        at(d, 'paths', '/api/v1/openapi.json', 'get')['security'] = set([{ bearer: [] }]);
      },
    ],
    ['an event has lost a field', (d) => delete at(schema(d, 'Event'), 'properties')['metadata']],
    [
      'an event comes without its signature',
      (d) => {
        const post = at(d, 'webhooks', 'paymentEnded', 'post');
        const parameters = at(post, 'parameters') as unknown as { name: string }[];
        post['parameters'] = set(parameters.filter(({ name }) => name !== 'X-Service-Signature'));
      },
    ],
  ])('%s', (_, change) => {
    expect(planted(change)).not.toEqual([]);
  });
});

it('a new field is refused where the released answer said that none would come', () => {
  const was = JSON.parse(released) as Tree;
  schema(was, 'Payment')['additionalProperties'] = set(false);
  const now = structuredClone(was);
  payment(now)['fee'] = set({ type: 'integer' });
  expect(breakingChanges(was, was)).toEqual([]);
  expect(breakingChanges(was, now)).toContainEqual(expect.stringMatching(/\.fee: is new/));
});

it('what stands beside a choice is held to in each of its forms', () => {
  const was = JSON.parse(released) as Tree;
  parameter(was, 'from')['anyOf'] = set([{ format: 'date' }, { format: 'date-time' }]);
  const now = structuredClone(was);
  parameter(now, 'from')['pattern'] = set('^2');
  expect(breakingChanges(was, was)).toEqual([]);
  expect(breakingChanges(was, now)).toContainEqual(expect.stringMatching(/pattern is another/));
});

it('how wide a number is may be told where its bounds have told it, and nowhere else', () => {
  const was = JSON.parse(released) as Tree;
  delete body(was, 'amount')['format'];
  expect(breakingChanges(was, JSON.parse(released) as Contract)).toEqual([]);
  delete body(was, 'amount')['maximum'];
  const now = structuredClone(was);
  body(now, 'amount')['format'] = set('int64');
  expect(breakingChanges(was, now)).toEqual([expect.stringMatching(/amount: format is another/)]);
});

it('what cannot be compared is refused, so that nothing breaks unseen', () => {
  const change = (d: Tree) => (body(d, 'order_id')['not'] = set({ const: 'x' }));
  expect(planted(change)).toEqual([expect.stringMatching(/order_id: not cannot be compared$/)]);
});

describe('what v1 may add is let through', () => {
  it.each<[string, (document: Tree) => void]>([
    ['nothing', () => {}],
    ['an endpoint', (d) => (at(d, 'paths')['/api/v1/refunds'] = set({ get: { responses: {} } }))],
    ['an optional field of a body', (d) => (body(d)['payer'] = set({ type: 'string' }))],
    ['a field of an answer', (d) => (payment(d)['fee'] = set({ type: 'integer' }))],
    [
      'a field of an event',
      (d) => (at(schema(d, 'Event'), 'properties')['fee'] = set({ type: 'integer' })),
    ],
    [
      'an announced status of payments',
      (d) => {
        const statuses = at(payment(d, 'status'), 'enum') as unknown as string[];
        payment(d, 'status')['enum'] = set([...statuses, 'refunded']);
      },
    ],
    ['longer keys of a body', (d) => (body(d, 'metadata', 'propertyNames')['maxLength'] = set(80))],
    ['a default that was not told', (d) => (parameter(d, 'page')['default'] = set(1))],
    ['a field of a body that takes anything', (d) => delete body(d, 'description')['type']],
    ['an example', (d) => (body(d, 'order_id')['examples'] = set(['order-1']))],
    ['a wider bound of a body', (d) => (body(d, 'order_id')['maxLength'] = set(200))],
    [
      'an optional parameter',
      (d) => {
        const parameters = at(create(d), 'parameters') as unknown as object[];
        create(d)['parameters'] = set([...parameters, { in: 'query', name: 'dry', schema: {} }]);
      },
    ],
    ['an answer', (d) => (create(d, 'responses')['202'] = set({ description: 'Later.' }))],
    ['other words', (d) => (create(d)['summary'] = set('Make a payment'))],
  ])('%s', (_, change) => {
    expect(planted(change)).toEqual([]);
  });
});
