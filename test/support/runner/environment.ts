import { chmodSync, mkdirSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { TestProject } from 'vitest/node';
import { removeFolder } from '../remove-folder.ts';
import { connect } from '../../../postgres/driver/connection.ts';
import { migrate } from '../../../postgres/migrate.ts';
import { openLog } from '../../../stack/logs.ts';
import { freePort } from '../../../stack/ports.ts';
import { startPostgres } from '../../../stack/postgres.ts';
import { thisMachine } from '../../../stack/programs/machine.ts';
import { findTemporal } from '../../../stack/temporal/program.ts';
import { bundleWorkflows } from '../../../stack/workflow-bundle.ts';
import { serviceCompileCache } from '../../../tools/production/compile-cache.ts';
import { compileCache } from './compile-cache.ts';
import { copyCluster } from './cluster.ts';
import { startSharedService } from './shared-service.ts';
import { startSharedTemporal } from './shared-temporal.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The database `payments` is migrated and empty: the template for the database of each file. */
    postgresUrl: string;
    /** The data folder of a stopped server like that one, see own-postgres.ts. */
    postgresTemplate: string;
    temporalProgram: string;
    workflowBundle: string;
    /** The folder of the locks of turns.ts. */
    turns: string;
    /** The first file that needs the packed client makes it here; see install.ts. */
    clientFolder: string;
    /** Has a line for each declared answer that a test has seen; see every-declared-response.ts. */
    answersFile: string;
    /** Whether `vitest -u` runs: files that tests compare with are written again. */
    updates: boolean;
  }
}

/** Starts what the tests of a run share: Postgres, a Temporal server, the workflow bundle and a service. */
export default async ({ config, provide, vitest }: TestProject) => {
  if (vitest.projects.every(({ name }) => name === 'unit')) return undefined;
  // Stops what has started when the rest fails.
  await using started = new AsyncDisposableStack();
  const folder = mkdtempSync(join(tmpdir(), 'payments-tests-'));
  started.defer(() => removeFolder(folder));
  chmodSync(folder, 0o711);
  const program = await findTemporal(thisMachine());
  const bundling = bundleWorkflows({
    root: resolve(import.meta.dirname, '../../..'),
    folder: join(folder, 'bundles'),
    entry: 'worker/bundle.ts',
    env: { NODE_COMPILE_CACHE: compileCache },
    log: openLog(folder, 'bundle'),
  });
  bundling.catch(() => {}); // It is awaited last.
  const postgresTemplate = join(folder, 'postgres-template');
  await makeCluster(postgresTemplate);
  const postgres = await startPostgres({
    dataDir: copyCluster(postgresTemplate, join(folder, 'postgres')),
    port: await freePort(),
    settings: { fsync: 'off', max_connections: '300' },
  });
  started.defer(() => postgres.stop());
  const temporal = await startSharedTemporal(program.path);
  started.defer(() => temporal.stop());
  const namespaces = join(folder, 'namespaces');
  const turns = join(folder, 'turns');
  for (const path of [namespaces, turns, compileCache, serviceCompileCache])
    mkdirSync(path, { recursive: true });
  const workflowBundle = await bundling;
  const service = await startSharedService({
    postgresUrl: postgres.url,
    temporalAddress: temporal.address,
    workflowBundle,
  });
  started.defer(() => service.stop());

  provide('postgresUrl', postgres.url);
  provide('postgresTemplate', postgresTemplate);
  provide('temporalProgram', program.path);
  provide('sharedTemporal', { address: temporal.address, namespaces });
  provide('workflowBundle', workflowBundle);
  provide('clientFolder', join(folder, 'client'));
  provide('sharedService', service.environment);
  provide('turns', turns);
  provide('answersFile', join(folder, 'answers'));
  provide('updates', config.snapshotOptions.updateSnapshot === 'all');
  const running = started.move();
  return () => running.disposeAsync();
};

/** Makes the data folder of a Postgres whose database is migrated. */
const makeCluster = async (dataDir: string) => {
  const port = await freePort();
  const postgres = await startPostgres({ dataDir, port, settings: { fsync: 'off' } });
  try {
    const sql = connect(postgres.url, { name: 'tests', max: 1 });
    try {
      await migrate(sql);
    } finally {
      await sql.end();
    }
  } finally {
    await postgres.stop();
  }
};
