import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { readStackConfig } from '../../config.ts';
import { connect } from '../../postgres/driver/connection.ts';
import { migrate } from '../../postgres/migrate.ts';
import { launch } from '../../stack/launch.ts';
import { freePort } from '../../stack/ports.ts';
import { startPostgres } from '../../stack/postgres.ts';
import { findTemporal } from '../../stack/temporal/program.ts';
import { createTerminal } from '../../stack/terminal.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Of a server whose database `payments` is migrated and empty: a template for each file's own. */
    postgresUrl: string;
    temporalProgram: string;
    workflowBundle: string;
    /** A line for each declared answer that a test has seen; see every-declared-response.ts. */
    answersFile: string;
    /** By `vitest -u`: what tests hold against the checkout is to be made anew. */
    updates: boolean;
  }
}

/** Built rather than downloaded where that can be: tests talk to this machine alone. */
const findProgram = async () => {
  const options = { ...readStackConfig(), terminal: createTerminal() };
  return findTemporal({ ...options, TEMPORAL_DOWNLOAD: false }).catch(() => findTemporal(options));
};

/** Made once for the whole run: one Postgres, the Temporal program and the workflow bundle. */
export default async ({ config, provide }: TestProject) => {
  // What has begun ends again where the rest does not begin.
  await using begun = new AsyncDisposableStack();
  const folder = mkdtempSync(join(tmpdir(), 'payments-tests-'));
  begun.defer(() => rmSync(folder, { recursive: true, force: true }));
  chmodSync(folder, 0o711);
  const program = await findProgram();
  const postgres = await startPostgres({
    dataDir: join(folder, 'postgres'),
    port: await freePort(),
    settings: { fsync: 'off', max_connections: '300' },
  });
  begun.defer(() => postgres.stop());
  const sql = connect(postgres.url, { name: 'tests', max: 1 });
  try {
    await migrate(sql);
  } finally {
    await sql.end();
  }

  const bundle = join(folder, 'workflows.js');
  const bundling = await launch({
    command: process.execPath,
    args: [join(import.meta.dirname, '../../worker/bundle.ts'), bundle],
    env: {},
  });
  if ((await bundling.exited) !== 'ended with code 0')
    throw new Error('The workflow bundle could not be built');

  provide('postgresUrl', postgres.url);
  provide('temporalProgram', program.path);
  provide('workflowBundle', bundle);
  provide('answersFile', join(folder, 'answers'));
  provide('updates', config.snapshotOptions.updateSnapshot === 'all');
  const running = begun.move();
  return () => running.disposeAsync();
};
