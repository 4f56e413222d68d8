import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { takeLock } from '../../../stack/lock.ts';
import { aFolder } from '../../support/stack/support.ts';

it('is free again after its holder was killed', async () => {
  const path = join(aFolder(), 'lock');
  const program = `import { takeLock } from ${JSON.stringify(join(process.cwd(), 'stack/lock.ts'))};
    globalThis.lock = takeLock(${JSON.stringify(path)}); console.log('locked'); setInterval(() => {}, 1000)`;
  const holder = spawn(process.execPath, ['--input-type=module', '-e', program]);
  await once(holder.stdout, 'data');
  expect(takeLock(path)).toBeUndefined();
  holder.kill('SIGKILL');
  await once(holder, 'exit');

  const lock = takeLock(path);
  expect(lock).toBeDefined();
  expect(takeLock(path)).toBeUndefined();
  lock?.release();
  const again = takeLock(path);
  expect(again).toBeDefined();
  again?.release();
});
