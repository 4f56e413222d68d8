import { execFile } from 'node:child_process';
import { resolve } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { readProjectFile } from '../../support/checks/project-files.ts';

it('npm run sbom names every package of production', async () => {
  const { stdout } = await promisify(execFile)('npm', ['run', '--silent', 'sbom'], {
    cwd: resolve(import.meta.dirname, '../../..'),
    maxBuffer: 50_000_000,
  });
  const { components } = JSON.parse(stdout) as { components: { purl: string }[] };
  const named = new Set(components.map(({ purl }) => purl));
  const { packages } = JSON.parse(readProjectFile('package-lock.json')) as {
    packages: Record<string, { version: string; dev?: boolean; optional?: boolean }>;
  };
  const production = Object.entries(packages).flatMap(([path, { version, dev, optional }]) => {
    const name = path.split('node_modules/').at(-1) ?? '';
    return name === '' || dev || optional ? [] : [`pkg:npm/${name.replace('@', '%40')}@${version}`];
  });
  expect(production.length).toBeGreaterThan(100);
  expect(production.filter((purl) => !named.has(purl))).toEqual([]);
});
