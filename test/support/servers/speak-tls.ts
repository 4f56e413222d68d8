import { chmodSync, chownSync, cpSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Sql } from '../../../postgres/driver/sql.ts';
import { selfSigned } from './self-signed.ts';
import { until } from '../until.ts';

/** Makes a Postgres server accept TLS connections. */
export const speakTls = async (sql: Sql): Promise<void> => {
  const [row] = await sql<{ data: string }[]>`select current_setting('data_directory') as data`;
  const data = row?.data ?? '';
  for (const [from, name] of [
    [selfSigned.keyFile, 'server.key'],
    [selfSigned.certFile, 'server.crt'],
  ] as const) {
    const path = join(data, name);
    cpSync(from, path);
    chmodSync(path, 0o600);
    chownSync(path, statSync(data).uid, statSync(data).gid);
  }
  await sql`alter system set ssl = on`;
  await sql`select pg_reload_conf()`;
  await until('Postgres accepts TLS', async () => {
    const [shown] = await sql<{ ssl: string }[]>`show ssl`;
    return shown?.ssl === 'on';
  });
};
