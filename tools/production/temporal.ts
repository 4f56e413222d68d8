import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Running } from '../../stack/launch.ts';
import { launch } from '../../stack/launch.ts';
import type { ServerPrograms } from '../../stack/temporal/program.ts';
import { connectTo } from '../../stack/temporal/server.ts';
import { readCompose } from '../../test/support/compose.ts';
import { schemaCommands } from './programs.ts';

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

const { services: composeServices } = readCompose({ PUBLIC_BASE_URL: 'https://pay.example.com' });
const host = '127.0.0.1';
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
  for (const command of schemaCommands) await tool(...command.split(' '));
};

/** Brings up temporal-server with all its services in one process. @throws SetupError */
export const startTemporalServer = async (options: ServerOptions): Promise<Running> => {
  const { programs, folder, ports, signal } = options;
  const lines: string[] = [];
  const file = join(folder, 'temporal-server.yaml');
  // JSON is YAML.
  const dynamicConfig = join(folder, 'dynamic-config.yaml');
  writeFileSync(dynamicConfig, composeServices['temporal']?.environment?.['DYNAMIC_CONFIG'] ?? '');
  writeFileSync(file, JSON.stringify(settingsOf(options, dynamicConfig), undefined, 2));
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

const settingsOf = ({ postgresPort, ports }: ServerOptions, dynamicConfig: string) => {
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
    dynamicConfigClient: { filepath: dynamicConfig, pollInterval: '60s' },
  };
};
