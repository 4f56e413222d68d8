import { expect, it } from 'vitest';
import { version } from '../../../contract/version.ts';
import { readProjectFile } from '../../support/checks/project-files.ts';

it('the image, its name in Compose, the document of the API and the lock file have the version of package.json', () => {
  expect(version).toMatch(/^\d+\.\d+\.\d+$/);
  expect(readProjectFile('Dockerfile')).toContain(`org.opencontainers.image.version="${version}"`);
  expect(readProjectFile('docker-compose.yml')).toContain(`image: payments:${version}`);
  expect(JSON.parse(readProjectFile('docs/openapi.json'))).toMatchObject({ info: { version } });
  expect(JSON.parse(readProjectFile('package-lock.json'))).toMatchObject({
    version,
    packages: { '': { version } },
  });
});
