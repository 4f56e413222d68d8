import { expect, it } from 'vitest';
import { readProjectFile } from '../../support/files.ts';

interface Package {
  optionalDependencies?: Record<string, string>;
  hasInstallScript?: boolean;
  integrity?: string;
}

// Both files are written by npm, in this shape.
const lockText = readProjectFile('package-lock.json');
const { packages } = JSON.parse(lockText) as { packages: Record<string, Package> };
const manifest = JSON.parse(readProjectFile('package.json')) as {
  allowScripts: Record<string, boolean>;
};

/** Looks for a package as Node does: in the dependent's own folder, then in each one above. */
const isLocked = (name: string, dependent: string): boolean => {
  if (Object.hasOwn(packages, `${dependent ? `${dependent}/` : ''}node_modules/${name}`))
    return true;
  if (dependent === '') return false;
  return isLocked(name, dependent.slice(0, Math.max(0, dependent.lastIndexOf('/node_modules/'))));
};

it('the lock file has every platform package, so that npm ci works on every machine', () => {
  const missing = Object.entries(packages).flatMap(([path, { optionalDependencies = {} }]) =>
    Object.keys(optionalDependencies)
      .filter((name) => !isLocked(name, path))
      .map((name) => `${name}, which ${path || 'package.json'} may need`),
  );
  expect(missing).toEqual([]);
});

it('the lock file pins every package by its content and names no address to fetch it from', () => {
  const unpinned = Object.keys(packages).filter((path) => path && !packages[path]?.integrity);
  expect(unpinned).toEqual([]);
  expect(lockText).not.toMatch(/"resolved"|\/\/registry\.|\.tgz"/);
});

it('package.json decides about every package that wants to run a script when installed', () => {
  const wanting = Object.keys(packages)
    .filter((path) => packages[path]?.hasInstallScript)
    .map((path) => path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length));
  expect(Object.keys(manifest.allowScripts).toSorted()).toEqual([...new Set(wanting)].toSorted());
});

it('no package runs a script when it is installed', () => {
  expect(Object.values(manifest.allowScripts).filter((allowed) => allowed)).toEqual([]);
  expect(readProjectFile('.npmrc')).toMatch(/^ignore-scripts=true$/m);
});
