import { readProjectFile } from '../test/support/checks/project-files.ts';

/*
 * Checks the policy for dependencies: `npm ci` works on every platform, the lock file pins the content of
 * each package and no address, no package runs a script when it is installed, and every licence is agreed.
 */

interface Package {
  license?: string;
  optionalDependencies?: Record<string, string>;
  hasInstallScript?: boolean;
  integrity?: string;
}

/** Licences that ask for no more than attribution or, MPL-2.0, publication of changes to their own files. */
const agreedLicences = new Set([
  '0BSD',
  'Apache-2.0',
  'Apache-2.0 AND MIT',
  'BlueOak-1.0.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'CC-BY-4.0',
  'ISC',
  'MIT',
  '(MIT OR Apache-2.0)',
  'MIT-0',
  'MIT/X11',
  'MPL-2.0',
  'PSF-2.0',
  'Python-2.0',
  'Unlicense',
]);

/**
 * Packages without a known licence in their manifest. In a file unionfs has the Unlicense, mollie-api-typescript
 * BSD-2-Clause, and htmx.org 0BSD, which its manifest calls BSD-0-Clause.
 */
const licenceInFile = new Set(['unionfs', 'htmx.org', 'mollie-api-typescript']);

// npm writes both files in this shape.
const lockText = readProjectFile('package-lock.json');
const { packages } = JSON.parse(lockText) as { packages: Record<string, Package> };
const { allowScripts } = JSON.parse(readProjectFile('package.json')) as {
  allowScripts: Record<string, boolean>;
};

const locked = Object.entries(packages).filter(([path]) => path !== '');
const nameOf = (path: string) =>
  path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);

/** Looks a package up as Node does: in the dependent's own folder, then in each folder above. */
const isLocked = (name: string, dependent: string): boolean => {
  const folder = dependent === '' ? '' : `${dependent}/`;
  if (Object.hasOwn(packages, `${folder}node_modules/${name}`)) return true;
  if (dependent === '') return false;
  return isLocked(name, dependent.slice(0, Math.max(0, dependent.lastIndexOf('/node_modules/'))));
};

const missingPlatformPackages = Object.entries(packages).flatMap(
  ([path, { optionalDependencies = {} }]) =>
    Object.keys(optionalDependencies)
      .filter((name) => !isLocked(name, path))
      .map((name) => `${name}, an optional dependency of ${path || 'package.json'}, is not locked`),
);

const withoutIntegrity = locked
  .filter(([, { integrity }]) => !integrity)
  .map(([path]) => `${nameOf(path)} has no integrity in the lock file`);

const addresses = /"resolved"|\/\/registry\.|\.tgz"/.test(lockText)
  ? ['The lock file names an address: is omit-lockfile-registry-resolved in .npmrc?']
  : [];

const withScript = new Set(
  locked.filter(([, { hasInstallScript }]) => hasInstallScript).map(([path]) => nameOf(path)),
);
const scripts = [
  ...[...withScript]
    .filter((name) => !Object.hasOwn(allowScripts, name))
    .map((name) => `${name} has an install script: decide about it in allowScripts`),
  ...Object.keys(allowScripts)
    .filter((name) => !withScript.has(name))
    .map((name) => `${name} is in allowScripts and has no install script`),
  ...Object.keys(allowScripts)
    .filter((name) => allowScripts[name])
    .map((name) => `${name} may run a script when it is installed`),
  ...(/^ignore-scripts=true$/m.test(readProjectFile('.npmrc'))
    ? []
    : ['.npmrc does not set ignore-scripts=true']),
];

const licences = locked
  .filter(
    ([path, { license }]) => !agreedLicences.has(license ?? '') && !licenceInFile.has(nameOf(path)),
  )
  .map(([path, { license }]) => `${nameOf(path)} has the licence ${license ?? 'none'}`);

const problems = [
  ...missingPlatformPackages,
  ...withoutIntegrity,
  ...addresses,
  ...scripts,
  ...licences,
];
if (problems.length > 0) {
  console.error(`Dependencies break the policy:\n  ${problems.join('\n  ')}`);
  process.exitCode = 1;
}
