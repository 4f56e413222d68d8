import { randomBytes, randomUUID } from 'node:crypto';
import { Client, Connection } from '@temporalio/client';
import { inject } from 'vitest';
import { type TokenMode, type TokenScope, tokenScopes } from '../../../contract/token.ts';
import { sealCredentials } from '../../../gateways/registry.ts';
import { createApplications } from '../../../postgres/applications/applications.ts';
import { connect } from '../../../postgres/driver/connection.ts';
import type { Sql } from '../../../postgres/driver/sql.ts';
import { createGateways, sandboxAccount } from '../../../postgres/gateways/gateways.ts';
import { createSecretBox } from '../../../postgres/secrets/secret-box.ts';
import { createTokens } from '../../../postgres/applications/tokens.ts';
import { createWebhookSecrets } from '../../../postgres/secrets/webhook-secrets.ts';
import { choosePorts } from '../../../stack/ports.ts';
import { aDatabase } from '../data/database.ts';
import { createProcess, type TestProcess } from './processes.ts';
import { createJourney } from './journey.ts';
import { startReceiver } from './receiver.ts';
import { startOwnTemporal } from '../servers/own-temporal.ts';
import { aNamespace } from '../runner/shared-temporal.ts';

/** The address, the database, the Temporal namespace and the keys of a service. */
export interface ServiceEnvironment {
  url: string;
  databaseUrl: string;
  temporalAddress: string;
  namespace: string;
  /** Each is 32 bytes in base64. */
  keys: { secrets: string; webhooks: string; notifications: string; payers: string };
}

export const newKeys = (): ServiceEnvironment['keys'] => ({
  secrets: randomBytes(32).toString('base64'),
  webhooks: randomBytes(32).toString('base64'),
  notifications: randomBytes(32).toString('base64'),
  payers: randomBytes(32).toString('base64'),
});

interface ProcessOptions {
  workflowBundle: string;
  apiEnv?: Record<string, string>;
}

/** The processes of a service; none is started. */
export const serviceProcesses = (
  { url, databaseUrl, temporalAddress, namespace, keys }: ServiceEnvironment,
  { workflowBundle, apiEnv = {} }: ProcessOptions,
) => {
  const env = {
    DATABASE_URL: databaseUrl,
    PUBLIC_BASE_URL: url,
    TEMPORAL_ADDRESS: temporalAddress,
    TEMPORAL_NAMESPACE: namespace,
    SHUTDOWN_GRACE_SECONDS: '5',
    LOG_LEVEL: 'info',
    METRICS_PORT: '0',
  };
  const withKeys = {
    ...env,
    SECRETS_KEY: `test:${keys.secrets}`,
    WEBHOOKS_KEY: `test:${keys.webhooks}`,
    PAYERS_KEY: `test:${keys.payers}`,
  };
  return {
    env: withKeys,
    api: (own: Record<string, string> = {}) =>
      createProcess('api', 'api/main.ts', {
        ...env,
        API_PORT: new URL(url).port,
        NOTIFICATIONS_KEY: `test:${keys.notifications}`,
        PAYERS_KEY: `test:${keys.payers}`,
        PAYER_PAGES_PER_MINUTE: '1000000',
        // The tests' own idle connections are not worth waiting for.
        SHUTDOWN_GRACE_SECONDS: '1',
        ...apiEnv,
        ...own,
      }),
    worker: (own: Record<string, string> = {}) =>
      createProcess('worker', 'worker/main.ts', {
        ...withKeys,
        ALLOW_LOOPBACK_TARGETS: 'true',
        WORKFLOW_BUNDLE: workflowBundle,
        ...own,
      }),
  };
};

/** Starts both. Where one fails, the other is still to be stopped once it is up. */
export const startBoth = async (...processes: [TestProcess, TestProcess]): Promise<void> => {
  const starts = await Promise.allSettled(processes.map((process) => process.start()));
  for (const start of starts) if (start.status === 'rejected') throw start.reason;
};

const usualCallbackUrls = ['http://127.0.0.1:9/return', 'http://127.0.0.1:9/other?kept=1'];

