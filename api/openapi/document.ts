import { z } from 'zod';
import type { CreateDocumentOptions } from 'zod-openapi';
import { createDocument } from 'zod-openapi';
import { EventBody, EventHeaders } from '../../contract/event-schema.ts';
import type { Answer } from '../http/responses.ts';
import { responsesOf } from '../http/responses.ts';
import type { HeaderName } from '../http/headers.ts';
import { headers } from '../http/headers.ts';
import { guide, tags } from './guide.ts';
import type { Route } from '../http/route.ts';
import { eventExamples } from './examples.ts';
import { routes } from '../routes.ts';

/** Rises with every change that an application can see. */
const contractVersion = '1.0.0';

/** The whole contract as an OpenAPI 3.1 document, from the table of routes. */
export const createOpenApi = (publicBaseUrl: string) => {
  const paths: Record<string, Record<string, object>> = {};
  for (const [name, route] of Object.entries<Route>(routes)) {
    const path = route.path.replaceAll(/:(\w+)/g, '{$1}');
    (paths[path] ??= {})[route.method.toLowerCase()] = operationOf(name, route);
  }
  const document = createDocument(
    {
      openapi: '3.1.1',
      info: { title: 'Payments', version: contractVersion, description: guide },
      servers: [{ url: publicBaseUrl }],
      tags: Object.entries(tags).map(([name, description]) => ({ name, description })),
      paths,
      webhooks: { paymentEnded: { post: webhook } },
      components: {
        securitySchemes: {
          bearer: {
            type: 'http',
            scheme: 'bearer',
            description:
              'An access token of the application: `svc_live_…` or `svc_test_…`. For server-side use ' +
              'only; a token in a query string or a body is never accepted.',
          },
        },
      },
    },
    { override },
  );
  return { ...document, components: sorted(document.components ?? {}) };
};

/** Components in order of their names, so that a new route does not move them all. */
const sorted = <T extends object>(components: T): T =>
  Object.fromEntries(
    Object.entries(components).map(([kind, members]: [string, object]) => [
      kind,
      Object.fromEntries(
        Object.entries(members).toSorted(([one], [other]) => (one < other ? -1 : 1)),
      ),
    ]),
  ) as T; // The same members, in another order.

const operationOf = (name: string, route: Route) => ({
  operationId: name,
  tags: [tagOf[route.access]],
  summary: route.summary,
  description: route.description,
  security: route.access === 'application' ? [{ bearer: [] }] : [],
  requestParams: {
    ...(route.params && { path: route.params }),
    ...(route.query && { query: route.query }),
    ...(route.headers && { header: named(route.headers) }),
  },
  ...(route.body && { requestBody: bodyOf(route.body) }),
  responses: openApiResponses(route),
});

const tagOf = {
  application: 'Payments',
  payer: 'Payer pages',
  gateway: 'Gateways',
  anyone: 'Contract',
} as const;

/** Header names as people write them. */
const written = (name: string) =>
  name
    .replaceAll(/(^|-)\w/g, (letter) => letter.toUpperCase())
    .replace('Ratelimit', 'RateLimit')
    .replace('Www', 'WWW');

const named = (schema: z.ZodObject) =>
  z.object(
    Object.fromEntries(Object.entries(schema.shape).map(([name, type]) => [written(name), type])),
  );

const examplesOf = (examples: Readonly<Record<string, unknown>>) =>
  Object.keys(examples).length > 0
    ? {
        examples: Object.fromEntries(
          Object.entries(examples).map(([name, value]) => [name, { value }]),
        ),
      }
    : {};

const bodyOf = (body: NonNullable<Route['body']>) => {
  if ('bytes' in body)
    return { required: true, description: body.bytes, content: { '*/*': { schema: {} } } };
  return {
    required: true,
    content:
      'json' in body
        ? { 'application/json': { schema: body.json, ...examplesOf(body.examples) } }
        : { 'application/x-www-form-urlencoded': { schema: body.form } },
  };
};

const openApiResponses = (route: Route): Record<string, object> => {
  const byStatus = Map.groupBy(responsesOf(route), ({ status }) => status);
  // By their numbers, in which JavaScript keeps such names.
  return Object.fromEntries([...byStatus].map(([status, of]) => [status, responseOf(of)]));
};

/** What several answers of one status have in common, and what each may have. */
const responseOf = (answers: Answer[]) => {
  const names = new Set(
    answers.flatMap(({ requiredHeaders, optionalHeaders }) => [
      ...requiredHeaders,
      ...optionalHeaders,
    ]),
  );
  const isAlways = (name: HeaderName) =>
    answers.every(({ requiredHeaders }) => requiredHeaders.includes(name));
  const links = [...new Set(answers.flatMap((answer) => answer.links))];
  return {
    description: answers.map(({ description }) => description).join('\n\n'),
    headers: z.object(
      Object.fromEntries(
        [...names].map((name) => {
          const { description, schema } = headers[name];
          return isAlways(name)
            ? [written(name), schema.meta({ description, header: { id: written(name) } })]
            : [written(name), schema.meta({ description }).optional()];
        }),
      ),
    ),
    content: contentOf(answers),
    ...(links.length > 0 && { links: Object.fromEntries(links.map(linkTo)) }),
  };
};

const contentOf = (answers: Answer[]) => {
  const schemas = answers.flatMap(({ content }) => (content instanceof z.ZodType ? [content] : []));
  const [first, ...others] = new Set(schemas);
  const examples = Object.fromEntries(answers.flatMap((answer) => Object.entries(answer.examples)));
  return {
    ...(first && {
      'application/json': {
        schema: others.length > 0 ? z.union([first, ...others]) : first,
        ...examplesOf(examples),
      },
    }),
    ...(answers.some(({ content }) => content === 'page') && {
      'text/html': { schema: z.string() },
    }),
    ...(answers.some(({ content }) => content === 'asset') && {
      '*/*': { schema: {} },
    }),
  };
};

const linkTo = (name: string) =>
  [name, { operationId: name, parameters: { payment_id: '$response.body#/payment_id' } }] as const;

const webhook = {
  operationId: 'paymentEnded',
  summary: 'A payment has ended',
  description:
    "Posted to the application's webhook URL, signed, once for each payment: at once, and after a " +
    'failed attempt again after 1 minute, 5 minutes, 30 minutes, 2 hours and 12 hours. Redirects ' +
    'are not followed. An application that had no webhook URL when the payment ended never gets its ' +
    'event, also not when it adds one later.',
  security: [],
  requestParams: { header: EventHeaders },
  requestBody: bodyOf({ json: EventBody, examples: eventExamples }),
  responses: {
    '2XX': { description: 'Taken. Answer within 10 seconds; anything else is a failed attempt.' },
    '4XX': { description: 'A failed attempt, as is every other status.' },
  },
};

/** Readers must bear new fields, and a format says more than its pattern of 400 characters. */
const override: NonNullable<CreateDocumentOptions['override']> = ({ jsonSchema, io }) => {
  if (jsonSchema.format !== undefined) delete jsonSchema.pattern;
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
  // Without it generators make 32 bits, which a payment of 22 million euros, or of 2.2 billion rials, overflows.
  if (jsonSchema.type === 'integer' && (jsonSchema.maximum ?? 0) > 0x7f_ff_ff_ff)
    jsonSchema.format = 'int64';
  if (io === 'output' && jsonSchema.additionalProperties === false)
    delete jsonSchema.additionalProperties;
};
