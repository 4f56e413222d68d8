import { randomBytes } from 'node:crypto';
import { createOperations, type Operations } from '../../../admin/operations/operations.ts';
import type { Sql } from '../../../postgres/driver/sql.ts';
import { createSecretBox, type KeyRing } from '../../../postgres/secrets/secret-box.ts';
import { createTemporalAdmin, type TemporalAdmin } from '../../../temporal/admin-client.ts';
import type { SharedService } from './service.ts';

export const aKeyRing = (...ids: string[]): KeyRing => ({
  currentId: ids[0] ?? 'k1',
  keys: new Map((ids.length > 0 ? ids : ['k1']).map((id) => [id, randomBytes(32)])),
});

/** A Temporal without workflows. */
export const emptyTemporal: TemporalAdmin = {
  async *list() {},
  running: async () => new Set(),
  restart: async () => {},
  recheck: async () => {},
  compareAccountDay: async () => {},
  cancel: async () => ({ kind: 'waiting' }),
  deliver: async () => {},
  finishRefund: async () => {},
  startLatePayment: async () => {},
  startReplayMany: async () => {},
  testWebhook: async () => {},
  verify: async () => ({ kind: 'waiting' }),
  skipTime: async () => {},
};

export interface OperationsOptions extends Partial<Parameters<typeof createOperations>[0]> {
  keyRing?: KeyRing;
  webhookKeyRing?: KeyRing;
  notificationKeyRing?: KeyRing;
}

/** The admin's use cases. Temporal is missing unless a test passes it. */
export const operationsOn = (
  sql: Sql,
  {
    keyRing = aKeyRing(),
    webhookKeyRing = aKeyRing(),
    notificationKeyRing = aKeyRing(),
    ...deps
  }: OperationsOptions = {},
): Operations => {
  return createOperations({
    sql,
    actor: 'ada',
    via: 'cli',
    targetRule: { allowLoopback: true },
    // Tests query no name server.
    resolve: async () => ['93.184.216.34'],
    secretBox: () => createSecretBox(keyRing),
    webhookBox: () => createSecretBox(webhookKeyRing, 'WEBHOOKS_KEY'),
    notificationBox: () => createSecretBox(notificationKeyRing, 'NOTIFICATIONS_KEY'),
    temporal: () => Promise.reject(new Error('There is no Temporal here')),
    retention: { attemptBodyDays: 90, paymentDays: null },
    workflowUrl: () => null,
    sendsMail: true,
    consoleUrl: 'http://console.localhost:3002',
    publicBaseUrl: 'https://pay.example',
    now: () => new Date(),
    ...deps,
  });
};

type Used = Pick<
  SharedService,
  'sql' | 'client' | 'keyRing' | 'webhookKeyRing' | 'notificationKeyRing'
>;
/** The admin's use cases on a service, by default with its own login and Temporal namespace. */
export const operationsOf = (
  service: Used,
  { sql = service.sql, client = service.client }: Partial<Pick<Used, 'sql' | 'client'>> = {},
): Operations => {
  const { keyRing, webhookKeyRing, notificationKeyRing } = service;
  return operationsOn(sql, {
    ...{ keyRing, webhookKeyRing, notificationKeyRing },
    temporal: async () => createTemporalAdmin(client),
  });
};

let made = 0;

/** Creates an application with a new slug. */
export const anApplicationOn = async (sql: Sql): Promise<string> => {
  const slug = `app-${(made += 1)}`;
  await operationsOn(sql).applications.create(
    {
      slug,
      defaultGateway: 'sandbox',
      callbackUrls: ['https://app.example/return'],
      webhookUrl: 'https://app.example/webhook',
      // Tests end many payments of one order.
      ordersPaidOnce: false,
    },
    null,
  );
  return slug;
};