/** All that a test needs of a running service, with a receiver of webhooks of its own. */
const useRunning = async (
  { url, temporalAddress, namespace, keys }: ServiceEnvironment,
  sql: Sql,
) => {
  const connection = Connection.lazy({ address: temporalAddress });
  const receiver = await startReceiver();
  const ringOf = (key: string) => ({
    currentId: 'test',
    keys: new Map([['test', Buffer.from(key, 'base64')]]),
  });
  const keyRings = {
    keyRing: ringOf(keys.secrets),
    webhookKeyRing: ringOf(keys.webhooks),
    notificationKeyRing: ringOf(keys.notifications),
    payersKeyRing: ringOf(keys.payers),
  };
  const seals = {
    secretBox: () => createSecretBox(keyRings.keyRing),
    notificationBox: () => createSecretBox(keyRings.notificationKeyRing, 'NOTIFICATIONS_KEY'),
  };
  // Each application of a file may name each gateway of the file.
  const own = { gateways: new Set<string>(), applications: new Set<string>() };
  const allowGateway = async (slug: string): Promise<void> => {
    own.gateways.add(slug);
    await sql`
      update applications set allowed_gateways = ${[...own.gateways]} where slug = any (${[...own.applications]})`;
  };
  return {
    sql,
    url,
    ...keyRings,
    seals,
    client: new Client({ connection, namespace }),
    receiver,

    /** The applications may name a gateway that the test has added in another way. */
    allowGateway,

    /** Adds a gateway, without credentials unless they are given. @returns whether its name is new */
    async addGateway({ credentials, ...account }: GatewayOptions) {
      const isNew = await createGateways(sql).insert({
        ...account,
        ...(credentials
          ? sealCredentials({ ...account, credentials }, seals)
          : { credentials: null }),
      });
      await allowGateway(account.slug);
      return isNew;
    },

    /** An application of its own, with one token, one webhook secret, and a journey with that token. */
    async anApplication(options: ApplicationOptions = {}) {
      const { mode = 'test', webhookUrl = receiver.url, requestsPerMinute = 1_000_000 } = options;
      const { ordersPaidOnce = false, callbackUrls = usualCallbackUrls } = options;
      const application = `app-${randomUUID().slice(0, 8)}`;
      if (!options.allowedGateways) own.applications.add(application);
      await createApplications(sql).insert({
        slug: application,
        defaultGateway: 'sandbox',
        allowedGateways: options.allowedGateways ?? [...own.gateways],
        callbackUrls,
        webhookUrl,
        requestsPerMinute,
        ordersPaidOnce,
      });
      /** Issues one more token. */
      const issue = (of: TokenMode, scopes: readonly TokenScope[] = tokenScopes) =>
        createTokens(sql).issue({ application, mode: of, name: 'test', scopes });
      const token = await issue(mode);
      const webhookBox = createSecretBox(keyRings.webhookKeyRing);
      const secret = await createWebhookSecrets(sql).issue(application, webhookBox);
      return { application, token, issue, secret, journey: createJourney({ url }, token) };
    },

    async stop() {
      await receiver.stop();
      await connection.close();
    },
  };
};

/**
 * Uses the service that the files of a run share, because the start of two processes takes three CPU seconds.
 * Only for a test that leaves the processes and the data of others alone.
 */
export const useService = async (): Promise<SharedService> => {
  const shared = inject('sharedService');
  const sql = connect(shared.databaseUrl, { name: 'tests', max: 10 });
  const running = await useRunning(shared, sql);
  return {
    ...running,
    async stop() {
      await running.stop();
      await sql.end({ timeout: 1 });
    },
  };
};
export type SharedService = Awaited<ReturnType<typeof useRunning>>;

/**
 * Uses the shared service through an API process of its own, for a test that reads its log, gives it settings or
 * restarts it. The worker and the data are those of others.
 */
export const useOwnApi = async (apiEnv: Record<string, string> = {}) => {
  await using begun = new AsyncDisposableStack();
  const service = begun.adopt(await useService(), (used) => used.stop());
  const processes = serviceProcesses(inject('sharedService'), { workflowBundle: '', apiEnv });
  const apis = furtherApis(processes);
  begun.defer(apis.stop);
  const { url, metricsUrl, process } = await apis.start();
  const running = begun.move();
  return {
    ...service,
    url,
    metricsUrls: { api: metricsUrl },
    api: process,
    anotherApi: apis.start,
    stop: () => running.disposeAsync(),
  };
};

