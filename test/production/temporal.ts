import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { Connection } from '@temporalio/client';
import { isGrpcServiceError } from '@temporalio/client';
import { msToTs } from '@temporalio/common/lib/time.js';
import type { Running } from '../../stack/launch.ts';
import { launch } from '../../stack/launch.ts';
import type { ServerPrograms } from '../../stack/temporal/program.ts';
import { addSearchAttributes, connectTo } from '../../stack/temporal/server.ts';

export interface ServerOptions {
  programs: ServerPrograms;
  /** A server that trusts its user `postgres`. */
  postgresPort: number;
  ports: ServerPorts;
  /** Where its settings are written. */
  folder: string;
  onLine: (line: string) => void;
  onSpawn: (pid: number) => void;
  signal: AbortSignal;
}

const services = ['frontend', 'history', 'matching', 'worker'] as const;
type Service = (typeof services)[number];
/** Of each service the one for calls and the one for finding the others. */
export type ServerPorts = Record<Service | `${Service}Membership`, number>;

export const anyServerPorts: ServerPorts = {
  ...{ frontend: 0, history: 0, matching: 0, worker: 0 },
  ...{ frontendMembership: 0, historyMembership: 0, matchingMembership: 0, workerMembership: 0 },
};

const host = '127.0.0.1';
const databases = { temporal: 'temporal', temporal_visibility: 'visibility' } as const;
const retention = '30 days';
const toolTimeoutMs = 60_000;

/** The two databases with the schema of this version, as Temporal's own tool makes them. */
export const createSchema = async ({
  programs,
  postgresPort,
}: Pick<ServerOptions, 'programs' | 'postgresPort'>): Promise<void> => {
  const tool = (...args: string[]) =>
    promisify(execFile)(programs.sqlTool, args, {
      env: {
        ...{ SQL_PLUGIN: 'postgres12', SQL_HOST: host, SQL_PORT: String(postgresPort) },
        ...{ SQL_USER: 'postgres', SQL_PASSWORD: 'trusted' },
      },
      timeout: toolTimeoutMs,
    });
  for (const [database, schema] of Object.entries(databases)) {
    await tool('--db', database, 'create');
    await tool('--db', database, 'setup-schema', '-v', '0.0');
    await tool('--db', database, 'update-schema', '--schema-name', `postgresql/v12/${schema}`);
  }
};

/** Brings up temporal-server with all its services in one process. @throws SetupError */
export const startTemporalServer = async (options: ServerOptions): Promise<Running> => {
  const { programs, folder, ports, signal } = options;
  const lines: string[] = [];
  const file = join(folder, 'temporal-server.yaml');
  // JSON is YAML.
  writeFileSync(file, JSON.stringify(settingsOf(options), undefined, 2));
  const server = await launch({
    command: programs.server,
    args: ['--config-file', file, '--allow-no-auth', 'start'],
    env: {},
    onSpawn: options.onSpawn,
    onLine: (line) => {
      options.onLine(line);
      if (lines.length < 100) lines.push(line);
    },
  });
  const stop = () =>
    server.end([
      ['SIGTERM', 5000],
      ['SIGKILL', 1000],
    ]);
  try {
    await (await connectTo(`${host}:${ports.frontend}`, server, lines, signal)).close();
  } catch (error) {
    await stop();
    throw error;
  }
  return { pid: server.pid, exited: server.exited, stop };
};

const settingsOf = ({ postgresPort, ports }: ServerOptions) => {
  const store = (databaseName: string, maxConns: number) => ({
    sql: {
      ...{ pluginName: 'postgres12', databaseName, connectProtocol: 'tcp' },
      ...{ connectAddr: `${host}:${postgresPort}`, user: 'postgres', password: 'trusted' },
      ...{ maxConns, maxIdleConns: maxConns, maxConnLifetime: '1h' },
    },
  });
  return {
    log: { stdout: true, level: 'warn' },
    persistence: {
      ...{ defaultStore: 'default', visibilityStore: 'visibility', numHistoryShards: 16 },
      datastores: { default: store('temporal', 20), visibility: store('temporal_visibility', 5) },
    },
    global: { membership: { maxJoinDuration: '30s', broadcastAddress: host } },
    services: Object.fromEntries(
      services.map((name) => [
        name,
        {
          rpc: {
            grpcPort: ports[name],
            membershipPort: ports[`${name}Membership`],
            bindOnIP: host,
          },
        },
      ]),
    ),
    clusterMetadata: {
      ...{ enableGlobalNamespace: false, failoverVersionIncrement: 10 },
      ...{ masterClusterName: 'active', currentClusterName: 'active' },
      clusterInformation: {
        active: {
          ...{ enabled: true, initialFailoverVersion: 1, rpcName: 'frontend' },
          rpcAddress: `${host}:${ports.frontend}`,
        },
      },
    },
    dcRedirectionPolicy: { policy: 'noop' },
  };
};

/** As an admin makes it once: retention and search attributes. Can be repeated. */
export const createNamespace = async (connection: Connection, namespace: string): Promise<void> => {
  const { workflowService } = connection;
  const workflowExecutionRetentionPeriod = msToTs(retention);
  await workflowService
    .registerNamespace({ namespace, workflowExecutionRetentionPeriod })
    .catch((error: unknown) => {
      if (!isGrpcServiceError(error) || !error.message.includes('already')) throw error;
    });
  // The server's own parts hear of a new namespace one after the other.
  for (const until = Date.now() + toolTimeoutMs; ; await sleep(100))
    try {
      return await addSearchAttributes(connection, namespace);
    } catch (error) {
      if (Date.now() > until) throw error;
    }
};
