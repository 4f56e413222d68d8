import { spawn } from 'node:child_process';
import { constants, setPriority } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, it } from 'vitest';

it('the static checks pass', { timeout: 1_800_000 }, async () => {
  const cwd = join(import.meta.dirname, '../../..');
  const check = spawn(process.execPath, ['--run', 'check'], { cwd });
  // Tests of deadlines run beside it.
  if (check.pid !== undefined) setPriority(check.pid, constants.priority.PRIORITY_BELOW_NORMAL);
  const [out, errors, code] = await Promise.all([
    text(check.stdout),
    text(check.stderr),
    new Promise((resolve) => check.once('exit', resolve)),
  ]);
  expect(code, `${out}${errors}`).toBe(0);
});
