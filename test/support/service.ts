import { randomBytes, randomUUID } from 'node:crypto';
import { Client, Connection } from '@temporalio/client';
import { inject } from 'vitest';
import type { TokenMode } from '../../contract/token.ts';
import { createApplications } from '../../postgres/applications.ts';
import { createGateways, sandboxAccount } from '../../postgres/gateways.ts';
import { createSecretBox } from '../../postgres/secret-box.ts';
import { createTokens } from '../../postgres/tokens.ts';
import { createWebhookSecrets } from '../../postgres/webhook-secrets.ts';
import { choosePorts } from '../../stack/ports.ts';
import { aDatabase } from './database.ts';
import type { TestProcess } from './processes.ts';
import { createProcess } from './processes.ts';
import { startReceiver } from './receiver.ts';
import { startOwnTemporal } from './own-temporal.ts';
import { aNamespace } from './shared-temporal.ts';

/**
 * Starts the whole service for one test file: API and worker processes, on a database and a Temporal
 * namespace of its own.
 */
export const startService = async ({ apiEnv = {}, ...given }: ServiceOptions = {}) => {
  // What has begun ends again where the rest does not begin.
  await using begun = new AsyncDisposableStack();
  const ports = await choosePorts({ api: 0, apiMetrics: 0, workerMetrics: 0 });
  const database = given.database ?? (await aDatabase());
  begun.defer(() => database.drop());
  const [secretsKey, notificationsKey] = [randomBytes(32), randomBytes(32)];
  const ownTemporal = given.ownTemporal ? await startOwnTemporal(given) : undefined;
  begun.defer(() => ownTemporal?.drop());
  const address = ownTemporal?.address ?? inject('sharedTemporal').address;
  const namespace = ownTemporal ? 'default' : aNamespace();

  const publicBaseUrl = `http://127.0.0.1:${ports.api}`;
  const env = {
    DATABASE_URL: database.url,
    PUBLIC_BASE_URL: publicBaseUrl,
    TEMPORAL_ADDRESS: address,
    TEMPORAL_NAMESPACE: namespace,
    SHUTDOWN_GRACE_SECONDS: '5',
    LOG_LEVEL: 'info',
  };
  const apiDefaults = {
    NOTIFICATIONS_KEY: `test:${notificationsKey.toString('base64')}`,
    PAYER_PAGES_PER_MINUTE: '1000000',
    // The tests' own idle connections are not worth waiting for.
    SHUTDOWN_GRACE_SECONDS: '1',
  };
  const apiProcess = (port: number, own: Record<string, string> = {}) =>
    createProcess('api', 'api/main.ts', {
      ...env,
      ...apiDefaults,
      ...apiEnv,
      METRICS_PORT: '0',
      ...own,
      API_PORT: String(port),
    });
  const api = apiProcess(ports.api, { METRICS_PORT: String(ports.apiMetrics) });
  const furtherApis: TestProcess[] = [];
  const workerEnv = { ...env, SECRETS_KEY: `test:${secretsKey.toString('base64')}` };
  const worker = createProcess('worker', 'worker/main.ts', {
    ...workerEnv,
    ALLOW_LOOPBACK_TARGETS: 'true',
    WORKFLOW_BUNDLE: inject('workflowBundle'),
    METRICS_PORT: String(ports.workerMetrics),
  });
  const connection = Connection.lazy({ address });
  begun.defer(() => connection.close());
  const receiver = await startReceiver();
  begun.defer(() => receiver.stop());
  begun.defer(async () => {
    await Promise.all([api, worker, ...furtherApis].map((process) => process.stop()));
  });
  // Not all(): where one fails, the other is still to be stopped once it is up.
  const starts = await Promise.allSettled([api.start(), worker.start()]);
  for (const start of starts) if (start.status === 'rejected') throw start.reason;

  const ringOf = (key: Buffer) => ({ currentId: 'test', keys: new Map([['test', key]]) });
  const [keyRing, notificationKeyRing] = [ringOf(secretsKey), ringOf(notificationsKey)];
  const { sql } = database;
  await createGateways(sql).insert(sandboxAccount);

  const running = begun.move();
  return {
    sql,
    url: publicBaseUrl,
    /** Where the metrics ports of its two first processes are. */
    metricsUrls: {
      api: `http://127.0.0.1:${ports.apiMetrics}`,
      worker: `http://127.0.0.1:${ports.workerMetrics}`,
    },
    /** The environment of its processes: where its database and Temporal are, and its keys. */
    env: workerEnv,
    keyRing,
    notificationKeyRing,
    seals: {
      secretBox: () => createSecretBox(keyRing),
      notificationBox: () => createSecretBox(notificationKeyRing, 'NOTIFICATIONS_KEY'),
    },
    client: new Client({ connection, namespace }),
    /** The Temporal server of a service that has its own. */
    get engine() {
      if (!ownTemporal) throw new Error('Start the service with ownTemporal: true');
      return ownTemporal;
    },
    api,
    worker,
    receiver,

    /** One more API process on the same database and namespace. */
    async anotherApi(own: Record<string, string> = {}) {
      const { further } = await choosePorts({ further: 0 });
      const process = apiProcess(further, own);
      furtherApis.push(process);
      await process.start();
      return { url: `http://127.0.0.1:${further}`, process };
    },

    /** An application of its own, with one token and one webhook secret. */
    async anApplication(options: ApplicationOptions = {}) {
      const { mode = 'test', webhookUrl = receiver.url, requestsPerMinute = 1_000_000 } = options;
      const application = `app-${randomUUID().slice(0, 8)}`;
      await createApplications(sql).insert({
        slug: application,
        defaultGateway: 'sandbox',
        callbackUrls: ['http://127.0.0.1:9/return', 'http://127.0.0.1:9/other?kept=1'],
        webhookUrl,
        requestsPerMinute,
      });
      const token = await createTokens(sql).issue({ application, mode, name: 'test' });
      const secret = await createWebhookSecrets(sql).issue(application, createSecretBox(keyRing));
      return { application, token, secret };
    },

    stop: () => running.disposeAsync(),
  };
};
export type Service = Awaited<ReturnType<typeof startService>>;

export interface ServiceOptions {
  /** Settings of the API processes beside the usual ones. */
  apiEnv?: Record<string, string>;
  /** A Temporal server that the test may stop, instead of a namespace of the shared one. */
  ownTemporal?: boolean;
  /** Own Temporal with its Web UI. */
  withUi?: boolean;
  /** Instead of one of its own; it is dropped in the end. */
  database?: Pick<Awaited<ReturnType<typeof aDatabase>>, 'sql' | 'url' | 'drop'>;
}

export interface ApplicationOptions {
  mode?: TokenMode;
  webhookUrl?: string | null;
  /** So many that no test meets it by chance. */
  requestsPerMinute?: number;
}
