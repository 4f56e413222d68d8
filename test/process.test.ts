import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const logs = `
  import { createLogger } from '${fileURLToPath(new URL('../process.ts', import.meta.url))}';
  const logger = createLogger('test', 'info');
  logger.info('one line');
  setTimeout(() => {
    logger.info('and another');
    process.exit(7);
  }, 500);`;
const args = ['--input-type=module', '--eval', logs];

describe.skipIf(process.platform !== 'linux')('a process whose log cannot be written', () => {
  it('goes on and ends: the disk is full', async () => {
    const full = openSync('/dev/full', 'w');
    const child = spawn(process.execPath, args, {
      stdio: ['ignore', full, 'inherit'],
      timeout: 10_000,
    });
    closeSync(full);
    expect(await once(child, 'exit')).toEqual([7, null]);
  });

  it('goes on and ends: nobody reads any more', async () => {
    const child = spawn(process.execPath, args, {
      stdio: ['ignore', 'pipe', 'inherit'],
      timeout: 10_000,
    });
    child.stdout.destroy();
    expect(await once(child, 'exit')).toEqual([7, null]);
  });

  it('loses no line where somebody reads', async () => {
    const child = spawn(process.execPath, args, {
      stdio: ['ignore', 'pipe', 'inherit'],
      timeout: 10_000,
    });
    let text = '';
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
    await once(child, 'close');
    expect(text.trim().split('\n')).toHaveLength(2);
  });
});
