import { readFileSync } from 'node:fs';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import { Validator } from '@seriousme/openapi-schema-validator';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { declaredResponses } from '../../../../api/http/declared-responses.ts';
import type { Route } from '../../../../api/http/route.ts';
import { routes } from '../../../../api/routes.ts';
import { readApiConfig } from '../../../../config.ts';
import { errorResponses } from '../../../../contract/error-responses.ts';
import type { ErrorDetails } from '../../../../contract/errors.ts';
import { documentText, releasedPath } from '../../../../tools/release-openapi.ts';
import type { OpenApiDocument, Schema } from '../../../support/checks/openapi.ts';

const text = documentText();
const document = JSON.parse(text) as OpenApiDocument;

/** Calls `visit` with every object in the document, and its path. */
const walk = (
  visit: (value: object, path: string) => void,
  value: unknown = document,
  path = '#',
) => {
  if (typeof value !== 'object' || value === null) return;
  visit(value, path);
  for (const [name, inner] of Object.entries(value)) walk(visit, inner, `${path}/${name}`);
};

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
        // The operator of the service decides on a licence.
        'info-license': 'off',
        // The success of a payer's operation is a redirect.
        'operation-2xx-response': 'off',
        // The released copy has an example as its base URL.
        'no-server-example.com': 'off',
      },
    });
    const problems = await lintFromString({ source: text, config });
    expect(problems.map(({ ruleId, message }) => `${ruleId}: ${message}`)).toEqual([]);
  });

  it('has exactly the routes of the table', () => {
    const described = Object.entries(document.paths).flatMap(([path, methods]) =>
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

  it('rejects unknown fields only in what callers send, because readers must accept new ones', () => {
    const closed: string[] = [];
    walk((value, path) => {
      if ('additionalProperties' in value && value.additionalProperties === false)
        closed.push(path);
    });
    expect(closed.toSorted()).toEqual(
      [
        'CancelPayment',
        'CreateLink',
        'CreatePayment',
        'CreateRefund',
        'CreateReplay',
        'Payer',
        'SandboxPlan',
        'SandboxRefundPlan',
        'TestWebhook',
      ].map((name) => `#/components/schemas/${name}`),
    );
  });

  it('has only parameters that client generators support', () => {
    const parameters = Object.values(document.paths)
      .flatMap((path) => Object.values(path))
      .flatMap(({ parameters: list = [] }) => list);
    expect(parameters.length).toBeGreaterThan(0);
    // For a choice in a query they generate types that do not exist or that they cannot serialize.
    for (const { name, schema = {} } of parameters) {
      expect(['string', 'integer'], name).toContain(schema.type);
      expect(schema.anyOf, name).toBeUndefined();
    }
  });

  it('marks every integer that needs more than 32 bits as int64', () => {
    const narrow: string[] = [];
    walk((value: Schema, path) => {
      const { type, maximum = 0, format } = value;
      if (type === 'integer' && maximum > 2 ** 31 - 1 && format !== 'int64') narrow.push(path);
    });
    expect(narrow).toEqual([]);
    expect(text).toContain('"int64"');
  });

  it('links a create to get and verify', () => {
    const paths = new Map(
      Object.entries(document.paths).flatMap(([path, methods]) =>
        Object.values(methods).map(({ operationId }) => [operationId, path] as const),
      ),
    );
    const { links = {} } = document.paths['/api/v1/payments']?.['post']?.responses?.['201'] ?? {};
    expect(Object.keys(links)).toEqual(['getPayment', 'verifyPayment']);
    for (const { operationId, parameters } of Object.values(links))
      for (const [name, value] of Object.entries(parameters)) {
        expect(paths.get(operationId)).toContain(`{${name}}`);
        expect(value).toBe(`$response.body#/${name}`);
      }
  });

  it('names the default limit of payer pages', () => {
    const env = {
      DATABASE_URL: 'postgres://db/payments',
      PUBLIC_BASE_URL: 'https://pay.example',
      PAYERS_KEY: `k:${Buffer.alloc(32).toString('base64')}`,
    };
    const { PAYER_PAGES_PER_MINUTE } = readApiConfig(env);
    expect(document.info.description).toContain(`${PAYER_PAGES_PER_MINUTE} requests a minute`);
  });

  it('is the released document; `npm run openapi` writes it', () => {
    expect(text).toBe(readFileSync(releasedPath, 'utf8'));
  });
});

/** Each example that an operation shows, with its operation, its status and its title: for an error its code. */
const examples = Object.entries<Route>(routes).flatMap(([operation, route]) => {
  const named = (about: string, schema: z.ZodType, values: Readonly<Record<string, unknown>>) =>
    Object.entries(values).map(([title, value]) => ({
      ...{ name: `${operation} ${about} ${title}`, route, schema, value },
    }));
  const { body } = route;
  return [
    ...(body && 'json' in body ? named('body', body.json, body.examples) : []),
    ...declaredResponses(route).flatMap(({ status, content, examples: values }) =>
      content instanceof z.ZodType ? named(String(status), content, values) : [],
    ),
  ];
});

it('every example matches its schema', () => {
  const wrong = examples.flatMap(({ name, schema, value }) => {
    const { error } = schema.safeParse(value);
    return error ? [`${name}: ${z.prettifyError(error)}`] : [];
  });
  expect(wrong).toEqual([]);
  expect(examples.length).toBeGreaterThan(300);
});

it('every example of a validation error names a field of its operation, or an unknown one', () => {
  const fieldsOf = ({ query, body }: Route) =>
    body && 'bytes' in body
      ? ['signature']
      : [query, body && 'json' in body ? body.json : undefined].flatMap((schema) =>
          schema instanceof z.ZodObject ? Object.keys(schema.shape) : [],
        );
  const named = examples.flatMap(({ name, route, value }) => {
    const shown = errorResponses.VALIDATION_FAILED.safeParse(value).data?.error;
    const { fields = [] } = (shown as { details: ErrorDetails } | undefined)?.details ?? {};
    return fields.map(({ path, rule }) => {
      const isThere = fieldsOf(route).includes(path);
      return { name, path, isRight: isThere === (rule !== 'unknown_field') };
    });
  });
  expect(named.filter(({ isRight }) => !isRight)).toEqual([]);
  expect(named.length).toBeGreaterThan(10);
});
