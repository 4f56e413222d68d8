import { expect, it } from 'vitest';
import { version } from '../../../contract/version.ts';
import { projectFiles, readProjectFile } from '../../support/checks/project-files.ts';

it('the image, the client, the document of the API, the lock file and the changelog have the version of package.json', () => {
  expect(version).toMatch(/^\d+\.\d+\.\d+$/);
  expect(readProjectFile('Dockerfile')).toContain(`org.opencontainers.image.version="${version}"`);
  expect(JSON.parse(readProjectFile('docs/openapi.json'))).toMatchObject({ info: { version } });
  expect(JSON.parse(readProjectFile('client/package.json'))).toMatchObject({ version });
  expect(readProjectFile('client/src/version.ts')).toContain(`'${version}'`);
  expect(JSON.parse(readProjectFile('package-lock.json'))).toMatchObject({
    version,
    packages: { '': { version } },
  });
  expect(/^## (\S+)/m.exec(readProjectFile('CHANGELOG.md'))?.[1]).toBe(version);
});

it('files of a deployment name the image of this version', () => {
  const files = projectFiles().filter((path) => /^(docker-compose|deploy\/.*)\.ya?ml$/.test(path));
  const named = files.flatMap((path) => [
    ...readProjectFile(path).matchAll(/image: (payments:.*)$/gm),
  ]);
  expect(named.length).toBeGreaterThan(7);
  expect(new Set(named.map(([, image]) => image))).toEqual(new Set([`payments:${version}`]));
});
