import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  readAdminConfig,
  readApiConfig,
  readConsoleConfig,
  readWorkerConfig,
} from '../../config.ts';
import { SetupError } from '../../process.ts';
import { aFolder } from '../support/stack/support.ts';

const key = Buffer.alloc(32, 7).toString('base64');
const api = {
  DATABASE_URL: 'postgres://user:hunter2@127.0.0.1:5432/payments',
  PUBLIC_BASE_URL: 'https://pay.example/',
  PAYERS_KEY: `p1:${key}`,
};
const worker = { ...api, SECRETS_KEY: `first:${key}`, WEBHOOKS_KEY: `second:${key}` };

/** The problems in the message of the SetupError. */
const problemsOf = (read: () => unknown): string[] => {
  try {
    read();
  } catch (error) {
    if (!(error instanceof SetupError)) throw error;
    return error.message
      .split('\n')
      .slice(1)
      .map((line) => line.trim());
  }
  return expect.fail('The configuration is valid');
};

const aFile = (text: string): string => {
  const path = join(aFolder(), 'secret');
  writeFileSync(path, text);
  return path;
};

describe('the configuration', () => {
  // test/unit/docs/configuration.test.ts has the defaults.
  it('is one frozen object', () => {
    const config = readApiConfig(api);
    expect(config).toMatchObject({
      PUBLIC_BASE_URL: 'https://pay.example',
      temporal: { namespace: 'default' },
    });
    for (const each of [config, readWorkerConfig(worker)]) expect(Object.isFrozen(each)).toBe(true);
  });

  it('shows a worker no setting of a queue that it does not serve', () => {
    const { SECRETS_KEY, WEBHOOKS_KEY, ...both } = worker;
    const mail = { SMTP_HOST: 'smtp.shop.example', SMTP_FROM: 'payments@shop.example' };
    const keys = { SECRETS_KEY, WEBHOOKS_KEY };
    const read = (settings: Record<string, string>) => readWorkerConfig({ ...both, ...settings });
    const payments = read({ ...keys, ...mail, TASK_QUEUES: 'payments' });
    expect(payments.SECRETS_KEY).toBeDefined();
    expect([payments.WEBHOOKS_KEY, payments.SMTP_HOST]).toEqual([undefined, undefined]);
    const webhooks = read({
      ...{ WEBHOOKS_KEY, ...mail, TASK_QUEUES: 'webhooks', SECRETS_KEY_FILE: '/nowhere' },
    });
    expect(webhooks.TASK_QUEUES).toEqual(['webhooks']);
    expect([webhooks.SECRETS_KEY, webhooks.PAYERS_KEY, webhooks.SMTP_HOST]).toEqual([
      ...[undefined, undefined, 'smtp.shop.example'],
    ]);
  });

  it('keeps everything for at least 30 days', () => {
    for (const name of ['KEEP_ATTEMPT_BODIES_DAYS', 'KEEP_PAYMENTS_DAYS'])
      expect(forAdmin({ [name]: '30' })).toMatchObject({ [name]: 30 });
  });

  it('parses proxies as addresses and networks', () => {
    const proxies = (text: string) => readApiConfig({ ...api, TRUSTED_PROXIES: text });
    expect(readApiConfig(api).TRUSTED_PROXIES).toEqual([]);
    expect(proxies(' 10.0.0.0/8, ::1,192.0.2.7 ,fd00::/8').TRUSTED_PROXIES).toEqual([
      { address: '10.0.0.0', prefix: 8 },
      { address: '::1', prefix: 128 },
      { address: '192.0.2.7', prefix: 32 },
      { address: 'fd00::', prefix: 8 },
    ]);
  });

  it('reports all problems at once, by variable', () => {
    const problems = problemsOf(() =>
      readWorkerConfig({
        DATABASE_URL: 'mysql://127.0.0.1/payments',
        PUBLIC_BASE_URL: 'https://pay.example',
        ALLOW_LOOPBACK_TARGETS: 'true',
        LOG_LEVEL: 'loud',
        SHUTDOWN_GRACE_SECONDS: '0',
        TEMPORAL_TLS_CLIENT_CERT_PATH: '/nowhere/cert.pem',
        TEMPORAL_TLS_CLIENT_CERT_DATA: 'both at once',
      }),
    );
    expect(problems.map((line) => line.slice(0, line.indexOf(':'))).toSorted()).toEqual([
      'ALLOW_LOOPBACK_TARGETS',
      'DATABASE_URL',
      'LOG_LEVEL',
      'PAYERS_KEY',
      'SECRETS_KEY',
      'SHUTDOWN_GRACE_SECONDS',
      'TEMPORAL_*',
      'WEBHOOKS_KEY',
    ]);
    expect(problems).toContain('SECRETS_KEY: is missing');
  });

  const forApi = (env: object) => readApiConfig({ ...api, ...env });
  const forWorker = (env: object) => readWorkerConfig({ ...worker, ...env });
  const forAdmin = (env: object) => readAdminConfig({ DATABASE_URL: api.DATABASE_URL, ...env });
  const days = ['29', '0', '30.5', 'all'];
  const oneHost = 'must be a postgres:// URL of one host';
  const readable = 'must be the path of a readable file';
  const manyHosts = ['a,b', 'a:5432,b:5432', '10.0.0.1,10.0.0.2:5432'];

  it.each([
    [
      'TASK_QUEUES',
      'must be payments, webhooks or both',
      forWorker,
      ['webhook', 'payments,', 'payments, webhooks'],
    ],
    ['KEEP_ATTEMPT_BODIES_DAYS', '', forAdmin, days],
    ['KEEP_PAYMENTS_DAYS', '', forAdmin, days],
    ['WORKFLOW_BUNDLE', readable, forWorker, ['/nowhere/bundle.js', import.meta.dirname]],
    [
      'TRUSTED_PROXIES',
      '',
      forApi,
      ['10.0.0.0/33', 'fd00::/129', 'proxy', '10.0.0/8', '::1/', '::1/1/1', '/8'],
    ],
    ['API_PORT', '', forApi, ['65536', '-1', '80.5', 'http', '3e3', '0x50', '+80', '080', '8 0']],
    [
      'DATABASE_URL',
      oneHost,
      forApi,
      manyHosts.map((hosts) => `postgres://user:hunter2@${hosts}/payments`),
    ],
    [
      'SECRETS_KEY',
      'must ',
      forWorker,
      [key, `first:${key.slice(4)}`, `first:${key},`, `a b:${key}`, `same:${key},same:${key}`],
    ],
  ])('rejects a wrong %s, and says: %s', (name, problem, read, values) => {
    for (const value of values)
      expect(
        problemsOf(() => read({ [name]: value })),
        value,
      ).toEqual([expect.stringContaining(`${name}: ${problem}`)]);
  });

  const database = (url: string) => readApiConfig({ ...api, DATABASE_URL: url }).DATABASE_URL;

  it.each([
    ['postgres://u:p@db.example/payments'],
    ['postgresql://u:p@db.example:6432/payments?sslmode=require'],
    ['postgres://u:p@db.example/payments?sslmode=verify-full&application_name=shop'],
    ['postgres://u:p%40s%23s%2F%3F%25@db.example/payments'],
    ['postgres://u@[::1]:5432/payments?options=-c%20search_path%3Dpublic'],
    ['postgres://u:p@db.example'],
    ['postgres://u:p@db.example/payments/', 'postgres://u:p@db.example/payments'],
    ['postgres://u:p@db.example/payments/?ssl=true', 'postgres://u:p@db.example/payments?ssl=true'],
    [
      'postgres://u:p@db.example/payments?sslmode=no-verify',
      'postgres://u:p@db.example/payments?sslmode=require',
    ],
  ])('takes a database URL as hosters print it: %s', (printed, url = printed) => {
    expect(database(printed)).toBe(url);
  });

  it.each([
    ['"postgres://u:hunter2@db.example/payments"', /without quotes/],
    ['jdbc:postgresql://db.example/payments', /must be a postgres:\/\/ URL/],
    ['host=db.example password=hunter2', /must be a postgres:\/\/ URL/],
    ['postgres://u:hunter2#x@db.example/payments', /# as %23/],
    ['postgres://u:12#hunter2@db.example/payments', /# as %23/],
    ['postgres://u:12/hunter2@db.example/payments', /\/ as %2F/],
    ['postgres://u:12?hunter2@db.example/payments', /\? as %3F/],
    ['postgres://u:hunter2%@db.example/payments', /% as %25/],
    ['postgres://u:hunter2@db.example/payments?sslmode=verify-ca', /sslmode of disable/],
    [
      'postgres://u:hunter2@db.example/p?sslmode=require&channel_binding=require',
      /channel_binding/,
    ],
    ['postgres://u:hunter2@db.example/payments?pgbouncer=true', /a pool of sessions/],
    ['postgres://u:hunter2@db.example/payments?schema=public', /without schema/],
    ['postgres://u:hunter2@db.example/payments?sslrootcert=ca.pem', /NODE_EXTRA_CA_CERTS/],
    ['postgres://u:hunter2@%2Fvar%2Frun%2Fpostgresql/payments', /a socket is not supported/],
    ['postgres://u:hunter2@/payments?host=/var/run/postgresql', /socket|%23/],
  ])('says what to do about a database URL that it cannot use: %s', (url, problem) => {
    const [line = '', ...others] = problemsOf(() => database(url));
    expect(line).toMatch(problem);
    expect(line).not.toContain('hunter2');
    expect(others).toEqual([]);
  });

  it.each(['', ' ', '\t\n'])('treats a variable of nothing but blanks as not set: %j', (blank) => {
    expect(problemsOf(() => readApiConfig({ ...api, DATABASE_URL: blank }))).toEqual([
      'DATABASE_URL: is missing',
    ]);
    const others = { SECRETS_KEY_FILE: blank, TEMPORAL_NAMESPACE: blank, TEMPORAL_TLS: blank };
    expect(readApiConfig({ ...api, ...others })).toEqual(readApiConfig(api));
  });
});

it.each([
  ['payments', ['SECRETS_KEY: is missing', 'PAYERS_KEY: is missing']],
  ['webhooks', ['WEBHOOKS_KEY: is missing']],
  [
    'payments,webhooks',
    ['SECRETS_KEY: is missing', 'WEBHOOKS_KEY: is missing', 'PAYERS_KEY: is missing'],
  ],
])('readWorkerConfig needs the keys of its queues alone: %s', (TASK_QUEUES, missing) => {
  const { PAYERS_KEY: _, ...others } = api;
  expect(problemsOf(() => readWorkerConfig({ ...others, TASK_QUEUES }))).toEqual(missing);
  const TASK_QUEUES_FILE = aFile(TASK_QUEUES);
  expect(problemsOf(() => readWorkerConfig({ ...others, TASK_QUEUES_FILE }))).toEqual(missing);
});

it('readApiConfig reads the key of notification secrets, and never that of the credentials', () => {
  const config = readApiConfig({ ...worker, NOTIFICATIONS_KEY: `n1:${key}` });
  expect(config.NOTIFICATIONS_KEY?.currentId).toBe('n1');
  expect(config).not.toHaveProperty('SECRETS_KEY');
});

describe('NAME_FILE', () => {
  it('reads the API key of Temporal from a file', () => {
    const env = { ...api, TEMPORAL_API_KEY_FILE: aFile('a-temporal-key\n') };
    expect(readApiConfig(env).temporal.connectionOptions.apiKey).toBe('a-temporal-key');
  });

  it('is a file with a secret and a line end, ignored if the variable itself has a value', () => {
    const SECRETS_KEY_FILE = aFile(`second:${key}\n`);
    const idOf = (env: Record<string, string>) => readWorkerConfig(env).SECRETS_KEY?.currentId;
    expect(idOf({ ...worker, SECRETS_KEY_FILE })).toBe('first');
    expect(idOf({ ...worker, SECRETS_KEY: '', SECRETS_KEY_FILE })).toBe('second');
  });

  it('is reported once if it is not readable, and as missing if it is empty', () => {
    const without = { ...worker, SECRETS_KEY: undefined };
    expect(
      problemsOf(() => readWorkerConfig({ ...without, SECRETS_KEY_FILE: '/nowhere/secret' })),
    ).toEqual(['SECRETS_KEY_FILE: must be the path of a readable file']);
    expect(
      problemsOf(() => readWorkerConfig({ ...without, SECRETS_KEY_FILE: aFile('\n') })),
    ).toEqual(['SECRETS_KEY: is missing']);
  });
});

describe('a secret', () => {
  const secret = 'hunter2';
  it.each([
    { DATABASE_URL: `mysql://user:${secret}@127.0.0.1/payments` },
    { DATABASE_URL: secret },
    { SECRETS_KEY: `first:${secret}` },
    { SECRETS_KEY: undefined, SECRETS_KEY_FILE: secret },
    { DATABASE_URL: '', DATABASE_URL_FILE: `postgres://user:${secret}@127.0.0.1/payments` },
    { TEMPORAL_API_KEY_FILE: secret },
    { TEMPORAL_CONFIG_FILE: 'broken' },
  ])('is not in the message: %o', (wrong) => {
    const file = aFile(`[profile.default]\napi_key = "${secret}\n`);
    const env = {
      ...worker,
      ...wrong,
      ...(wrong.TEMPORAL_CONFIG_FILE && { TEMPORAL_CONFIG_FILE: file }),
    };
    const problems = problemsOf(() => readWorkerConfig(env));
    expect(problems).toHaveLength(1);
    expect(problems.join()).not.toContain(secret);
  });
});

it('SECRETS_KEY is a key ring whose first key encrypts', () => {
  const other = Buffer.alloc(32, 8).toString('base64');
  const { SECRETS_KEY } = readWorkerConfig({ ...worker, SECRETS_KEY: `new:${key},old:${other}` });
  expect(SECRETS_KEY?.currentId).toBe('new');
  expect([...(SECRETS_KEY?.keys ?? [])]).toEqual([
    ['new', Buffer.alloc(32, 7)],
    ['old', Buffer.alloc(32, 8)],
  ]);
});

it('ALLOW_LOOPBACK_TARGETS is accepted with an address of this machine alone', () => {
  const reading = (PUBLIC_BASE_URL: string) => () =>
    readWorkerConfig({ ...worker, PUBLIC_BASE_URL, ALLOW_LOOPBACK_TARGETS: 'true' });
  for (const host of ['127.0.0.1:3000', 'localhost:3000', '[::1]:3000', '2130706433'])
    expect(reading(`http://${host}`)().ALLOW_LOOPBACK_TARGETS).toBe(true);
  const others = ['pay.example', '192.168.1.5', 'localhost.pay.example', '127.0.0.1.nip.io'];
  for (const host of others)
    expect(problemsOf(reading(`http://${host}`)), host).toEqual([
      'ALLOW_LOOPBACK_TARGETS: must not be true with a public PUBLIC_BASE_URL',
    ]);
});

describe('skipping time in the console', () => {
  const own = {
    DATABASE_URL: api.DATABASE_URL,
    TEMPORAL_ADDRESS: '127.0.0.1:7233',
    CONSOLE_BASE_URL: 'http://console.localhost:3002',
    SKIP_TIME: 'true',
  };

  it('is switched on beside an embedded Temporal', () => {
    expect(readConsoleConfig(own).SKIP_TIME).toBe(true);
  });

  it.each([
    { TEMPORAL_ADDRESS: 'temporal:7233' },
    { TEMPORAL_ADDRESS: 'temporal:70000' },
    { TEMPORAL_ADDRESS: 'temporal.example.com:7233' },
    { CONSOLE_BASE_URL: 'https://console.example.com' },
  ])('is refused with %j', (settings) => {
    const problems = problemsOf(() => readConsoleConfig({ ...own, ...settings }));
    expect(problems).toContain('SKIP_TIME: is for npm start alone');
  });
});

describe('the identity provider of the console', () => {
  const { DATABASE_URL } = api;
  const oidc = {
    OIDC_ISSUER: 'https://login.example.com/tenant/',
    OIDC_CLIENT_ID: 'console',
    OIDC_CLIENT_SECRET: 'hunter2',
  };
  const read = (settings: Record<string, string>) =>
    readConsoleConfig({ DATABASE_URL, ...settings });

  it('is off by default, and keeps its issuer as it is', () => {
    expect(read({}).OIDC_ISSUER).toBeUndefined();
    expect(read(oidc).OIDC_ISSUER?.href).toBe(oidc.OIDC_ISSUER);
  });

  it('may be without TLS on this machine alone', () => {
    const reading = (host: string) => () => read({ ...oidc, OIDC_ISSUER: `http://${host}` });
    for (const host of ['127.0.0.1:9000', 'localhost:9000', '[::1]:9000'])
      expect(reading(host)().OIDC_ISSUER?.host).toBe(host);
    for (const host of ['login.example.com', '127.0.0.1.example.com', '10.0.0.1'])
      expect(problemsOf(reading(host))).toEqual([expect.stringMatching(/^OIDC_ISSUER: /)]);
  });

  it.each(Object.keys(oidc))('needs %s', (name) => {
    const problems = problemsOf(() => read({ ...oidc, [name]: '' }));
    expect(problems).toEqual([expect.stringMatching(/^OIDC_\*: .* need each other$/)]);
    expect(problems.join()).not.toContain('hunter2');
  });
});

it('the settings of Temporal come from a file that is named, and from none that lies in the home', () => {
  const HOME = aFolder();
  const folder = join(HOME, '.config', 'temporalio');
  mkdirSync(folder, { recursive: true });
  const file = join(folder, 'temporal.toml');
  writeFileSync(
    file,
    '[profile.default]\naddress = "elsewhere.example:7233"\nnamespace = "other"\n',
  );
  const env = { ...api, HOME, XDG_CONFIG_HOME: join(HOME, '.config') };
  expect(readApiConfig(env).temporal.namespace).toBe('default');
  expect(readApiConfig({ ...env, TEMPORAL_CONFIG_FILE: file }).temporal.namespace).toBe('other');
});
