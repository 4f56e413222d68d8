import { spawnSync } from 'node:child_process';
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { aFolder } from '../support/stack/support.ts';

const run = (...args: string[]) => spawnSync(process.execPath, args, { encoding: 'utf8', env: {} });

const claiming = (version: string) => {
  const code = `Object.defineProperty(process, "versions", { value: { node: "${version}" } })`;
  return ['--import', `data:text/javascript,${encodeURIComponent(code)}`];
};

it('says that Node is too old before Node reads any TypeScript', () => {
  const { status, stderr, stdout } = run(
    ...claiming('20.1.0'),
    ...['--import', './node-version.mjs', 'stack/main.ts'],
  );
  expect([status, stdout]).toEqual([1, '']);
  expect(stderr.trim()).toMatch(
    /^Node 20\.1\.0 is not safe\. The first safe versions are 24\.18\.1,.*install/,
  );
});

it.each(['24.0.0', '24.17.9', '24.18.0', '25.9.9', '26.0.0', '26.5.0'])(
  'refuses Node %s, which drops header lines unseen',
  (version) => {
    const { status, stderr } = run(...claiming(version), './node-version.mjs');
    expect([status, stderr]).toEqual([1, expect.stringContaining(`Node ${version} is not safe`)]);
  },
);

it.each(['24.18.1', '24.21.0', '26.5.1', '26.6.0', '27.0.0'])('takes Node %s', (version) => {
  expect(run(...claiming(version), './node-version.mjs')).toMatchObject({ status: 0, stderr: '' });
});

it.each(['api/main.ts', 'worker/main.ts', 'admin/cli/main.ts', 'postgres/main.ts'])(
  'stops %s on a Node that is not safe, in one sentence',
  (entry) => {
    const { status, stderr, stdout } = run(...claiming('24.18.0'), entry);
    expect([status, stdout]).toEqual([1, '']);
    expect(stderr.trim()).toMatch(/^Node 24\.18\.0 is not safe.*$/);
  },
);

it('says that npm ci is missing, as after a fresh checkout', () => {
  const fresh = aFolder();
  for (const name of ['node-version.mjs', 'process-one.mjs']) copyFileSync(name, join(fresh, name));
  const { status, stderr } = run('--import', join(fresh, 'node-version.mjs'), '-e', '0');
  expect(status).toBe(1);
  expect(stderr.trim()).toMatch(/^The packages .* not installed: run npm ci first\.$/);
});
