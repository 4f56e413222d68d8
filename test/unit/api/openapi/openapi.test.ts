import { readFileSync } from 'node:fs';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import { Validator } from '@seriousme/openapi-schema-validator';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { responsesOf } from '../../../../api/http/responses.ts';
import type { Route } from '../../../../api/http/route.ts';
import { routes } from '../../../../api/routes.ts';
import { readApiConfig } from '../../../../config.ts';
import { errorResponses } from '../../../../contract/responses.ts';
import type { ErrorDetails } from '../../../../contract/errors.ts';
import { failureReasons } from '../../../../contract/failure-codes.ts';
import { limits } from '../../../../contract/limits.ts';
import type { Contract } from '../../../../tools/breaking-changes.ts';
import { breakingChanges } from '../../../../tools/breaking-changes.ts';
import type { Schema } from '../../../../tools/breaking-schema.ts';
import { documentText, releasedPath } from '../../../../tools/release-openapi.ts';

type Responses = Record<
  string,
  { links?: Record<string, { operationId: string; parameters: Record<string, string> }> }
>;

interface Described {
  description?: string;
  properties?: Record<string, Described>;
}

interface DescribedOperation extends Described {
  operationId: string;
  parameters?: (Described & { name: string })[];
}

const text = documentText();
const released = readFileSync(releasedPath, 'utf8');

describe('the OpenAPI document', () => {
  it('is valid OpenAPI 3.1', async () => {
    const validator = new Validator();
    const { valid, errors } = await validator.validate(JSON.parse(text) as Record<string, unknown>);
    expect(errors).toBeUndefined();
    expect(valid).toBe(true);
    expect(validator.version).toBe('3.1');
  });

  it('passes the linter', async () => {
    const config = await createConfig({
      extends: ['recommended-strict'],
      rules: {
        // The licence is for whoever deploys the service to decide.
        'info-license': 'off',
        // A payer's redirect is the success of its operation.
        'operation-2xx-response': 'off',
        // The kept copy is for no particular installation.
        'no-server-example.com': 'off',
      },
    });
    const problems = await lintFromString({ source: text, config });
    expect(problems.map(({ ruleId, message }) => `${ruleId}: ${message}`)).toEqual([]);
  });

  it('has every route and no other', () => {
    const { paths = {} } = JSON.parse(text) as Contract;
    const described = Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(
        ([method, { operationId }]) => `${method} ${path} ${String(operationId)}`,
      ),
    );
    const served = Object.entries<Route>(routes).map(
      ([name, { method, path }]) =>
        `${method.toLowerCase()} ${path.replaceAll(/:(\w+)/g, '{$1}')} ${name}`,
    );
    expect(described.toSorted()).toEqual(served.toSorted());
  });

  it('refuses unknown fields in what callers send alone: readers must bear new ones', () => {
    const closed: string[] = [];
    const look = (value: unknown, path: string) => {
      if (typeof value !== 'object' || value === null) return;
      if ('additionalProperties' in value && value.additionalProperties === false)
        closed.push(path);
      for (const [name, inner] of Object.entries(value)) look(inner, `${path}/${name}`);
    };
    look(JSON.parse(text), '#');
    expect(closed).toEqual(['#/components/schemas/CreatePayment']);
  });

  it('asks generators of clients for nothing that they make wrongly', () => {
    const { paths } = JSON.parse(text) as {
      paths: Record<string, Record<string, { parameters?: { name: string; schema: Schema }[] }>>;
    };
    const parameters = Object.values(paths)
      .flatMap((path) => Object.values(path))
      .flatMap(({ parameters: list = [] }) => list);
    expect(parameters.length).toBeGreaterThan(0);
    // Of a choice in a query they make types that do not exist, or that they do not know how to write.
    for (const { name, schema } of parameters) {
      expect(['string', 'integer'], name).toContain(schema.type);
      expect(schema.anyOf, name).toBeUndefined();
    }
    // A number without a format has 32 bits.
    const narrow: string[] = [];
    const look = (value: unknown, path: string) => {
      if (typeof value !== 'object' || value === null) return;
      const { type, maximum = 0, format }: Schema = value;
      if (type === 'integer' && maximum > 2 ** 31 - 1 && format !== 'int64') narrow.push(path);
      for (const [name, inner] of Object.entries(value)) look(inner, `${path}/${name}`);
    };
    look(JSON.parse(text), '#');
    expect(narrow).toEqual([]);
    expect(text).toContain('"int64"');
  });

  it('leads from a create to get and verify, by links that lead somewhere', () => {
    const { paths } = JSON.parse(text) as {
      paths: Record<string, Record<string, { operationId: string; responses: Responses }>>;
    };
    const operations = new Map(
      Object.entries(paths).flatMap(([path, methods]) =>
        Object.values(methods).map(({ operationId }) => [operationId, path] as const),
      ),
    );
    const { links = {} } = paths['/api/v1/payments']?.['post']?.responses['201'] ?? {};
    expect(Object.keys(links)).toEqual(['getPayment', 'verifyPayment']);
    for (const { operationId, parameters } of Object.values(links))
      for (const [name, value] of Object.entries(parameters)) {
        expect(operations.get(operationId)).toContain(`{${name}}`);
        expect(value).toBe(`$response.body#/${name}`);
      }
  });

  it('breaks nobody who was built against the released one', () => {
    expect(breakingChanges(JSON.parse(released) as Contract, JSON.parse(text) as Contract)).toEqual(
      [],
    );
  });

  it('is the released one; `npm run openapi` writes it', () => {
    expect(text).toBe(released);
  });
});

