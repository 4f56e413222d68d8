import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { launch, type Launch, type RunningProcess } from '../../stack/processes.ts';
import { choosePorts } from '../../stack/ports.ts';
import type { ServerPrograms } from '../../stack/temporal/program.ts';
import { connectTo, waitUntilListening } from '../../stack/temporal/server.ts';
import { readCompose } from '../../test/support/checks/compose.ts';
import { schemaCommands } from './programs.ts';

/** A process of Temporal's server. */
export interface PlannedServer {
  name: string;
  services: readonly Service[];
  /** For each service a port for calls, and one by which the services find each other. */
  ports: Record<Service | `${Service}Membership`, number>;
}

export interface ServerOptions extends PlannedServer {
  programs: ServerPrograms;
  /** The port of a Postgres that trusts its user `postgres`. */
  postgresPort: number;
  /** For its settings. */
  folder: string;
  onLine: (line: string) => void;
  serverEnv?: Record<string, string>;
  /** In addition to that of docker-compose.yml. */
  dynamicConfig?: Record<string, number | boolean>;
  /** Replaces `launch`, to keep track of what was started. */
  start?: Launch;
}

const allServices = ['frontend', 'history', 'matching', 'worker'] as const;
type Service = (typeof allServices)[number];

/** The processes of Temporal's server, with their services: one with all, as in Compose. */
export const oneServer: Readonly<Record<string, readonly Service[]>> = { temporal: allServices };

/** A cluster as on several machines: a loss of a history host moves its shards to the other. */
export const cluster: Readonly<Record<string, readonly Service[]>> = {
  'temporal-frontend': ['frontend'],
  'temporal-history-1': ['history'],
  'temporal-history-2': ['history'],
  'temporal-matching-1': ['matching'],
  'temporal-matching-2': ['matching'],
  'temporal-worker': ['worker'],
};

const anyPorts: PlannedServer['ports'] = {
  frontend: 0,
  history: 0,
  matching: 0,
  worker: 0,
  frontendMembership: 0,
  historyMembership: 0,
  matchingMembership: 0,
  workerMembership: 0,
};

/** Chooses the ports of a server's processes, of which one has the frontend. */
export const planServers = async (
  processes: Readonly<Record<string, readonly Service[]>>,
  frontend: number,
): Promise<PlannedServer[]> => {
  const planned: PlannedServer[] = [];
  for (const [name, services] of Object.entries(processes))
    planned.push({ name, services, ports: { ...(await choosePorts(anyPorts)), frontend } });
  return planned;
};

const { services: composeServices } = readCompose({ PUBLIC_BASE_URL: 'https://pay.example.com' });
const host = '127.0.0.1';
const toolTimeoutMs = 60_000;

/** Makes Temporal's two databases with the schema of this version, by Temporal's own tool. */
export const createSchema = async ({
  programs,
  postgresPort,
}: Pick<ServerOptions, 'programs' | 'postgresPort'>): Promise<void> => {
  const tool = (...args: string[]) =>
    promisify(execFile)(programs.sqlTool, args, {
      env: {
        SQL_PLUGIN: 'postgres12',
        SQL_HOST: host,
        SQL_PORT: String(postgresPort),
        SQL_USER: 'postgres',
        SQL_PASSWORD: 'trusted',
      },
      timeout: toolTimeoutMs,
    });
  for (const command of schemaCommands) await tool(...command.split(' '));
};

/** Starts temporal-server with these services. They find those of other processes by the database. @throws SetupError */
export const startTemporalServer = async (options: ServerOptions): Promise<RunningProcess> => {
  const { programs, folder, name, services, ports, start = launch } = options;
  const { serverEnv = {}, dynamicConfig = {} } = options;
  const lines: string[] = [];
  const settings = join(folder, `${name}.yaml`);
  const dynamicFile = join(folder, 'dynamic-config.yaml');
  const more = Object.entries(dynamicConfig).map(
    ([key, value]) => `${key}: [{ value: ${value} }]\n`,
  );
  const compose = composeServices['temporal']?.environment?.['DYNAMIC_CONFIG'] ?? '';
  writeFileSync(dynamicFile, [compose.trimEnd(), ...more].join('\n'));
  // JSON is YAML.
  writeFileSync(settings, JSON.stringify(createSettings(options, dynamicFile), undefined, 2));
  const server = await start({
    name,
    command: programs.server,
    args: [
      ...['--config-file', settings, '--allow-no-auth', 'start'],
      ...services.flatMap((service) => ['--service', service]),
    ],
    env: serverEnv,
    stopSignals: [
      ['SIGTERM', 5000],
      ['SIGKILL', 1000],
    ],
    onLine: (line) => {
      options.onLine(line);
      if (lines.length < 100) lines.push(line);
    },
  });
  try {
    if (services.includes('frontend'))
      await (await connectTo(`${host}:${ports.frontend}`, server, lines)).close();
    for (const service of services)
      await waitUntilListening(`${host}:${ports[`${service}Membership`]}`, server, lines);
  } catch (error) {
    await server.stop();
    throw error;
  }
  return server;
};

const createSettings = ({ postgresPort, ports }: ServerOptions, dynamicFile: string) => {
  const store = (databaseName: string, maxConns: number) => ({
    sql: {
      pluginName: 'postgres12',
      databaseName,
      connectProtocol: 'tcp',
      connectAddr: `${host}:${postgresPort}`,
      user: 'postgres',
      password: 'trusted',
      maxConns,
      maxIdleConns: maxConns,
      maxConnLifetime: '1h',
    },
  });
  return {
    log: { stdout: true, level: 'warn' },
    persistence: {
      defaultStore: 'default',
      visibilityStore: 'visibility',
      numHistoryShards: 16,
      datastores: { default: store('temporal', 20), visibility: store('temporal_visibility', 5) },
    },
    global: { membership: { maxJoinDuration: '30s', broadcastAddress: host } },
    services: Object.fromEntries(
      allServices.map((name) => [
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
      enableGlobalNamespace: false,
      failoverVersionIncrement: 10,
      masterClusterName: 'active',
      currentClusterName: 'active',
      clusterInformation: {
        active: {
          enabled: true,
          initialFailoverVersion: 1,
          rpcName: 'frontend',
          rpcAddress: `${host}:${ports.frontend}`,
        },
      },
    },
    dcRedirectionPolicy: { policy: 'noop' },
    dynamicConfigClient: { filepath: dynamicFile, pollInterval: '60s' },
  };
};
