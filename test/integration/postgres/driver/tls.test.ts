import tls from 'node:tls';
import { afterAll, expect, it } from 'vitest';
import { connect } from '../../../../postgres/driver/connection.ts';
import { startOwnPostgres } from '../../../support/servers/own-postgres.ts';
import { selfSigned } from '../../../support/servers/self-signed.ts';
import { speakTls } from '../../../support/servers/speak-tls.ts';
import { forFile } from '../../../support/for-file.ts';

const defaultCertificates = tls.getCACertificates();
const postgres = await forFile(startOwnPostgres());
await speakTls(postgres.sql);
afterAll(async () => {
  tls.setDefaultCACertificates(defaultCertificates);
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

it('encrypts the connection when DATABASE_URL sets sslmode', async () => {
  expect(await isEncrypted('')).toBe(false);
  expect(await isEncrypted('?sslmode=require')).toBe(true);
});

it('rejects a certificate that no known authority has signed', async () => {
  await expect(isEncrypted('?sslmode=verify-full')).rejects.toThrow('self-signed certificate');
  // NODE_EXTRA_CA_CERTS does this when a process starts.
  tls.setDefaultCACertificates([...defaultCertificates, selfSigned.cert]);
  expect(await isEncrypted('?sslmode=verify-full')).toBe(true);
});
