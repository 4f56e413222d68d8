import { randomBytes } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { KeyRing } from '../../postgres/secrets/secret-box.ts';
import { openLog } from '../../stack/logs.ts';
import { choosePorts } from '../../stack/ports.ts';
import { startPostgres } from '../../stack/postgres.ts';
import { startProgram } from '../../stack/processes.ts';
import type { ServerPrograms } from '../../stack/temporal/program.ts';
import { bundleWorkflows } from '../../stack/workflow-bundle.ts';
import { startTcpProxy } from '../../test/support/servers/tcp-proxy.ts';
import { serviceCompileCache } from './compile-cache.ts';
import { createMember, type Member, type MemberOptions } from './member.ts';
import { programs, runProgram } from './programs.ts';
import {
  cluster,
  createSchema,
  oneServer,
  type PlannedServer,
  planServers,
  startTemporalServer,
} from './temporal.ts';

export interface ProductionSettings {
  /** The environment of Temporal's server. */
  serverEnv?: Record<string, string>;
  /** The dynamic configuration of Temporal's server, by name. */
  dynamicConfig?: Record<string, number | boolean>;
  /** The flags of Node in the workers. */
  workerFlags?: readonly string[];
  /** More variables of the workers. */
  workerEnv?: Record<string, string>;
}

export interface ProductionOptions {
  /** An empty folder. As root, other users must be able to pass through it, as Postgres runs as one. */
  folder: string;
  programs: ServerPrograms;
  /** The number of API processes, and of workers. */
  processes?: number;
  /** Temporal's server as a cluster of six processes, and workers for one task queue each. */
  cluster?: boolean;
  /** The differences from docker-compose.yml, to measure them. */
  settings?: ProductionSettings;
  /** Puts something between our processes and a server. Returns the port to use instead. */
  through?: (name: 'postgres' | 'temporal', url: string) => Promise<string>;
  /** Called when a process cannot be started any more. */
  giveUp: (reason: string) => void;
}

export interface Production {
  /** The URL of the proxy before the API processes. */
  url: string;
  databaseUrl: string;
  keyRing: KeyRing;
  webhookKeyRing: KeyRing;
  notificationKeyRing: KeyRing;
  temporal: { address: string; namespace: string };
  members: Member[];
  logs: string;
  /** Stops all processes, does the work, and starts them again. */
  stopDuring(work: () => Promise<void>): Promise<void>;
  stop(): Promise<void>;
}

/** In each row those who need the rows before it. */
const startOrder = [['postgres'], ['temporal'], ['api', 'worker']];

/** Stops whoever uses a server before the server: without its database Temporal would wait. */
const stopInOrder = async (members: readonly Member[]): Promise<void> => {
  for (const parts of startOrder.toReversed())
    await Promise.all(
      members.filter(({ part }) => parts.includes(part)).map((each) => each.stop()),
    );
};

const startInOrder = async (members: readonly Member[]): Promise<void> => {
  for (const parts of startOrder)
    await Promise.all(
      members.filter(({ part }) => parts.includes(part)).map((each) => each.start()),
    );
};

const root = resolve(import.meta.dirname, '../..');
const namespace = 'payments';

const numbered = (name: string, count: number): string[] =>
  Array.from({ length: count }, (_, index) => `${name}-${index + 1}`);

const postgresMember = (own: { folder: string; logs: string; port: number }) => {
  const { write: onLine } = openLog(own.logs, 'postgres');
  return {
    name: 'postgres',
    part: 'postgres',
    start: (start) =>
      startPostgres({
        start,
        dataDir: join(own.folder, 'postgres'),
        port: own.port,
        settings: { max_connections: '300' },
        onLine,
      }),
  } satisfies MemberOptions;
};

/** The ports of the API processes, and a proxy before them that asks each whether it is ready. */
const planApis = async (count: number) => {
  const names = Object.fromEntries(numbered('api', count).map((name) => [name, 0]));
  const ports = await choosePorts(names);
  const metricsPorts = await choosePorts(names);
  const proxy = await startTcpProxy(
    Object.values(ports).map((port) => `http://127.0.0.1:${port}`),
    Object.values(metricsPorts).map((port) => `http://127.0.0.1:${port}/readyz`),
  );
  const apis = Object.entries(ports).map(([name, port]) => ({
    name,
    port,
    metricsPort: metricsPorts[name],
  }));
  return { proxy, apis };
};

/** The names of the workers, with the task queues of each. */
const planWorkers = (count: number, apart: boolean): [name: string, queues: string][] =>
  apart
    ? ['payments', 'webhooks'].flatMap((queue) =>
        numbered(`worker-${queue}`, count).map((name): [string, string] => [name, queue]),
      )
    : numbered('worker', count).map((name) => [name, 'payments,webhooks']);

const newKeys = () => ({
  key: randomBytes(32),
  webhooksKey: randomBytes(32),
  notificationsKey: randomBytes(32),
  payersKey: randomBytes(32),
});
const textOf = (key: Buffer): string => `production:${key.toString('base64')}`;
const ringOf = (key: Buffer): KeyRing => ({
  currentId: 'production',
  keys: new Map([['production', key]]),
});

