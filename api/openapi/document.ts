import { z } from 'zod';
import type { CreateDocumentOptions } from 'zod-openapi';
import { createDocument } from 'zod-openapi';
import { DisputeEventBody, DisputeEventHeaders } from '../../contract/dispute-event-schema.ts';
import { LinkEventBody, LinkEventHeaders } from '../../contract/links/event-schema.ts';
import { EventBody, EventHeaders } from '../../contract/event-schema.ts';
import { RefundEventBody, RefundEventHeaders } from '../../contract/refund-event-schema.ts';
import { limits } from '../../contract/limits.ts';
import { version } from '../../contract/version.ts';
import { disputeEventExamples } from '../disputes/dispute-examples.ts';
import { linkEventExamples } from '../links/examples.ts';
import type { DeclaredResponse } from '../http/declared-responses.ts';
import { declaredResponses } from '../http/declared-responses.ts';
import type { HeaderName } from '../http/response-headers.ts';
import { responseHeaders } from '../http/response-headers.ts';
import type { Route } from '../http/route.ts';
import { eventExamples } from '../payments/payment-examples.ts';
import { refundEventExamples } from '../refunds/refund-examples.ts';
import { routes } from '../routes.ts';
import { guide, tags } from './guide.ts';

/** Makes the contract as an OpenAPI 3.1 document from the table of routes. */
export const createOpenApi = (publicBaseUrl: string) => {
  const paths: Record<string, Record<string, object>> = {};
  for (const [name, route] of Object.entries<Route>(routes)) {
    const path = route.path.replaceAll(/:(\w+)/g, '{$1}');
    (paths[path] ??= {})[route.method.toLowerCase()] = operation(name, route);
  }
  const document = createDocument(
    {
      openapi: '3.1.1',
      info: { title: 'Payments', version, description: guide },
      servers: [{ url: publicBaseUrl }],
      tags: Object.entries(tags).map(([name, description]) => ({ name, description })),
      paths,
      webhooks: {
        paymentEnded: { post: webhook },
        refundChanged: { post: refundWebhook },
        disputeChanged: { post: disputeWebhook },
        linkEnded: { post: linkWebhook },
      },
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

/** Sorts components by name, so that a new route does not reorder them. */
const sorted = <T extends object>(components: T): T =>
  Object.fromEntries(
    Object.entries(components).map(([kind, members]: [string, object]) => [
      kind,
      Object.fromEntries(
        Object.entries(members).toSorted(([one], [other]) => (one < other ? -1 : 1)),
      ),
    ]),
  ) as T; // The same members, in another order.

const operation = (name: string, route: Route) => ({
  operationId: name,
  tags: [route.tag ?? tagByAccess[route.access]],
  summary: route.summary,
  description: route.scope
    ? `${route.description}\n\nNeeds the scope \`${route.scope}\`.`
    : route.description,
  security: route.access === 'application' ? [{ bearer: [] }] : [],
  requestParams: {
    ...(route.params && { path: route.params }),
    ...(route.query && { query: route.query }),
    ...(route.headers && { header: withDisplayNames(route.headers) }),
  },
  ...(route.body && { requestBody: requestBody(route.body) }),
  responses: operationResponses(route),
});

const tagByAccess = {
  application: 'Payments',
  payer: 'Payer pages',
  gateway: 'Gateways',
  anyone: 'Contract',
} as const;

/** The usual capitalization of a header name. */
const displayName = (name: string) =>
  name
    .replaceAll(/(^|-)\w/g, (letter) => letter.toUpperCase())
    .replace('Ratelimit', 'RateLimit')
    .replace('Www', 'WWW');

const withDisplayNames = (schema: z.ZodObject) =>
  z.object(
    Object.fromEntries(
      Object.entries(schema.shape).map(([name, type]) => [displayName(name), type]),
    ),
  );

const examplesOf = (examples: Readonly<Record<string, unknown>>) =>
  Object.keys(examples).length > 0
    ? {
        examples: Object.fromEntries(
          Object.entries(examples).map(([name, value]) => [name, { value }]),
        ),
      }
    : {};

const requestBody = (body: NonNullable<Route['body']>) => {
  if ('bytes' in body)
    return { required: true, description: body.bytes, content: { '*/*': { schema: {} } } };
  if ('fields' in body) {
    const schema = z.record(z.string(), z.string());
    const content = { 'application/x-www-form-urlencoded': { schema } };
    return { required: false, description: body.fields, content };
  }
  return {
    required: !('optional' in body),
    content:
      'json' in body
        ? { 'application/json': { schema: body.json, ...examplesOf(body.examples) } }
        : { 'application/x-www-form-urlencoded': { schema: body.form } },
  };
};

const operationResponses = (route: Route): Record<string, object> => {
  const byStatus = Map.groupBy(declaredResponses(route), ({ status }) => status);
  // JavaScript orders these keys by number.
  return Object.fromEntries(
    [...byStatus].map(([status, declared]) => [status, combinedResponse(declared)]),
  );
};

/** OpenAPI has one response for each status; a header is required if all responses of the status have it. */
const combinedResponse = (declared: DeclaredResponse[]) => {
  const names = new Set(
    declared.flatMap(({ requiredHeaders, optionalHeaders }) => [
      ...requiredHeaders,
      ...optionalHeaders,
    ]),
  );
  const isRequired = (name: HeaderName) =>
    declared.every(({ requiredHeaders }) => requiredHeaders.includes(name));
  const links = [...new Set(declared.flatMap((response) => response.links))];
  return {
    description: declared.map(({ description }) => description).join('\n\n'),
    headers: z.object(
      Object.fromEntries(
        [...names].map((name) => {
          const { description, schema } = responseHeaders[name];
          const id = displayName(name);
          return isRequired(name)
            ? [id, schema.meta({ description, header: { id } })]
            : [id, schema.meta({ description }).optional()];
        }),
      ),
    ),
    content: combinedContent(declared),
    ...(links.length > 0 && { links: Object.fromEntries(links.map(linkTo)) }),
  };
};

const combinedContent = (declared: DeclaredResponse[]) => {
  const schemas = declared.flatMap(({ content }) =>
    content instanceof z.ZodType ? [content] : [],
  );
  const [first, ...others] = new Set(schemas);
  const examples = Object.fromEntries(
    declared.flatMap((response) => Object.entries(response.examples)),
  );
  return {
    ...(first && {
      'application/json': {
        schema: others.length > 0 ? z.union([first, ...others]) : first,
        ...examplesOf(examples),
      },
    }),
    ...(declared.some(({ content }) => content === 'page') && {
      'text/html': { schema: z.string() },
    }),
  };
};

const linkTo = (name: string) =>
  [name, { operationId: name, parameters: { payment_id: '$response.body#/payment_id' } }] as const;

const durationWords = new Intl.DurationFormat('en-GB', { style: 'long' });

/** E.g. `1 minute, 30 minutes and 2 hours`. */
const attemptDelays = new Intl.ListFormat('en-GB').format(
  limits.attemptDelaysMinutes.map((minutes) =>
    durationWords.format(minutes < 60 ? { minutes } : { hours: minutes / 60 }),
  ),
);

const webhook = {
  operationId: 'paymentEnded',
  summary: 'A payment has ended',
  description:
    "Each payment sends one signed event to the application's webhook URL when it ends. A failed " +
    `attempt is repeated after ${attemptDelays}. Redirects are ` +
    'not followed. If the application had no webhook URL when the payment ended, the event is never ' +
    'sent, even if a URL is added later.\n\n' +
    'Events of test payments come to the same URL with the same signature, and have `test` = true. An order may have ' +
    'several payments, each with its event. So compare `amount`, `currency` and `test` with your order, and never take ' +
    'a paid order back.',
  security: [],
  requestParams: { header: EventHeaders },
  requestBody: requestBody({ json: EventBody, examples: eventExamples }),
  responses: {
    '2XX': {
      description: `Received. Respond within ${limits.attemptSeconds} seconds; a later response is a failed attempt.`,
    },
    '4XX': { description: 'A failed attempt, like every status that is not 2xx.' },
  },
};

const refundWebhook = {
  ...webhook,
  operationId: 'refundChanged',
  summary: 'A refund has ended, or was made by somebody else',
  description:
    'Off until an admin turns the events of refunds on for the application. Signed, repeated, listed and replayed like ' +
    'the event of a payment, and those of test payments come to the same URL. A refund sends at most one event of each ' +
    'kind. De-duplicate by `event_id`: a payment can have several refunds. Its `status` is that of the refund, and says ' +
    'nothing about the order.',
  requestParams: { header: RefundEventHeaders },
  requestBody: requestBody({ json: RefundEventBody, examples: refundEventExamples }),
};

const disputeWebhook = {
  ...webhook,
  operationId: 'disputeChanged',
  summary: 'A dispute was opened, has changed or was closed',
  description:
    'Off until an admin turns the events of disputes on for the application. Signed, repeated, listed and replayed like ' +
    'the event of a payment, and those of test payments come to the same URL. Each change sends one event. De-duplicate ' +
    'by `event_id`. Its `status` is that of the dispute, and says nothing about the order.',
  requestParams: { header: DisputeEventHeaders },
  requestBody: requestBody({ json: DisputeEventBody, examples: disputeEventExamples }),
};

const linkWebhook = {
  ...webhook,
  operationId: 'linkEnded',
  summary: 'A link is paid or has expired',
  description:
    'Signed, repeated, listed and replayed like the event of a payment, and those of test links come to the same URL. A link ' +
    'sends one event at most. De-duplicate by `event_id`. Each try of a payer is a payment with an event of its own.',
  requestParams: { header: LinkEventHeaders },
  requestBody: requestBody({ json: LinkEventBody, examples: linkEventExamples }),
};

/**
 * Shortens and opens the schemas: a format says more than its pattern of 400 characters, and readers must
 * accept new fields.
 */
const override: NonNullable<CreateDocumentOptions['override']> = ({ jsonSchema, io }) => {
  if (jsonSchema.format !== undefined) delete jsonSchema.pattern;
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
  // Generators make 32 bits by default; 22 million euros or 2.2 billion rials overflow that.
  if (jsonSchema.type === 'integer' && (jsonSchema.maximum ?? 0) > 0x7f_ff_ff_ff)
    jsonSchema.format = 'int64';
  if (io === 'output' && jsonSchema.additionalProperties === false)
    delete jsonSchema.additionalProperties;
};
