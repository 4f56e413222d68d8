import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
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

type Change = (document: Tree) => unknown;

/** The program takes a second, so that it gets many changes at once. */
const changesAfter = (changes: readonly Change[]): Promise<string[]> => {
  const document = parse(released);
  for (const change of changes) change(document);
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

const created = 'POST /api/v1/payments:';
const event = 'POST /webhooks/paymentEnded:';
/** Each change, and how its line begins. */
const breaking: [begins: string, change: Change][] = [
  [
    'POST /api/v1/payments/{payment_id}/verify: api path removed',
    (d) => delete at(d, 'paths')['/api/v1/payments/{payment_id}/verify'],
  ],
  [
    `${created} api operation id \`createPayment\` removed`,
    (d) => (create(d)['operationId'] = set('makePayment')),
  ],
  [
    `${created} the mandatory response header \`location\` removed`,
    (d) => delete create(d, 'responses', '201', 'headers')['Location'],
  ],
  [
    `${created} removed the required property \`tracking_code\``,
    (d) => delete field(d, 'Payment')['tracking_code'],
  ],
  [
    `${created} the response property \`amount\` became optional`,
    (d) => makeOptional(d, 'Payment', 'amount'),
  ],
  [
    `${created} the response property \`order_id\` became nullable`,
    (d) => (field(d, 'Payment', 'order_id')['type'] = set(['string', 'null'])),
  ],
  [
    `${created} removed the \`expired\` enum value from the \`status\` response property`,
    (d) => (knownStatuses(d)['enum'] = set(['pending', 'paid', 'failed'])),
  ],
  [
    `${created} removed \`#/components/schemas/Error_IDEMPOTENCY_KEY_REUSED`,
    (d) => {
      create(d, 'responses', '422', 'content', 'application/json')['schema'] = set({
        $ref: '#/components/schemas/Error_VALIDATION_FAILED',
      });
    },
  ],
  [
    `${created} removed the request property \`description\``,
    (d) => delete field(d, 'CreatePayment')['description'],
  ],
  [
    `${created} the request property \`gateway\` became required`,
    (d) => (schema(d, 'CreatePayment')['required'] = set(['order_id', 'gateway'])),
  ],
  [
    `${created} the \`amount\` request property's max was decreased`,
    (d) => (field(d, 'CreatePayment', 'amount')['maximum'] = set(1_000_000)),
  ],
  [
    `${created} removed the enum value \`IRR\` of the request property \`currency\``,
    (d) => (field(d, 'CreatePayment', 'currency')['enum'] = set(['EUR', 'USD'])),
  ],
  [
    `${created} the \`expires_in\` request property default value changed`,
    (d) => (field(d, 'CreatePayment', 'expires_in')['default'] = set(600)),
  ],
  [
    'GET /api/v1/payments: for the `query` request parameter `per_page`, default value was changed',
    (d) => (pageSize(d)['default'] = set(50)),
  ],
  [
    `${created} deleted the \`header\` request parameter \`idempotency-key\``,
    (d) => delete create(d)['parameters'],
  ],
  [
    'GET /api/v1/openapi.json: the endpoint no longer allows anonymous access',
    (d) => (at(d, 'paths', '/api/v1/openapi.json', 'get')['security'] = set([{ bearer: [] }])),
  ],
  [
    `${event} removed the required property \`metadata\``,
    (d) => delete field(d, 'Event')['metadata'],
  ],
  [
    `${event} the mandatory response header \`x-service-signature\` removed`,
    (d) => {
      const post = at(d, 'webhooks', 'paymentEnded', 'post');
      const parameters = at(post, 'parameters') as unknown as { name: string }[];
      post['parameters'] = set(parameters.filter(({ name }) => name !== 'X-Service-Signature'));
    },
  ],
];
/** Those that would hide one of the others. */
const breakingMore: typeof breaking = [
  [
    `${created} removed the success response with the status \`201\``,
    (d) => delete create(d, 'responses')['201'],
  ],
  [
    'GET /api/v1/payments: for the `query` request parameter `per_page`, default value `20.00` was removed',
    (d) => delete pageSize(d)['default'],
  ],
];

it.each([[breaking], [breakingMore]])('finds each breaking change', async (rows) => {
  const lines = await changesAfter(rows.map(([, change]) => change));
  const missing = rows.filter(([begins]) => !lines.some((line) => line.startsWith(begins)));
  expect(missing.map(([begins]) => begins)).toEqual([]);
});

it('allows the changes that v1 permits', async () => {
  const allowed: [string, Change][] = [
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
  ];
  expect(await changesAfter(allowed.map(([, change]) => change))).toEqual([]);
});