describe('what the server enforces and a schema cannot say', () => {
  const { info, paths, components } = JSON.parse(text) as {
    info: { description: string };
    paths: Record<string, Record<string, DescribedOperation>>;
    components: { schemas: Record<string, Described> };
  };
  const operations = Object.values(paths).flatMap((path) => Object.values(path));
  /** `operation`, `operation?parameter` or `Schema.field.field`. */
  const descriptionOf = (place: string) => {
    const [name = '', ...fields] = place.split('.');
    const [id, parameter] = name.split('?');
    const operation = operations.find(({ operationId }) => operationId === id);
    const found = parameter
      ? operation?.parameters?.find((one) => one.name === parameter)
      : (operation ?? components.schemas[name]);
    return fields.reduce<Described | undefined>((one, field) => one?.properties?.[field], found)
      ?.description;
  };

  it.each([
    [
      'CreatePayment.amount',
      ['without fraction or exponent', '`gateway_bounds`', '`gateway_step`'],
    ],
    // FS-02: a key that is new in every retry makes the payer pay twice.
    ['createPayment', ['one key for each payment', 'the same one in every retry']],
    ['CreatePayment.currency', ['`gateway_currency`']],
    ['CreatePayment.expires_in', ['without fraction or exponent', '`gateway_bounds`']],
    [
      'CreatePayment.callback_url',
      ['equal to one of the registered', '`payment_id`, `order_id` and `status` are added'],
    ],
    ['CreatePayment.order_id', ['several payments may have the same']],
    ['CreatePayment.description', ['to the payer at the gateway']],
    ['CreatePayment.gateway', ['enabled', 'A test token']],
    ['CreatePayment.metadata', ['8192 bytes', '5 levels']],
    ['listPayments', ['same filters and `per_page`']],
    ['listPayments?order_id', ['NUL']],
    ['listPayments?from', ['1970 to 9999', 'offset', '9 digits', 'leap second']],
    ['listPayments?to', ['1970 to 9999', 'offset', '9 digits', 'leap second']],
    ['listPayments?page', ['at most 10000']],
    ['listPayments?cursor', ['instead of `page`', 'same filters and `per_page`']],
    ['chooseInSandbox', ['Open the `checkout_url` first', 'ends `expired` whatever']],
    ['verifyPayment', ['within 3 seconds of the last answer', '502 again']],
    ['Payment.status', ['`pending`: the payer can pay', '`processing`: ', 'not certain yet']],
    ['Payment.order_id', ['several payments may have the same']],
    ['Payment.callback_url', ['`payment_id`, `order_id` and `status` are added']],
    ['Payment.expires_at', ['a last time', 'become `paid`, after it', '15 minutes', 'silent']],
    ['Payment.created_at', ['When the payment was created']],
    ['Event.created_at', ['When the payment ended']],
    [
      'FailureCode',
      ['open set', ...Object.entries(failureReasons).map(([code, why]) => `\`${code}\`: ${why}`)],
    ],
    [
      'Error_VALIDATION_FAILED.error.details.fields',
      [`wrong at once, up to ${limits.reportedProblems} problems`],
    ],
    ['PaymentList.pagination.next_cursor', ['same filters and `per_page`']],
  ])('is in its description: %s', (place, words) => {
    const description = descriptionOf(place);
    for (const word of words) expect(description).toContain(word);
  });

  it('and what never becomes a request is told with the numbers that are kept', () => {
    const {
      requestHeadKb: headKb,
      requestHeaders: headLines,
      requestHeadSeconds: headSeconds,
    } = limits;
    expect(info.description).toMatch(
      new RegExp(
        `400, a head of more than ${headKb} KB or ${headLines} lines 431 and [^.]* ${headSeconds} seconds 408,`,
      ),
    );
  });

  it('and what an operator sets is said to be a default', () => {
    expect(info.description).toMatch(/120 requests in a clock minute [^.]* unless an admin/);
    const env = { DATABASE_URL: 'postgres://db/payments', PUBLIC_BASE_URL: 'https://pay.example' };
    const { PAYER_PAGES_PER_MINUTE: pages } = readApiConfig(env);
    expect(info.description).toContain(`${pages} requests a minute for each address, unless`);
  });
});

describe('an example', () => {
  const examples = Object.entries<Route>(routes).flatMap(([name, route]) => [
    ...(route.body && 'json' in route.body
      ? titled(name, route.body.json, route.body.examples)
      : []),
    ...responsesOf(route).flatMap(({ content, examples: answers }) =>
      content instanceof z.ZodType ? titled(name, content, answers) : [],
    ),
  ]);
  it.each(examples)('is one: %s', (_, schema, value) => {
    expect(schema.safeParse(value).error).toBeUndefined();
  });

  it.each(
    Object.entries<Route>(routes).flatMap(([name, route]) =>
      responsesOf(route).flatMap(({ examples: { VALIDATION_FAILED: example } }) => {
        const shown = errorResponses.VALIDATION_FAILED.safeParse(example).data?.error;
        const { fields = [] } = (shown as { details: ErrorDetails } | undefined)?.details ?? {};
        return fields.map(({ path }) => [name, path, route] as const);
      }),
    ),
  )('of what is not valid is of its operation: %s %s', (_, path, { query, body }) => {
    const names = [query, body && 'json' in body ? body.json : undefined].flatMap((schema) =>
      schema instanceof z.ZodObject ? Object.keys(schema.shape) : [],
    );
    const read = body && 'bytes' in body ? ['signature'] : names;
    expect(read).toContain(path);
  });
});

function titled(name: string, schema: z.ZodType, examples: Readonly<Record<string, unknown>>) {
  return Object.entries(examples).map(
    ([title, value]) => [`${name} ${title}`, schema, value] as const,
  );
}