/** Starts further API processes of a service. */
const furtherApis = (processes: ReturnType<typeof serviceProcesses>) => {
  const started: TestProcess[] = [];
  return {
    async start(own: Record<string, string> = {}) {
      const { further, metrics } = await choosePorts({ further: 0, metrics: 0 });
      const ports = { METRICS_PORT: String(metrics), ...own, API_PORT: String(further) };
      const process = processes.api(ports);
      started.push(process);
      await process.start();
      return {
        url: `http://127.0.0.1:${further}`,
        metricsUrl: `http://127.0.0.1:${metrics}`,
        process,
      };
    },
    async stop() {
      await Promise.all(started.map((process) => process.stop()));
    },
  };
};

/**
 * Starts the whole service for one test file: API and worker processes, on a database and a Temporal
 * namespace of its own.
 */
export const startService = async ({ apiEnv = {}, ...given }: ServiceOptions = {}) => {
  // A part that has begun ends again if the rest does not begin.
  await using begun = new AsyncDisposableStack();
  const ports = await choosePorts({ api: 0, apiMetrics: 0, workerMetrics: 0 });
  const database = given.database ?? (await aDatabase());
  begun.defer(() => database.drop());
  const ownTemporal = given.ownTemporal ? await startOwnTemporal(given) : undefined;
  begun.defer(() => ownTemporal?.drop());
  const environment: ServiceEnvironment = {
    url: `http://127.0.0.1:${ports.api}`,
    databaseUrl: database.url,
    temporalAddress: ownTemporal?.address ?? inject('sharedTemporal').address,
    namespace: ownTemporal ? 'default' : aNamespace(),
    keys: newKeys(),
  };
  const processes = serviceProcesses(environment, {
    apiEnv,
    workflowBundle: inject('workflowBundle'),
  });
  const api = processes.api({ METRICS_PORT: String(ports.apiMetrics) });
  const further = furtherApis(processes);
  const worker = processes.worker({ METRICS_PORT: String(ports.workerMetrics) });
  const workers = [worker];
  const inUse = await useRunning(environment, database.sql);
  begun.defer(() => inUse.stop());
  begun.defer(async () => {
    await Promise.all([api, further, ...workers].map((process) => process.stop()));
  });
  if (given.withoutWorker) await api.start();
  else await startBoth(api, worker);
  await createGateways(database.sql).insert(sandboxAccount);

  const running = begun.move();
  return {
    ...inUse,
    /** The metrics ports of its two first processes. */
    metricsUrls: {
      api: `http://127.0.0.1:${ports.apiMetrics}`,
      worker: `http://127.0.0.1:${ports.workerMetrics}`,
    },
    /** The environment of its processes: where its database and Temporal are, and its keys. */
    env: processes.env,
    /** The Temporal server of a service that has its own. */
    get engine() {
      if (!ownTemporal) throw new Error('Start the service with ownTemporal: true');
      return ownTemporal;
    },
    api,
    worker,
    /** With those of `anotherWorker`. */
    workers,

    /** One more API process on the same database and namespace. */
    anotherApi: further.start,

    /** One more worker of both task queues. */
    async anotherWorker(own: Record<string, string> = {}) {
      const another = processes.worker(own);
      workers.push(another);
      await another.start();
      return another;
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
  /** The test starts workers of its own, or none. */
  withoutWorker?: boolean;
  /** Instead of one of its own; it is dropped in the end. */
  database?: Pick<Awaited<ReturnType<typeof aDatabase>>, 'sql' | 'url' | 'drop'>;
}

interface GatewayOptions {
  slug: string;
  driver: string;
  kind: 'live' | 'sandbox';
  credentials?: object;
}

export interface ApplicationOptions {
  mode?: TokenMode;
  webhookUrl?: string | null;
  callbackUrls?: string[];
  /** So many that no test meets it by chance. */
  requestsPerMinute?: number;
  ordersPaidOnce?: boolean;
  /** Instead of those that the test has added. */
  allowedGateways?: string[];
}
