import { projectFiles, readProjectFile } from '../test/support/checks/project-files.ts';

/*
 * Checks that no file names the machine it was written on: neither a home folder nor the host of a package
 * registry.
 */

const homeFolder = /(?<![\w.$}-])\/(?:root|home|work)\//;
const registryHost =
  /registry\.(?:npm|yarn)|\/\/(?:[\w-]+\.)*(?:registry|npm|goproxy|proxy|mirrors?|nexus)\./;

const places = projectFiles().flatMap((path) => {
  const text = readProjectFile(path);
  // A file with NUL is not text.
  if (text.includes('\0')) return [];
  return text
    .split('\n')
    .flatMap((line, index) =>
      homeFolder.test(line) || registryHost.test(line)
        ? [`${path}:${index + 1}: ${line.trim().slice(0, 160)}`]
        : [],
    );
});
if (places.length > 0) {
  console.error(`Home folders or registry hosts in files:\n  ${places.join('\n  ')}`);
  process.exitCode = 1;
}
