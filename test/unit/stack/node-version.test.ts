import { spawnSync } from 'node:child_process';
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { aFolder } from '../../support/stack/support.ts';

const run = (...args: string[]) => spawnSync(process.execPath, args, { encoding: 'utf8', env: {} });

it('says that Node is too old before Node reads any TypeScript', () => {
  const old = 'Object.defineProperty(process, "versions", { value: { node: "20.1.0" } })';
  const { status, stderr, stdout } = run(
    ...['--import', `data:text/javascript,${encodeURIComponent(old)}`],
    ...['--import', './stack/node-version.mjs', 'stack/main.ts'],
  );
  expect([status, stdout]).toEqual([1, '']);
  expect(stderr.trim()).toMatch(/^Node 20\.1\.0 is too old, this needs 24 or newer: .*install/);
});

it('says that npm ci is missing, as after a fresh checkout', () => {
  const fresh = join(aFolder(), 'node-version.mjs');
  copyFileSync('stack/node-version.mjs', fresh);
  const { status, stderr } = run('--import', fresh, '-e', '0');
  expect(status).toBe(1);
  expect(stderr.trim()).toMatch(/^The packages .* not installed: run npm ci first\.$/);
});
