import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readAdminConfig, readStackConfig, readTemporalConfig } from '../../config.ts';
import { aFolder } from '../support/stack/support.ts';

const stack = 'postgres://postgres@127.0.0.1:54329/payments';
const other = 'postgres://admin@db.example:5432/payments';
const key = `k1:${Buffer.alloc(32, 7).toString('base64')}`;

/** The data folder of an embedded stack. */
const aDataDir = (): string => {
  const folder = aFolder();
  const facts = {
    database_url: stack,
    temporal_address: '127.0.0.1:7233',
    temporal_namespace: 'default',
    temporal_ui_url: 'http://127.0.0.1:8233',
  };
  for (const [name, content] of Object.entries({
    'connection.json': JSON.stringify(facts),
    'secrets-key': `${key}\n`,
    'webhooks-key': `w${key}\n`,
    'notifications-key': `n${key}\n`,
    'other-url': `${other}\n`,
    'temporal.toml': '[profile.default]\naddress = "temporal.example:7233"\n',
  }))
    writeFileSync(join(folder, name), content);
  return folder;
};

describe('beside an embedded stack', () => {
  it.each([
    {},
    { DATABASE_URL: '' },
    { DATABASE_URL: ' ' },
    {
      DATABASE_URL_FILE: ' \t',
      SECRETS_KEY_FILE: ' ',
      TEMPORAL_ADDRESS: ' ',
      TEMPORAL_UI_URL: '\n',
    },
    { DATABASE_URL: stack },
  ])('readAdminConfig uses the stack with %o', (env) => {
    const config = readAdminConfig({ DATA_DIR: aDataDir(), ...env });
    expect(config).toMatchObject({
      DATABASE_URL: stack,
      ALLOW_LOOPBACK_TARGETS: true,
      SECRETS_KEY: { currentId: 'k1' },
      WEBHOOKS_KEY: { currentId: 'wk1' },
      NOTIFICATIONS_KEY: { currentId: 'nk1' },
      TEMPORAL_UI_URL: 'http://127.0.0.1:8233',
      temporal: { connectionOptions: { address: '127.0.0.1:7233' } },
    });
  });

  it.each([
    ['DATABASE_URL', () => other],
    ['DATABASE_URL_FILE', (folder: string) => join(folder, 'other-url')],
  ])('readAdminConfig uses nothing of the stack with the %s of another database', (name, value) => {
    const DATA_DIR = aDataDir();
    const TEMPORAL_ADDRESS = 'temporal.example:7233';
    const config = readAdminConfig({ DATA_DIR, TEMPORAL_ADDRESS, [name]: value(DATA_DIR) });
    expect(config).toMatchObject({ DATABASE_URL: other, ALLOW_LOOPBACK_TARGETS: false });
    const { SECRETS_KEY, NOTIFICATIONS_KEY, TEMPORAL_UI_URL } = config;
    expect([SECRETS_KEY, NOTIFICATIONS_KEY, TEMPORAL_UI_URL]).toEqual(Array(3).fill(undefined));
    expect(config.temporal.connectionOptions.address).toBe(TEMPORAL_ADDRESS);
  });

  it('readTemporalConfig uses the stack unless an address or a file names another server', () => {
    const DATA_DIR = aDataDir();
    const addressBy = (env: object) =>
      readTemporalConfig({ DATA_DIR, ...env }).temporal.connectionOptions.address;
    const TEMPORAL_ADDRESS = 'temporal.example:7233';
    expect(addressBy({})).toBe('127.0.0.1:7233');
    expect(addressBy({ TEMPORAL_ADDRESS })).toBe(TEMPORAL_ADDRESS);
    expect(addressBy({ TEMPORAL_ADDRESS: ' ', TEMPORAL_CONFIG_FILE: ' ' })).toBe('127.0.0.1:7233');
    const TEMPORAL_CONFIG_FILE = join(DATA_DIR, 'temporal.toml');
    expect(addressBy({ TEMPORAL_CONFIG_FILE })).toBe(TEMPORAL_ADDRESS);
  });
});

it('readStackConfig passes on paths, proxies and certificates, and no secrets', () => {
  const inherited = {
    PATH: '/bin',
    HOME: '/somewhere',
    HTTPS_PROXY: 'http://proxy:1',
    no_proxy: 'here',
    SSL_CERT_FILE: '/ca.pem',
    NODE_EXTRA_CA_CERTS: '/ca.pem',
    GOPROXY: 'https://go',
  };
  const others = {
    SECRETS_KEY: key,
    AWS_SECRET_ACCESS_KEY: 'x',
    NODE_OPTIONS: '--inspect',
    TZ: '',
    LANG: ' ',
  };
  expect(readStackConfig({ ...inherited, ...others }).inherited).toEqual(inherited);
});

it('readStackConfig connects to no other Temporal for an address of blanks', () => {
  expect(readStackConfig({ TEMPORAL_ADDRESS: ' ' }).externalTemporal).toBeUndefined();
});
