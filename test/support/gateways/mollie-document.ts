import * as models from 'mollie-api-typescript/models';
import { ErrorResponse$inboundSchema } from 'mollie-api-typescript/models/errors';
import * as operations from 'mollie-api-typescript/models/operations';
import { startCountingUnrecognized } from 'mollie-api-typescript/types';
import type { Call, FakeResponse } from '../../fakes/server.ts';

/*
 * Mollie's OpenAPI document (github.com/mollie/openapi) has a licence that allows no copy here, CC-BY-NC-SA-4.0. Mollie's own
 * client, which is made from the document, has its schemas under BSD-2-Clause.
 */

interface Schema {
  parse(value: unknown): unknown;
}
interface Operation {
  method: string;
  path: RegExp;
  /** The values of the path and the query. */
  parameters: Schema;
  /** The names of the parts of the path. */
  names: string[];
  body?: Schema;
  status: number;
  answer: Schema;
}

/** The client's error has its request and its response, too. */
const errorSchema: Schema = {
  parse: (value) =>
    ErrorResponse$inboundSchema.parse({
      ...Object(value),
      ...{ request$: new Request('http://mollie'), response$: new Response(), body$: '' },
    }).data$,
};

const documented: Operation[] = [
  {
    ...{ method: 'POST', path: /^\/v2\/payments$/, names: [], status: 201 },
    parameters: operations.CreatePaymentRequest$outboundSchema,
    body: models.PaymentRequest$outboundSchema,
    answer: models.PaymentResponse$inboundSchema,
  },
  {
    ...{ method: 'GET', path: /^\/v2\/payments\/([^/]+)$/, names: ['paymentId'], status: 200 },
    parameters: operations.GetPaymentRequest$outboundSchema,
    answer: models.PaymentResponse$inboundSchema,
  },
  {
    ...{ method: 'DELETE', path: /^\/v2\/payments\/([^/]+)$/, names: ['paymentId'], status: 200 },
    parameters: operations.CancelPaymentRequest$outboundSchema,
    answer: models.PaymentResponse$inboundSchema,
  },
  {
    ...{ method: 'POST', path: /^\/v2\/payments\/([^/]+)\/refunds$/, status: 201 },
    names: ['paymentId'],
    parameters: operations.CreateRefundRequest$outboundSchema,
    body: models.RefundRequest$outboundSchema,
    answer: models.RefundResponse$inboundSchema,
  },
  {
    ...{ method: 'GET', path: /^\/v2\/payments\/([^/]+)\/refunds$/, status: 200 },
    names: ['paymentId'],
    parameters: operations.ListRefundsRequest$outboundSchema,
    answer: operations.ListRefundsResponseBody$inboundSchema,
  },
  {
    ...{ method: 'GET', path: /^\/v2\/payments\/([^/]+)\/chargebacks$/, status: 200 },
    names: ['paymentId'],
    parameters: operations.ListChargebacksRequest$outboundSchema,
    answer: operations.ListChargebacksResponseBody$inboundSchema,
  },
  {
    ...{ method: 'GET', path: /^\/v2\/balances$/, names: [], status: 200 },
    parameters: operations.ListBalancesRequest$outboundSchema,
    answer: operations.ListBalancesResponseBody$inboundSchema,
  },
  {
    ...{ method: 'GET', path: /^\/v2\/balances\/([^/]+)\/transactions$/, status: 200 },
    names: ['balanceId'],
    parameters: operations.ListBalanceTransactionsRequest$outboundSchema,
    answer: operations.ListBalanceTransactionsResponseBody$inboundSchema,
  },
  {
    ...{
      method: 'GET',
      path: /^\/v2\/settlements\/([^/]+)$/,
      names: ['settlementId'],
      status: 200,
    },
    parameters: operations.GetSettlementRequest$outboundSchema,
    answer: models.EntitySettlement$inboundSchema,
  },
];

/** The client writes `_embedded.balance_transactions` as `embedded.balanceTransactions`. */
const nameInClient = (name: string) =>
  name.replace(/^_/, '').replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());

/** Finds the paths that the schema has left out of a value, or changed. */
const lostIn = (value: unknown, parsed: unknown, at: string): string[] => {
  if (typeof value !== 'object' || value === null) return value === parsed ? [] : [at];
  // The document contradicts itself: its examples have the fields of `context` at once, its schema under the type.
  if (at.endsWith('.context')) return [];
  const found = Object(parsed) as Record<string, unknown>;
  return Object.entries(value).flatMap(([name, part]) => {
    const inClient = [name, nameInClient(name)].find((each) => Object.hasOwn(found, each));
    const path = `${at}.${name}`;
    return inClient === undefined ? [path] : lostIn(part, found[inClient], path);
  });
};

/** Finds everything in a value that the schema refuses, does not know, or has no such word for. */
const problemsOf = (schema: Schema, value: unknown, at: string): string[] => {
  const unknownWords = startCountingUnrecognized();
  try {
    const lost = lostIn(value, schema.parse(value), at);
    const words = unknownWords.end();
    return words > 0 ? [...lost, `${at} has ${words} unknown words`] : lost;
  } catch (error) {
    unknownWords.end();
    return [`${at}: ${String(error)}`];
  }
};

const typed = (text: string): unknown =>
  text === 'true' || text === 'false' ? text === 'true' : /^\d+$/.test(text) ? Number(text) : text;

/** Finds the differences of a call and its answer from Mollie's document. */
export const differencesOf = (call: Call, { status = 200, body }: FakeResponse): string[] => {
  const { pathname, searchParams } = new URL(call.path, 'http://mollie');
  const name = `${call.method} ${pathname}`;
  const operation = documented.find(
    ({ method, path }) => method === call.method && path.test(pathname),
  );
  if (!operation) return [`${name} is not documented`];
  const parts = operation.path.exec(pathname)?.slice(1) ?? [];
  const parameters = Object.fromEntries([
    ...operation.names.map((each, index) => [each, decodeURIComponent(parts[index] ?? '')]),
    ...[...searchParams].map(([each, text]) => [each, typed(text)]),
  ]) as object;
  const sent = call.text === '' ? undefined : call.json;
  const answer = status >= 400 ? errorSchema : operation.answer;
  return [
    ...problemsOf(operation.parameters, parameters, `${name}: parameters`),
    ...(operation.body ? problemsOf(operation.body, sent, `${name}: body`) : []),
    ...(!operation.body && sent ? [`${name} has no body`] : []),
    ...(status < 400 && status !== operation.status ? [`${name} answers ${status}`] : []),
    ...problemsOf(answer, body, `${name}: answer ${status}`),
  ];
};
