import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseKeyRing, type StackConfig } from '../config.ts';
import { credentialsOwner } from '../contract/ids.ts';
import { createApplications } from '../postgres/applications/applications.ts';
import { connect } from '../postgres/driver/connection.ts';
import type { Sql } from '../postgres/driver/sql.ts';
import { createGateways } from '../postgres/gateways/gateways.ts';
import { createSecretBox, type KeyRing } from '../postgres/secrets/secret-box.ts';
import { createTokens } from '../postgres/applications/tokens.ts';
import { createWebhookSecrets } from '../postgres/secrets/webhook-secrets.ts';
import { SetupError } from '../process.ts';
import type { ConnectionFile } from '../stack/connection-file.ts';
import { openDataFolder, readKeyRing } from '../stack/data-folder.ts';
import { openLog } from '../stack/logs.ts';
import { startProgram } from '../stack/processes.ts';
import { findTemporal } from '../stack/temporal/program.ts';
import { createTerminal } from '../stack/terminal.ts';
import { type Bare, startBare } from './bare.ts';
import { timed } from './load.ts';
import { createHttp, createPayers, type Deps as PayersDeps, type Payers } from './payers.ts';
import { findAllPids, findPids, type Pids } from './processes.ts';
import type { Receiver } from './receiver.ts';

/** A running stack, with what measures it. */
export interface Bench {
  config: StackConfig;
  /** The start time of the stack with everything cached. */
  startMs: number;
  http: PayersDeps['http'];
  pids: Pids;
  /** All processes of the stack, by name. */
  processPids: Record<string, number>;
  bare: Bare;
  /** As `pids`, with the bare API and worker. */
  barePids: Pids;
  /** A bare workflow whose worker is as lean as ours. */
  startLean: () => Promise<{ lean: Bare; leanPids: Pids }>;
  sql: Sql;
  /** Makes an application with payers. */
  payers: (options: PayersOptions) => Promise<Payers>;
  /** Stops what a group has started, at the end or after an interruption. */
  cleanup: AsyncDisposableStack;
  folder: string;
  /** The worker's metrics, as Prometheus reads them. */
  workerMetricsUrl: string;
  say: (line: string) => void;
}

export interface PayersOptions {
  /** Of the application. */
  slug: string;
  receiver: Pick<Receiver, 'url' | 'arrival'>;
  /** The credentials of a Stripe account. The default is the sandbox gateway. */
  credentials?: string;
  payAt?: PayersDeps['payAt'];
  /** Asked after the application's own gateway. */
  fallbackGateways?: string[];
  ordersPaidOnce?: boolean;
}

export interface EnvironmentOptions {
  config: StackConfig;
  cleanup: AsyncDisposableStack;
  say: (line: string) => void;
}

/** Starts a stack in an empty folder, with the bare processes beside it. @throws SetupError */
export const startEnvironment = async (options: EnvironmentOptions): Promise<Bench> => {
  const { config, cleanup, say } = options;
  if (process.platform !== 'linux')
    throw new SetupError('The benchmark reads CPU and memory from /proc: run it on Linux.');
  const folder = createFolder(cleanup);
  const data = openDataFolder(join(folder, 'stack'));
  await findTemporal({ ...config, terminal: createTerminal() });
  const start = () =>
    startProgram({
      name: 'The stack',
      args: [resolve(import.meta.dirname, '../stack/main.ts')],
      env: stackEnv(config, data.path),
      stopMs: 12_000,
      log: openLog(folder, 'stack'),
    });
  say('Starting the stack, which fills its caches …');
  await (await start()).stop();
  say('Starting the stack again …');
  const startMs = await timed(async () => cleanup.defer((await start()).stop));
  const connection = JSON.parse(readFileSync(data.connection, 'utf8')) as ConnectionFile;

  const databaseUrl = connection.database_url;
  const http = createHttp();
  cleanup.defer(http.close);
  const sql = connect(databaseUrl, { name: 'bench', max: 1, patient: true });
  cleanup.defer(() => sql.end({ timeout: 1 }));
  const startOne = async (isLean: boolean) => {
    const temporal = {
      address: connection.temporal_address,
      namespace: connection.temporal_namespace,
    };
    const one = await startBare({ folder, databaseUrl, temporal, http, isLean });
    cleanup.defer(one.stop);
    return one;
  };
  const bare = await startOne(false);
  const pids = findPids(data.processes);
  const keys = {
    keyRing: parseKeyRing(readFileSync(data.secretsKey, 'utf8').trim()),
    webhookKeyRing: readKeyRing(data),
  };
  return {
    config,
    startMs,
    http,
    pids,
    processPids: findAllPids(data.processes),
    bare,
    barePids: { ...pids, ...bare.pids },
    async startLean() {
      const lean = await startOne(true);
      return { lean, leanPids: { ...pids, ...lean.pids } };
    },
    sql,
    cleanup,
    folder,
    workerMetricsUrl: connection.worker_metrics_url,
    say,
    async payers(own) {
      const token = await createApplication(sql, { ...own, ...keys });
      return createPayers({ ...own, http, apiBaseUrl: connection.api_base_url, token });
    },
  };
};

/** Makes an application, with a gateway of the same name if there are credentials. Returns its token. */
export const createApplication = async (
  sql: Sql,
  {
    slug,
    receiver,
    credentials,
    fallbackGateways = [],
    ordersPaidOnce = false,
    keyRing,
    webhookKeyRing,
  }: PayersOptions & { keyRing: KeyRing; webhookKeyRing: KeyRing },
): Promise<string> => {
  if (credentials !== undefined)
    await createGateways(sql).insert({
      slug,
      driver: 'stripe',
      kind: 'sandbox',
      credentials: createSecretBox(keyRing).seal(credentials, credentialsOwner(slug)),
    });
  await createApplications(sql).insert({
    slug,
    defaultGateway: credentials === undefined ? 'sandbox' : slug,
    fallbackGateways,
    callbackUrls: ['http://127.0.0.1/back'],
    webhookUrl: receiver.url,
    // No figure is about the request budget.
    requestsPerMinute: 1_000_000_000,
    ordersPaidOnce,
  });
  await createWebhookSecrets(sql).issue(slug, createSecretBox(webhookKeyRing));
  return createTokens(sql).issue({ application: slug, mode: 'test', name: 'bench' });
};

/** As for `npm start`, but apart from every other stack on this machine. */
const stackEnv = (config: StackConfig, dataDir: string): Record<string, string> => ({
  ...config.inherited,
  DATA_DIR: dataDir,
  TEMPORAL_DOWNLOAD: String(config.TEMPORAL_DOWNLOAD),
  ...(config.TEMPORAL_CLI_PATH && { TEMPORAL_CLI_PATH: config.TEMPORAL_CLI_PATH }),
  ...(config.CACHE_DIR && { CACHE_DIR: config.CACHE_DIR }),
  API_PORT: '0',
  SHOP_PORT: '0',
  CONSOLE_PORT: '0',
  POSTGRES_PORT: '0',
  TEMPORAL_PORT: '0',
  TEMPORAL_UI_PORT: '0',
  // All payers of the benchmark have one address.
  PAYER_PAGES_PER_MINUTE: '1000000',
});

/** A temporary folder that Postgres, another user when we are root, can pass through. */
const createFolder = (cleanup: AsyncDisposableStack): string => {
  const folder = mkdtempSync(join(tmpdir(), 'payments-bench-'));
  chmodSync(folder, 0o711);
  cleanup.defer(() =>
    rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 }),
  );
  return folder;
};
