import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { aCheckout } from '../../support/stack/support.ts';

/** Docker as far as the script sees it: it reads its standard input, as `run` and `exec` do, and keeps calls and statements. */
const docker = [
  'echo "$*" | head -n 1 >> calls',
  `case "$*" in *' run '*) cat > /dev/null ;; *' exec '*) cat >> calls ;; esac`,
];

/** Restores a backup. @returns the exit code, the output, and whether all services have started */
const restore = ({ answer = '', options = [] }: { answer?: string; options?: string[] }) => {
  const { folder, call } = aCheckout(['restore.sh', 'after-restore.sql'], docker);
  writeFileSync(join(folder, 'backup'), '');
  const line = ['deploy/restore.sh', 'backup', ...options];
  const { status, stdout } = call(line, { input: answer });
  const calls = readFileSync(join(folder, 'calls'), 'utf8').trim().split('\n');
  const at = (text: string) => calls.findIndex((each) => each.includes(text));
  const ends = at('update console_sessions set ended_at');
  const lists = at('update payments set checkout_at');
  const starts = calls.indexOf('compose up -d --wait');
  const hasStarted = starts > Math.max(ends, lists);
  return { status, stdout, isSafe: ends >= 0 && lists >= 0, hasStarted };
};

it.each(['no\n', '\n', ''])('starts Postgres alone, and no more after the answer %j', (answer) => {
  const { status, stdout, ...done } = restore({ answer });
  expect([status, done]).toEqual([1, { isSafe: true, hasStarted: false }]);
  expect(stdout).toContain('tokens revoke');
});

it.each([{ answer: 'yes\n' }, { options: ['--yes'] }])('starts everything after %j', (call) => {
  const { status, isSafe, hasStarted } = restore(call);
  expect([status, isSafe, hasStarted]).toEqual([0, true, true]);
});
