import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { freePort } from '../../../../stack/ports.ts';
import { startTemporal } from '../../../../stack/temporal/server.ts';
import { aFolder, writeProgram } from '../../../support/stack/support.ts';

it('removes the half of a database that a failed first start leaves, but never an existing one', async () => {
  const folder = aFolder();
  const program = join(folder, 'temporal');
  const dbFile = join(folder, 'temporal.db');
  writeProgram(program, [
    `for end in '' -wal -shm; do [ -e ${dbFile}$end ] || echo half > ${dbFile}$end; done`,
    'echo database or disk is full; exit 1',
  ]);
  const start = async () => startTemporal({ program, dbFile, port: await freePort() });

  await expect(start()).rejects.toThrow(/^The Temporal server did not start.*: .*disk is full$/);
  expect(readdirSync(folder)).toEqual(['temporal']);

  writeFileSync(dbFile, 'payments');
  await expect(start()).rejects.toThrow(/disk is full; its database is .*: without that file it/);
  expect(readFileSync(dbFile, 'utf8')).toBe('payments');
});

it('ends a server that hangs', async () => {
  const program = join(aFolder(), 'temporal');
  writeProgram(program, ['echo starting; exec sleep 600']);
  const startLimits = { idleMs: 1_500, wholeMs: 600_000 };
  await expect(startTemporal({ program, port: await freePort(), startLimits })).rejects.toThrow(
    'The Temporal server did not start, it has done nothing for 1.5 s: starting',
  );
});