/**
 * Starts the production shape without containers: API processes behind a TCP proxy, workers, and
 * Temporal's server on Postgres. Each process is started again whenever it ends, as in production.
 * @throws SetupError
 */
export const startProduction = async (options: ProductionOptions): Promise<Production> => {
  const { folder, processes = 2, cluster: isCluster = false, giveUp } = options;
  const { workerFlags = [], workerEnv = {} } = options.settings ?? {};
  const logs = join(folder, 'logs');
  mkdirSync(logs, { recursive: true });
  const members: Member[] = [];
  const bringUp = async (member: Omit<MemberOptions, 'giveUp'>): Promise<Member> => {
    const created = createMember({ ...member, giveUp });
    members.push(created);
    await created.start();
    return created;
  };

  const { postgres: postgresPort, frontend } = await choosePorts({ postgres: 0, frontend: 0 });
  const servers = await planServers(isCluster ? cluster : oneServer, frontend);
  const address = `127.0.0.1:${frontend}`;
  const { proxy, apis } = await planApis(processes);
  const databaseUrl = `postgres://postgres@127.0.0.1:${postgresPort}/payments`;
  const { key, webhooksKey, notificationsKey, payersKey } = newKeys();

  const stop = async () => {
    await proxy.stop();
    await stopInOrder(members);
  };
  try {
    const postgres = await bringUp(postgresMember({ folder, logs, port: postgresPort }));
    await Promise.all([
      runProgram('migrations', { root, env: { DATABASE_URL: databaseUrl } }),
      createSchema({ programs: options.programs, postgresPort }),
    ]);
    const bringUpServer = (server: PlannedServer) => {
      const { write: onLine } = openLog(logs, server.name);
      return bringUp({
        name: server.name,
        part: 'temporal',
        // A Postgres that recovers on a busy machine can take longer than twenty failed starts.
        needs: [postgres],
        start: (start) =>
          startTemporalServer({
            ...options,
            ...options.settings,
            ...server,
            postgresPort,
            start,
            onLine,
          }),
      });
    };
    const temporal: Member[] = [];
    // The first process of a new cluster describes it in the database. Two at once would both try.
    for (const server of servers) temporal.push(await bringUpServer(server));
    await runProgram('namespace', {
      root,
      env: { TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: namespace },
    });
    const through = async (name: 'postgres' | 'temporal', text: string) => {
      const url = new URL(text);
      url.port = (await options.through?.(name, text)) ?? url.port;
      return url;
    };
    const env = {
      TEMPORAL_ADDRESS: (await through('temporal', `http://${address}`)).host,
      TEMPORAL_NAMESPACE: namespace,
      DATABASE_URL: (await through('postgres', databaseUrl)).href,
      PUBLIC_BASE_URL: proxy.url,
      METRICS_PORT: '0',
      NODE_COMPILE_CACHE: serviceCompileCache,
    };
    const bringUpProgram = (part: 'api' | 'worker', name: string, own: Record<string, string>) => {
      const log = openLog(logs, name);
      return bringUp({
        name,
        part,
        needs: [postgres, ...temporal],
        start: (start) =>
          startProgram({
            name,
            args: [...(part === 'worker' ? workerFlags : []), join(root, programs[part])],
            env: { ...env, ...own, ...(part === 'worker' && workerEnv) },
            stopMs: 15_000,
            log,
            start,
          }),
      });
    };
    const bundle = await bundleWorkflows({
      root,
      folder: join(folder, 'bundles'),
      entry: programs.bundle,
      env: {},
      log: openLog(logs, 'bundle'),
    });
    await Promise.all([
      ...apis.map(({ name, port, metricsPort }) =>
        bringUpProgram('api', name, {
          PAYERS_KEY: textOf(payersKey),
          NOTIFICATIONS_KEY: textOf(notificationsKey),
          API_PORT: String(port),
          METRICS_PORT: String(metricsPort),
          PAYER_PAGES_PER_MINUTE: '1000000',
        }),
      ),
      ...planWorkers(processes, isCluster).map(([name, queues]) =>
        bringUpProgram('worker', name, {
          TASK_QUEUES: queues,
          PAYERS_KEY: textOf(payersKey),
          SECRETS_KEY: textOf(key),
          WEBHOOKS_KEY: textOf(webhooksKey),
          ALLOW_LOOPBACK_TARGETS: 'true',
          WORKFLOW_BUNDLE: bundle,
        }),
      ),
    ]);
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    url: proxy.url,
    databaseUrl,
    keyRing: ringOf(key),
    webhookKeyRing: ringOf(webhooksKey),
    notificationKeyRing: ringOf(notificationsKey),
    temporal: { address, namespace },
    members,
    logs,
    async stopDuring(work) {
      await stopInOrder(members);
      await work();
      await startInOrder(members);
    },
    stop,
  };
};
