import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { Connection } from '@temporalio/client';
import { expect, it, onTestFinished } from 'vitest';
import { parse } from 'yaml';
import { parseKeyRing, readAdminConfig } from '../../../config.ts';
import { choosePorts } from '../../../stack/ports.ts';
import { thisMachine } from '../../../stack/programs/machine.ts';
import { findTemporalServer } from '../../../stack/temporal/program.ts';
import { readCompose } from '../../support/checks/compose.ts';
import { readProjectFile } from '../../support/checks/project-files.ts';
import { useProgram } from '../../support/runner/use-program.ts';
import { startOwnPostgres } from '../../support/servers/own-postgres.ts';
import { aFolder } from '../../support/stack/support.ts';
import { until } from '../../support/until.ts';

const root = join(import.meta.dirname, '../../..');
const page = readProjectFile('docs/operating/without-compose.md');
const programs = useProgram(() => findTemporalServer(thisMachine()));
const { services } = readCompose({ PUBLIC_BASE_URL: 'https://pay.example.com' });

/** The block below a heading, with the folders of the page in a folder of the test. */
const blockOf = (heading: string, folder: string): string => {
  const [, section = ''] = page.split(`\n## ${heading}\n`);
  const block = /```sh\n([\s\S]*?)```/.exec(section)?.[1];
  if (block === undefined) throw new Error(`The page has no block under ${heading}`);
  return block.replaceAll('/etc/payments', join(folder, 'etc'));
};

it("the page's blocks start Temporal's server on a new Postgres, and set up its namespace", async () => {
  const folder = aFolder();
  const postgres = await startOwnPostgres();
  onTestFinished(() => postgres.drop());
  await postgres.sql`create role temporal login createdb password 'a-password'`;
  // Instead of the usual ports, at which another server may listen.
  const parts = ['FRONTEND', 'HISTORY', 'MATCHING', 'WORKER'];
  const names = parts.flatMap((part) => [`${part}_GRPC_PORT`, `${part}_MEMBERSHIP_PORT`]);
  const { metrics, ...ports } = await choosePorts(
    Object.fromEntries([...names, 'metrics'].map((name) => [name, 0])),
  );
  const address = `127.0.0.1:${ports['FRONTEND_GRPC_PORT']}`;
  const checkout = join(folder, 'checkout');
  mkdirSync(join(folder, 'etc'));
  mkdirSync(join(folder, 'bin'));
  cpSync(join(root, 'deploy'), join(checkout, 'deploy'), { recursive: true });
  for (const name of [
    'worker',
    'temporal',
    'contract',
    'telemetry',
    'node_modules',
    'config.ts',
    'environment.ts',
    'process.ts',
    'node-version.mjs',
    'process-one.mjs',
    'package.json',
  ])
    symlinkSync(join(root, name), join(checkout, name));
  writeFileSync(join(folder, 'etc/temporal.env'), 'POSTGRES_PWD=a-password\n');
  const settings = join(checkout, 'deploy/temporal/server.env');
  writeFileSync(
    settings,
    [
      readFileSync(settings, 'utf8').trimEnd(),
      `DB_PORT=${new URL(postgres.url).port}`,
      ...Object.entries(ports).map(([name, port]) => `${name}=${port}`),
      `PROMETHEUS_ENDPOINT=127.0.0.1:${metrics}`,
      '',
    ].join('\n'),
  );
  const found = programs();
  const folders = [found.server, found.sqlTool, process.execPath].map((file) => dirname(file));
  const shell = { cwd: checkout, env: { PATH: [...folders, '/usr/bin', '/bin'].join(':') } };
  const run = (script: string) =>
    promisify(execFile)('sh', ['-euc', script.replaceAll('127.0.0.1:7233', address)], shell);

  const [schema = '', server = ''] = blockOf("Temporal's server", folder).split(
    /(?=^temporal-server start$)/m,
  );
  await run(schema);
  // As a new version does.
  await run(schema);
  const child = spawn(
    'sh',
    ['-euc', `${schema.replace(/^.*create-schema.*$/m, '')} exec ${server}`],
    { ...shell, stdio: 'ignore' },
  );
  onTestFinished(async () => {
    child.kill();
    if (child.exitCode === null) await once(child, 'exit');
  });
  const connection = await until('the server answers', () =>
    Connection.connect({ address, connectTimeout: 2_000 }).catch(() => undefined),
  );
  onTestFinished(() => connection.close());
  await run(blockOf('The namespace', folder));
  const { customAttributes } = await connection.operatorService.listSearchAttributes({
    namespace: 'payments',
  });
  expect(Object.keys(customAttributes)).toEqual(expect.arrayContaining(['Application', 'OrderId']));
});

it('Temporal has the settings of docker-compose.yml', () => {
  const { DYNAMIC_CONFIG = '', NUM_HISTORY_SHARDS } = services['temporal']?.environment ?? {};
  expect(parse(readProjectFile('deploy/temporal/dynamic-config.yaml'))).toEqual(
    parse(DYNAMIC_CONFIG),
  );
  expect(readProjectFile('deploy/temporal/server.env')).toContain(
    `\nNUM_HISTORY_SHARDS=${NUM_HISTORY_SHARDS}\n`,
  );
  const [, commands = ''] =
    /^(temporal-sql-tool --[\s\S]*)/m.exec(readProjectFile('deploy/temporal/create-schema.sh')) ??
    [];
  expect(services['temporal-schema']?.command?.[0]).toContain(commands);
});

