import { randomBytes } from 'node:crypto';
import { join, resolve } from 'node:path';
import { parseKeyRing } from '../config.ts';
import { bundleWorkflows } from '../stack/bundle.ts';
import { startChild } from '../stack/child.ts';
import { openLog } from '../stack/logs.ts';
import { choosePorts } from '../stack/ports.ts';
import { createTerminal } from '../stack/terminal.ts';
import { programs, runProgram } from '../tools/production/programs.ts';
import { createSetup } from './application.ts';
import type { Bench } from './group.ts';
import { createPayments } from './payments.ts';
import type { Receiver } from './receiver.ts';

export interface OursOptions {
  /** Of its database, its namespace in the engine and its application. */
  name: string;
  receiver: Receiver;
  env?: Record<string, string>;
  /** What node loads before the programs. */
  preload?: string;
}

const root = resolve(import.meta.dirname, '..');

/** One more API and worker on the stack's servers, which see nothing of the stack's own. */
export const startOurs = async (
  { sql, facts, http, folder, signal, cleanup }: Bench,
  { name, receiver, env: own = {}, preload }: OursOptions,
) => {
  await sql.unsafe(`create database ${name}`);
  const databaseUrl = facts.database_url.replace(/[^/]*$/, name);
  const engine = { TEMPORAL_ADDRESS: facts.temporal_address, TEMPORAL_NAMESPACE: name };
  await runProgram('migrations', { root, env: { DATABASE_URL: databaseUrl } });
  await runProgram('namespace', { root, env: engine });
  const ports = await choosePorts({ api: 0, apiMetrics: 0, workerMetrics: 0 });
  const apiBaseUrl = `http://127.0.0.1:${ports.api}`;
  const secretsKey = `bench:${randomBytes(32).toString('base64')}`;
  const bundle = await bundleWorkflows({
    ...{ root, folder: join(folder, 'bundles'), entry: programs.bundle, env: {}, signal },
    log: openLog(folder, 'bundle', () => {}),
    terminal: createTerminal(),
    onSpawn: () => {},
  });
  const start = (part: 'api' | 'worker', metricsPort: number) =>
    startChild({
      name: `The ${part} ${name}`,
      args: [...(preload === undefined ? [] : ['--import', preload]), join(root, programs[part])],
      env: {
        ...engine,
        ...{ DATABASE_URL: databaseUrl, PUBLIC_BASE_URL: apiBaseUrl, SECRETS_KEY: secretsKey },
        ...{ API_PORT: String(ports.api), METRICS_PORT: String(metricsPort) },
        ...{ PAYER_PAGES_PER_MINUTE: '1000000', ALLOW_LOOPBACK_TARGETS: 'true' },
        ...{ WORKFLOW_BUNDLE: bundle, MALLOC_ARENA_MAX: '2' },
        NODE_COMPILE_CACHE: join(folder, 'compile-cache'),
        ...own,
      },
      stopMs: 10_000,
      log: openLog(folder, `${part}-${name}`, () => {}),
      onSpawn: () => {},
      signal,
    });
  const [api, worker] = await Promise.all([
    start('api', ports.apiMetrics),
    start('worker', ports.workerMetrics),
  ]);
  cleanup.defer(async () => void (await Promise.all([api.stop(), worker.stop()])));
  const setup = createSetup({ databaseUrl, keyRing: parseKeyRing(secretsKey) }, cleanup);
  await setup.sandbox();
  const token = await setup.application({ slug: name, webhookUrl: receiver.url });
  return {
    pids: { api: api.pid, worker: worker.pid },
    metricsUrls: [ports.apiMetrics, ports.workerMetrics].map((port) => `http://127.0.0.1:${port}`),
    ...createPayments({ http, receiver, apiBaseUrl, token }),
  };
};
