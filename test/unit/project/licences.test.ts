import { expect, it } from 'vitest';
import { readProjectFile } from '../../support/files.ts';

interface Package {
  license?: string;
}

// Written by npm, in this shape; the licence is the one that the package itself names.
const { packages } = JSON.parse(readProjectFile('package-lock.json')) as {
  packages: Record<string, Package>;
};
const nameOf = (path: string) => path.slice(path.lastIndexOf('node_modules/') + 13);
const locked = Object.entries(packages).filter(([path]) => path !== '');

/** They ask for no more than to be named, or, MPL-2.0, for their own changed files. */
const allowed = new Set([
  ...['0BSD', 'Apache-2.0', 'Apache-2.0 AND MIT', 'BlueOak-1.0.0', 'BSD-2-Clause', 'BSD-3-Clause'],
  ...['CC-BY-4.0', 'ISC', 'MIT', 'MIT/X11', 'MPL-2.0', 'PSF-2.0', 'Python-2.0', 'Unlicense'],
]);

/** Packages that name none in their manifest, looked at by hand: the Unlicense, in a file. */
const lookedAt = new Set(['unionfs']);

it('every package of the lock file has a licence that was agreed to', () => {
  const others = locked
    .filter(([path, { license }]) => !allowed.has(license ?? '') && !lookedAt.has(nameOf(path)))
    .map(([path, { license }]) => `${nameOf(path)}: ${license ?? 'none'}`);
  expect(others).toEqual([]);
});
