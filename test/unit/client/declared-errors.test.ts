import { expect, it } from 'vitest';
import { ApiError, type Payments } from '../../../client/src/index.ts';
import { readProjectFile } from '../../support/checks/project-files.ts';
import { aClient, failure, requestId } from '../../support/client/scripted-server.ts';

interface Operation {
  operationId: string;
  security: unknown[];
  responses: Record<string, { content?: { 'application/json': { schema: Schema } } }>;
}
interface Schema {
  $ref?: string;
  anyOf?: Schema[];
}
const { paths } = JSON.parse(readProjectFile('docs/openapi.json')) as {
  paths: Record<string, Record<string, Operation>>;
};

const order = { order_id: 'order-1', amount: 1250, currency: 'EUR' } as const;
const days = { from: '2026-11-17', to: '2026-11-18' };

/** The method of the client for each operation that an application calls. */
const calls: Record<string, (client: Payments) => PromiseLike<unknown>> = {
  getApplication: (client) => client.me(),
  createPayment: (client) => client.payments.create(order),
  listPayments: (client) => client.payments.list().page(),
  getPayment: (client) => client.payments.get('PAY_1'),
  cancelPayment: (client) => client.payments.cancel('PAY_1'),
  verifyPayment: (client) => client.payments.verify('PAY_1'),
  createRefund: (client) => client.payments.refunds.create('PAY_1'),
  listRefundsOfPayment: (client) => client.payments.refunds.list('PAY_1').page(),
  listRefunds: (client) => client.refunds.list().page(),
  getRefund: (client) => client.refunds.get('REFUND_1'),
  cancelRefund: (client) => client.refunds.cancel('REFUND_1'),
  listGateways: (client) => client.gateways.list(),
  listDisputesOfPayment: (client) => client.payments.disputes.list('PAY_1').page(),
  listDisputes: (client) => client.disputes.list().page(),
  getDispute: (client) => client.disputes.get('DISPUTE_1'),
  createLink: (client) => client.links.create(order),
  listLinks: (client) => client.links.list().page(),
  getLink: (client) => client.links.get('LNK_1'),
  disableLink: (client) => client.links.disable('LNK_1'),
  listMovements: (client) => client.movements.list().page(),
  getWebhook: (client) => client.webhook.get(),
  listEvents: (client) => client.events.list().page(),
  getEvent: (client) => client.events.get('1'),
  replayEvent: (client) => client.events.replay('1'),
  createReplay: (client) => client.replays.create(days),
  getReplay: (client) => client.replays.get('RPL_1'),
  stopReplay: (client) => client.replays.stop('RPL_1'),
  testWebhook: (client) => client.webhook.test(),
};

const operations = Object.entries(paths).flatMap(([path, methods]) =>
  Object.entries(methods)
    .filter(([, { security }]) => security.length > 0)
    .map(([method, operation]) => ({ method: method.toUpperCase(), path, ...operation })),
);

it('every operation for applications has a method', () => {
  expect(operations.map(({ operationId }) => operationId).sort()).toEqual(
    Object.keys(calls).sort(),
  );
});

const respond = async (operationId: string, replies: Parameters<typeof aClient>[0]) => {
  const { client, seen } = await aClient(replies, { maxRetries: 0 });
  const errors: unknown[] = [];
  for (const _ of replies)
    await calls[operationId]?.(client).then(undefined, (thrown: unknown) => errors.push(thrown));
  return { seen, errors };
};

it.each(operations)('$operationId sends $method $path', async ({ operationId, method, path }) => {
  const { seen } = await respond(operationId, [failure(404, 'NOT_FOUND')]);
  expect(seen).toMatchObject([{ method }]);
  expect(seen[0]?.url).toMatch(new RegExp(`^${path.replaceAll(/\{\w+\}/g, '\\w+')}$`));
});

it('every operation throws each of its errors as an ApiError with its status and code', async () => {
  const wanted: string[] = [];
  const thrown: string[] = [];
  for (const { operationId, responses } of operations) {
    const declared = Object.entries(responses)
      .filter(([status]) => Number(status) >= 400)
      .flatMap(([status, { content }]) => {
        const { schema } = content?.['application/json'] ?? {};
        return (schema?.anyOf ?? [schema]).map((one) => ({
          status: Number(status),
          code: one?.$ref?.replace('#/components/schemas/Error_', '') ?? '',
        }));
      });
    wanted.push(...declared.map(({ status, code }) => `${operationId} ${status} ${code}`));
    const replies = declared.map(({ status, code }) => failure(status, code));
    for (const error of (await respond(operationId, replies)).errors) {
      const is = error instanceof ApiError && error.requestId === requestId;
      thrown.push(
        is ? `${operationId} ${error.status} ${error.code}` : `${operationId} ${String(error)}`,
      );
    }
  }
  expect(thrown).toEqual(wanted);
  expect(wanted.length).toBeGreaterThan(250);
});
