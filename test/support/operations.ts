import { randomBytes } from 'node:crypto';
import { createWebhookDispatcher } from '../../webhooks/connector.ts';
import type { Deps, Operations } from '../../admin/operations.ts';
import { createOperations } from '../../admin/operations.ts';
import { problemWithAccount } from '../../gateways/adapters.ts';
import type { Sql } from '../../postgres/driver/sql.ts';
import type { KeyRing } from '../../postgres/secret-box.ts';
import { createSecretBox } from '../../postgres/secret-box.ts';

export const aKeyRing = (...ids: string[]): KeyRing => ({
  currentId: ids[0] ?? 'k1',
  keys: new Map((ids.length > 0 ? ids : ['k1']).map((id) => [id, randomBytes(32)])),
});

export interface MetricsPortOptions extends Partial<Deps> {
  keyRing?: KeyRing;
}

/** What the admin's command line asks, without Temporal unless a test hands it in. */
export const operationsOn = (
  sql: Sql,
  { keyRing = aKeyRing(), ...deps }: MetricsPortOptions = {},
): Operations =>
  createOperations({
    sql,
    actor: 'ada',
    targetRule: { allowLoopback: true },
    // No test asks a name server.
    resolve: async () => ['93.184.216.34'],
    secretBox: () => createSecretBox(keyRing),
    problemWithAccount: (driver, account) =>
      problemWithAccount(driver, account, { allowLoopback: true }),
    engine: () => Promise.reject(new Error('There is no Temporal here')),
    resets: async () => ({ toDelivery: async () => 'reset' }),
    dispatcher: () => createWebhookDispatcher({ allowLoopback: true, timeoutMs: 2_000 }),
    retention: { attemptBodyDays: 90, paymentDays: null },
    workflowUrl: () => null,
    now: () => new Date(),
    ...deps,
  });

let made = 0;

/** An application that no other test knows. */
export const anApplicationOn = async (sql: Sql): Promise<string> => {
  const slug = `app-${(made += 1)}`;
  await operationsOn(sql).applications.create(
    {
      slug,
      defaultGateway: 'sandbox',
      callbackUrls: ['https://app.example/return'],
      webhookUrl: 'https://app.example/webhook',
    },
    null,
  );
  return slug;
};
