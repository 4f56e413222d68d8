import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** Our programs in the production shape, relative to the checkout. docker-compose.yml starts the same. */
export const programs = {
  migrations: 'postgres/main.ts',
  namespace: 'worker/setup-namespace.ts',
  bundle: 'worker/bundle.ts',
  api: 'api/main.ts',
  worker: 'worker/main.ts',
} as const;

const timeoutMs = 90_000;

/** Runs a program that does one thing and ends. @throws Error with its output */
export const runProgram = async (
  name: 'migrations' | 'namespace',
  { root, env }: { root: string; env: Record<string, string> },
): Promise<void> => {
  await promisify(execFile)(process.execPath, [join(root, programs[name])], {
    env,
    timeout: timeoutMs,
  });
};

/** The commands for `temporal-sql-tool`, in order: they make both databases with the current schema. */
export const schemaCommands: readonly string[] = Object.entries({
  temporal: 'temporal',
  temporal_visibility: 'visibility',
}).flatMap(([database, schema]) => [
  `--db ${database} create`,
  `--db ${database} setup-schema -v 0.0`,
  `--db ${database} update-schema --schema-name postgresql/v12/${schema}`,
]);