/** The values of a key in a unit. */
const valuesOf = (unit: string, key: string) =>
  [...unit.matchAll(new RegExp(`^${key}=(.+)$`, 'gm'))].map(([, value = '']) => value);
const readUnit = (file: string) => {
  const text = readProjectFile(`deploy/systemd/${file}`);
  const environment = Object.fromEntries(
    valuesOf(text, 'Environment').map(
      (line) => line.split(/=(.*)/s).slice(0, 2) as [string, string],
    ),
  );
  return { text, environment, credentials: valuesOf(text, 'LoadCredential') };
};

const common = readProjectFile('deploy/systemd/payments.env');

it.each([
  ['api', 'payments-api@.service'],
  ['worker-payments', 'payments-worker-payments@.service'],
  ['worker-webhooks', 'payments-worker-webhooks@.service'],
  ['console', 'payments-console.service'],
  ['purge', 'payments-purge.service'],
])('the service %s of docker-compose.yml runs the same way as %s', (name, file) => {
  const {
    command = [],
    environment = {},
    secrets = [],
    stop_grace_period,
    mem_limit = '',
  } = services[name] ?? {};
  const { text, environment: own, credentials } = readUnit(file);
  expect(valuesOf(text, 'ExecStart')).toEqual([`/usr/local/bin/${command.join(' ')}`]);
  expect(credentials.map((each) => each.replace(/:.*/, '')).toSorted()).toEqual(
    // An identity provider comes later.
    secrets.filter((secret) => secret !== 'oidc-client-secret').toSorted(),
  );
  const set = new Set([
    ...Object.keys(own),
    ...[...common.matchAll(/^(\w+)=/gm)].map(([, key]) => key),
  ]);
  const optional = /^(OIDC_|KEEP_|SECURITY_CONTACT)/;
  for (const key of Object.keys(environment))
    if (!optional.test(key)) expect(set, key).toContain(key);
  for (const [key, value] of Object.entries(own))
    if (key.endsWith('_FILE')) expect(value).toBe(environment[key]?.replace('/run/secrets', '%d'));
  expect(valuesOf(text, 'MemoryMax')[0]?.toLowerCase()).toBe(mem_limit);
  expect(valuesOf(text, 'TimeoutStopSec').map((seconds) => `${seconds}s`)).toEqual(
    stop_grace_period ? [stop_grace_period] : [],
  );
});

it('payments-admin has the settings of the admin in docker-compose.yml, and the keys of the page, which only their owner reads', async () => {
  const folder = aFolder();
  await promisify(execFile)('sh', ['-euc', blockOf('Keys and settings', folder)], { cwd: root });
  for (const name of ['secrets-key', 'webhooks-key', 'notifications-key', 'payers-key']) {
    const file = join(folder, 'etc', name);
    expect(parseKeyRing(readFileSync(file, 'utf8').trim()).keys.size).toBe(1);
    expect(statSync(file).mode & 0o777).toBe(0o600);
  }
  writeFileSync(join(folder, 'etc/admin-database-url'), 'postgres://admin@localhost/payments\n');
  const script = readProjectFile('deploy/systemd/payments-admin')
    .replaceAll('/etc/payments', join(folder, 'etc'))
    .replace('/opt/payments', root)
    .replace('/usr/local/bin/node admin/cli/main.ts', 'env #');
  const { stdout } = await promisify(execFile)('sh', ['-euc', script], { env: { PATH: '/bin' } });
  const lines = stdout.split('\n').map((line) => line.split(/=(.*)/s).slice(0, 2));
  const env = Object.fromEntries(lines) as Record<string, string>;
  expect(Object.keys(env)).toEqual(
    expect.arrayContaining(Object.keys(services['admin']?.environment ?? {})),
  );
  const config = readAdminConfig(env);
  for (const key of ['SECRETS_KEY', 'WEBHOOKS_KEY', 'NOTIFICATIONS_KEY'] as const)
    expect(config[key], key).toBeDefined();
});

it('systemd accepts the units, and finds them closed', async ({ skip }) => {
  const analyze = (args: string[], cwd: string) =>
    promisify(execFile)('systemd-analyze', args, { cwd });
  const isThere = await analyze(['--version'], '/').then(Boolean, () => false);
  skip(!isThere, 'There is no systemd here');
  const folder = aFolder();
  const units = [
    'payments-api@',
    'payments-worker-payments@',
    'payments-worker-webhooks@',
    'payments-console',
    'payments-purge',
    'temporal',
  ];
  const files = units.map((unit) => {
    const file = unit.replace(/@$/, '@1');
    // systemd looks whether the programs are there.
    const text = readProjectFile(`deploy/systemd/${unit}.service`).replaceAll(
      /\/usr\/local\/bin\/\S+/g,
      '/bin/true',
    );
    writeFileSync(join(folder, `${file}.service`), text);
    return `${file}.service`;
  });
  const timer = 'payments-purge.timer';
  writeFileSync(join(folder, timer), readProjectFile(`deploy/systemd/${timer}`));
  const verified = await analyze(
    ['verify', '--man=no', ...[...files, timer].map((file) => join(folder, file))],
    folder,
  );
  expect(verified.stderr).toBe('');
  for (const file of files) {
    const { stdout } = await analyze(
      ['security', '--offline=true', '--threshold=20', '--no-pager', join(folder, file)],
      folder,
    );
    expect(stdout).toContain('OK');
  }
});
