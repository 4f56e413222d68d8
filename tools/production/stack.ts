import { randomBytes } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { KeyRing } from '../../postgres/secret-box.ts';
import { bundleWorkflows } from '../../stack/bundle.ts';
import { startChild } from '../../stack/child.ts';
import type { Running } from '../../stack/launch.ts';
import { openLog } from '../../stack/logs.ts';
import { choosePorts } from '../../stack/ports.ts';
import { startPostgres } from '../../stack/postgres.ts';
import { createSupervisor } from '../../stack/supervisor.ts';
import type { ServerPrograms } from '../../stack/temporal/program.ts';
import { startTcpProxy } from '../../test/support/tcp-proxy.ts';
import type { Member, Part } from './member.ts';
import { createMember } from './member.ts';
import { programs, runProgram } from './programs.ts';
import { anyServerPorts, createSchema, startTemporalServer } from './temporal.ts';

export interface ProductionOptions {
  /** Its own; others must be able to pass through it, as Postgres is one when we are root. */
  folder: string;
  programs: ServerPrograms;
  /** The checkout whose processes are started. */
  root: string;
  /** Of each kind. */
  processes?: number;
  /**
   * What stands between our processes and what they lean on; nothing where it is left out.
   * @returns the port to use instead
   */
  through?: (name: 'postgres' | 'temporal', address: string) => Promise<string>;
  /** Said once, when something dies again and again. */
  giveUp: (reason: string) => void;
}

export interface Production {
  /** Of the proxy before the API processes. */
  url: string;
  databaseUrl: string;
  keyRing: KeyRing;
  temporal: { address: string; namespace: string };
  /** What a machine that fails would take with it: each is started again whenever it ends. */
  members: Member[];
  logs: string;
  stop(): Promise<void>;
}

const namespace = 'payments';
const backing = ['postgres', 'temporal'];

/**
 * The production shape without containers: several API processes behind a TCP proxy, several workers,
 * Temporal's server on Postgres. Whatever ends is started again, as in production.
 * @throws SetupError
 */
export const startProduction = async (options: ProductionOptions): Promise<Production> => {
  const { folder, root, processes = 2, giveUp } = options;
  const stopping = new AbortController();
  const { signal } = stopping;
  const supervisor = createSupervisor({ say: () => {}, giveUp, signal });
  const logs = join(folder, 'logs');
  mkdirSync(logs, { recursive: true });
  const members: Member[] = [];
  const keep = async (name: string, part: Part, start: Start, needs: string[] = []) => {
    const member = createMember(name, part);
    members.push(member);
    const log = openLog(logs, name, () => {});
    await supervisor.keep({
      name,
      needs,
      start: (until) => member.begin((onSpawn) => start({ log, onSpawn, signal: until })),
    });
  };

  const numbers = Array.from({ length: processes }, (_, index) => index + 1);
  const ports = await choosePorts({ postgres: 0, ...anyServerPorts });
  const apiPorts = await choosePorts(Object.fromEntries(numbers.map((each) => [`api-${each}`, 0])));
  const proxy = await startTcpProxy(
    Object.values(apiPorts).map((port) => `http://127.0.0.1:${port}`),
  );
  const server = { ...options, postgresPort: ports.postgres, ports };
  const databaseUrl = `postgres://postgres@127.0.0.1:${ports.postgres}/payments`;
  const address = `127.0.0.1:${ports.frontend}`;
  const key = randomBytes(32);

  const stop = async () => {
    stopping.abort();
    await proxy.stop();
    const names = members.map(({ name }) => name);
    await Promise.all(names.filter((name) => !backing.includes(name)).map(supervisor.stop));
    // The engine would wait for a database that is gone.
    await supervisor.stop('temporal');
    await supervisor.stop('postgres');
  };
  try {
    await keep('postgres', 'postgres', ({ log, ...how }) =>
      startPostgres({
        ...how,
        dataDir: join(folder, 'postgres'),
        port: ports.postgres,
        settings: { max_connections: '300' },
        onLine: log.write,
      }),
    );
    await Promise.all([
      runProgram('migrations', { root, env: { DATABASE_URL: databaseUrl } }),
      createSchema(server),
    ]);
    signal.throwIfAborted();
    await keep('temporal', 'temporal', ({ log, ...how }) =>
      startTemporalServer({ ...server, ...how, onLine: log.write }),
    );
    await runProgram('namespace', {
      root,
      env: { TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: namespace },
    });
    const through = async (name: 'postgres' | 'temporal', url: string) => {
      const own = new URL(url);
      own.port = (await options.through?.(name, url)) ?? own.port;
      return own;
    };
    const env = {
      TEMPORAL_ADDRESS: (await through('temporal', `http://${address}`)).host,
      TEMPORAL_NAMESPACE: namespace,
      DATABASE_URL: (await through('postgres', databaseUrl)).href,
      PUBLIC_BASE_URL: proxy.url,
      SECRETS_KEY: `production:${key.toString('base64')}`,
      METRICS_PORT: '0',
      NODE_COMPILE_CACHE: join(folder, 'compile-cache'),
    };
    const child = (part: 'api' | 'worker', name: string, own: Record<string, string>) =>
      keep(
        name,
        part,
        (how) =>
          startChild({
            ...how,
            name,
            args: [join(root, programs[part])],
            env: { ...env, ...own },
            stopMs: 15_000,
          }),
        backing,
      );
    const bundle = await bundleOf({ root, folder, logs, signal });
    await Promise.all([
      ...Object.entries(apiPorts).map(([name, port]) =>
        child('api', name, { API_PORT: String(port), PAYER_PAGES_PER_MINUTE: '1000000' }),
      ),
      ...numbers.map((each) =>
        child('worker', `worker-${each}`, {
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
    keyRing: { currentId: 'production', keys: new Map([['production', key]]) },
    temporal: { address, namespace },
    members,
    logs,
    stop,
  };
};

type Start = (
  how: Pick<Parameters<typeof startChild>[0], 'log' | 'onSpawn' | 'signal'>,
) => Promise<Running>;

const bundleOf = ({
  root,
  folder,
  logs,
  signal,
}: {
  root: string;
  folder: string;
  logs: string;
  signal: AbortSignal;
}) =>
  bundleWorkflows({
    root,
    folder: join(folder, 'bundles'),
    entry: programs.bundle,
    env: {},
    log: openLog(logs, 'bundle', () => {}),
    terminal: { say: () => {}, progress: () => () => {} },
    onSpawn: () => {},
    signal,
  });
