import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { bundleWorkflows } from '../../../stack/bundle.ts';
import { aFolder } from '../../support/stack/support.ts';

/** A checkout whose bundler writes this. */
const aCheckout = (bundler: string) => {
  const root = aFolder();
  const folder = join(root, 'bundles');
  const write = (path: string, text: string) => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  };
  write('workflows/payment.ts', '');
  write('contract/limits.ts', '');
  write('worker/bundle.mjs', bundler);
  const said: string[] = [];
  const bundle = () =>
    bundleWorkflows({
      ...{ root, folder, entry: 'worker/bundle.mjs', env: {} },
      log: { path: 'bundle.log', write: () => {} },
      terminal: { say: () => {}, progress: (line) => (said.push(line), () => {}) },
      onSpawn: () => {},
      signal: new AbortController().signal,
    });
  return { write, bundle, said, kept: () => (existsSync(folder) ? readdirSync(folder) : []) };
};

const good = `import { writeFileSync } from 'node:fs'; writeFileSync(process.argv[2], '');`;

it('the workflows are bundled anew when what they are made of has changed, and only then', async () => {
  const { write, bundle, said, kept } = aCheckout(good);
  const paths = new Set([await bundle(), await bundle()]);
  expect(paths.size).toBe(1);
  expect(said).toEqual([expect.stringMatching(/code is new\. This happens once\.$/)]);
  for (const source of [
    'workflows/payment.ts',
    'workflows/deeper/new.ts',
    'contract/limits.ts',
    'package-lock.json',
    'worker/workflow-bundle.ts',
  ]) {
    write(source, 'other');
    const path = await bundle();
    expect(paths, source).not.toContain(path);
    expect(kept().map((name) => join(dirname(path), name))).toEqual([path]);
    paths.add(path);
  }
  expect(said).toHaveLength(paths.size);
});

it('says why they cannot be bundled', async () => {
  const { bundle, kept } = aCheckout(`throw new Error('broken by design');`);
  await expect(bundle()).rejects.toThrow(
    /^The workflows could not be bundled, the bundler ended with code 1: Error: broken by design\. Its log is bundle\.log\.$/,
  );
  expect(kept()).toEqual([]);
});
