import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** What the production shape starts of ours, relative to the checkout; docker-compose.yml does the same. */
export const programs = {
  migrations: 'postgres/main.ts',
  namespace: 'worker/setup-namespace.ts',
  bundle: 'worker/bundle.ts',
  api: 'api/main.ts',
  worker: 'worker/main.ts',
} as const;

const timeoutMs = 90_000;

/** Of those that do one thing and end. @throws Error with what it said */
export const runProgram = async (
  name: 'migrations' | 'namespace',
  { root, env }: { root: string; env: Record<string, string> },
): Promise<void> => {
  await promisify(execFile)(process.execPath, [join(root, programs[name])], {
    env,
    timeout: timeoutMs,
  });
};

/** Of `temporal-sql-tool`, in this order: both databases with the schema of its version. */
export const schemaCommands: readonly string[] = Object.entries({
  temporal: 'temporal',
  temporal_visibility: 'visibility',
}).flatMap(([database, schema]) => [
  `--db ${database} create`,
  `--db ${database} setup-schema -v 0.0`,
  `--db ${database} update-schema --schema-name postgresql/v12/${schema}`,
]);
