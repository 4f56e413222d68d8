import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { bundleWorkflows } from '../../../stack/workflow-bundle.ts';
import { aFolder } from '../../support/stack/support.ts';

/** A checkout with this bundler. */
const aCheckout = (bundler: string) => {
  const root = aFolder();
  const folder = join(root, 'bundles');
  const write = (path: string, text: string) => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  };
  for (const source of ['workflows/payment.ts', 'contract/limits.ts', 'temporal/messages.ts'])
    write(source, '');
  write('worker/bundle.mjs', bundler);
  const bundle = () =>
    bundleWorkflows({
      root,
      folder,
      entry: 'worker/bundle.mjs',
      env: {},
      log: { path: 'bundle.log', write: () => {} },
    });
  return { write, bundle, kept: () => (existsSync(folder) ? readdirSync(folder) : []) };
};

it('bundles the workflows again when a source has changed, and only then', async () => {
  const { write, bundle, kept } = aCheckout(
    `import { writeFileSync } from 'node:fs'; writeFileSync(process.argv[2], '');`,
  );
  const paths = new Set([await bundle(), await bundle()]);
  expect(paths.size).toBe(1);
  for (const source of [
    'workflows/payment.ts',
    'workflows/deeper/new.ts',
    'contract/limits.ts',
    'temporal/messages.ts',
    'package-lock.json',
    'worker/workflow-bundle.ts',
  ]) {
    write(source, 'other');
    const path = await bundle();
    expect(paths, source).not.toContain(path);
    expect(kept().map((name) => join(dirname(path), name))).toEqual([path]);
    paths.add(path);
  }
});

it('quotes the error of a bundler that fails', async () => {
  const { bundle, kept } = aCheckout(`throw new Error('broken by design');`);
  await expect(bundle()).rejects.toThrow(
    /^The workflows could not be bundled, the bundler ended with code 1: Error: broken by design\. Its log is bundle\.log\.$/,
  );
  expect(kept()).toEqual([]);
});
