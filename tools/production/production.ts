import { randomBytes } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { KeyRing } from '../../postgres/secret-box.ts';
import { openLog } from '../../stack/logs.ts';
import { choosePorts } from '../../stack/ports.ts';
import { startPostgres } from '../../stack/postgres.ts';
import { startProgram } from '../../stack/processes.ts';
import type { ServerPrograms } from '../../stack/temporal/program.ts';
import { bundleWorkflows } from '../../stack/workflow-bundle.ts';
import { startTcpProxy } from '../../test/support/servers/tcp-proxy.ts';
import { createMember, type Member, type MemberOptions } from './member.ts';
import { programs, runProgram } from './programs.ts';
import { anyServerPorts, createSchema, startTemporalServer } from './temporal.ts';

export interface ProductionOptions {
  /** An empty folder. As root, other users must be able to pass through it, as Postgres runs as one. */
  folder: string;
  programs: ServerPrograms;
  /** The number of API processes, and of workers. */
  processes?: number;
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
  stop(): Promise<void>;
}

/** Stops whoever uses a server before the server: without its database Temporal would wait. */
const stopInOrder = async (members: readonly Member[]): Promise<void> => {
  for (const parts of [['api', 'worker'], ['temporal'], ['postgres']])
    await Promise.all(
      members.filter(({ part }) => parts.includes(part)).map((each) => each.stop()),
    );
};

const root = resolve(import.meta.dirname, '../..');
const namespace = 'payments';

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
  const { folder, processes = 2, giveUp } = options;
  const logs = join(folder, 'logs');
  mkdirSync(logs, { recursive: true });
  const members: Member[] = [];
  const bringUp = async (member: Omit<MemberOptions, 'giveUp'>): Promise<Member> => {
    const created = createMember({ ...member, giveUp });
    members.push(created);
    await created.start();
    return created;
  };

  const numbers = Array.from({ length: processes }, (_, index) => index + 1);
  const ports = await choosePorts({ postgres: 0, ...anyServerPorts });
  const named = numbers.map((each) => [`api-${each}`, 0] as const);
  const apiPorts = await choosePorts(Object.fromEntries(named));
  const apiMetricsPorts = await choosePorts(Object.fromEntries(named));
  const proxy = await startTcpProxy(
    Object.values(apiPorts).map((port) => `http://127.0.0.1:${port}`),
    Object.values(apiMetricsPorts).map((port) => `http://127.0.0.1:${port}/readyz`),
  );
  const server = { ...options, postgresPort: ports.postgres, ports };
  const databaseUrl = `postgres://postgres@127.0.0.1:${ports.postgres}/payments`;
  const address = `127.0.0.1:${ports.frontend}`;
  const key = randomBytes(32);
  const webhooksKey = randomBytes(32);
  const notificationsKey = randomBytes(32);

  const stop = async () => {
    await proxy.stop();
    await stopInOrder(members);
  };
  try {
    const postgresLog = openLog(logs, 'postgres');
    const postgres = await bringUp({
      name: 'postgres',
      part: 'postgres',
      start: (start) =>
        startPostgres({
          start,
          dataDir: join(folder, 'postgres'),
          port: ports.postgres,
          settings: { max_connections: '300' },
          onLine: postgresLog.write,
        }),
    });
    await Promise.all([
      runProgram('migrations', { root, env: { DATABASE_URL: databaseUrl } }),
      createSchema(server),
    ]);
    const temporalLog = openLog(logs, 'temporal');
    const temporal = await bringUp({
      name: 'temporal',
      part: 'temporal',
      // A Postgres that recovers on a busy machine can take longer than twenty failed starts.
      needs: [postgres],
      start: (start) => startTemporalServer({ ...server, start, onLine: temporalLog.write }),
    });
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
      NODE_COMPILE_CACHE: join(folder, 'compile-cache'),
    };
    const bringUpProgram = (part: 'api' | 'worker', name: string, own: Record<string, string>) => {
      const log = openLog(logs, name);
      return bringUp({
        name,
        part,
        needs: [postgres, temporal],
        start: (start) =>
          startProgram({
            name,
            args: [join(root, programs[part])],
            env: { ...env, ...own },
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
      ...Object.entries(apiPorts).map(([name, port]) =>
        bringUpProgram('api', name, {
          NOTIFICATIONS_KEY: `production:${notificationsKey.toString('base64')}`,
          API_PORT: String(port),
          METRICS_PORT: String(apiMetricsPorts[name]),
          PAYER_PAGES_PER_MINUTE: '1000000',
        }),
      ),
      ...numbers.map((each) =>
        bringUpProgram('worker', `worker-${each}`, {
          SECRETS_KEY: `production:${key.toString('base64')}`,
          WEBHOOKS_KEY: `production:${webhooksKey.toString('base64')}`,
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
    stop,
  };
};
