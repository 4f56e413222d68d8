import { execFileSync, spawnSync } from 'node:child_process';
import { chownSync, mkdtempSync, readFileSync, rmSync, statSync, chmodSync, cpSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import tls from 'node:tls';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { connect } from '../../postgres/connection.ts';
import { startOwnPostgres } from '../support/own-postgres.ts';
import { until } from '../support/until.ts';

/** Makes the server's certificate; where it is missing, this is left out. */
const openssl = 'openssl';
const isThere = spawnSync(openssl, ['version']).status === 0;

let postgres: Awaited<ReturnType<typeof startOwnPostgres>>;
let certificate: string;
const usual = tls.getCACertificates();
beforeAll(async () => {
  if (!isThere) return;
  postgres = await startOwnPostgres();
  const folder = mkdtempSync(join(tmpdir(), 'tls-'));
  const files = ['server.key', 'server.crt'].map((name) => join(folder, name));
  const [key = '', crt = ''] = files;
  const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost'];
  const made = ['-newkey', 'rsa:2048', '-nodes', '-keyout', key, '-out', crt, '-days', '2'];
  execFileSync(openssl, ['req', '-x509', ...made, ...subject], { stdio: 'ignore' });
  certificate = readFileSync(crt, 'utf8');
  const [row] = await postgres.sql<{ data: string }[]>`
    select current_setting('data_directory') as data`;
  const data = row?.data ?? '';
  for (const name of ['server.key', 'server.crt']) {
    const path = join(data, name);
    cpSync(join(folder, name), path);
    chmodSync(path, 0o600);
    chownSync(path, statSync(data).uid, statSync(data).gid);
  }
  rmSync(folder, { recursive: true });
  await postgres.sql`alter system set ssl = on`;
  await postgres.sql`select pg_reload_conf()`;
  await until('Postgres speaks TLS', async () => {
    const [shown] = await postgres.sql<{ ssl: string }[]>`show ssl`;
    return shown?.ssl === 'on';
  });
});
afterAll(async () => {
  tls.setDefaultCACertificates(usual);
  await postgres?.drop();
});

/** Whether the connection is encrypted. */
const isEncrypted = async (query: string) => {
  const url = postgres.url.replace('127.0.0.1', 'localhost');
  const sql = connect(`${url}${query}`, { name: 'tests', max: 1 });
  try {
    const [row] = await sql<{ ssl: boolean }[]>`
      select ssl from pg_stat_ssl where pid = pg_backend_pid()`;
    return row?.ssl;
  } finally {
    await sql.end({ timeout: 1 });
  }
};

it.skipIf(!isThere)('speaks TLS to Postgres where DATABASE_URL asks for it', async () => {
  expect(await isEncrypted('')).toBe(false);
  expect(await isEncrypted('?sslmode=require')).toBe(true);
});

it.skipIf(!isThere)('talks to no server whose certificate nobody vouches for', async () => {
  await expect(isEncrypted('?sslmode=verify-full')).rejects.toThrow('self-signed certificate');
  // What NODE_EXTRA_CA_CERTS does when a process starts.
  tls.setDefaultCACertificates([...usual, certificate]);
  expect(await isEncrypted('?sslmode=verify-full')).toBe(true);
});
