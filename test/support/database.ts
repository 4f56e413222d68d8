import { randomUUID } from 'node:crypto';
import { inject } from 'vitest';
import type { Sql } from '../../postgres/connection.ts';
import { connect } from '../../postgres/connection.ts';

/** A migrated, empty database of its own. */
export const aDatabase = async (): Promise<{
  sql: Sql;
  url: string;
  drop: () => Promise<void>;
}> => {
  const server = inject('postgresUrl');
  const name = `t_${randomUUID().replaceAll('-', '')}`;
  const admin = connect(server.replace(/payments$/, 'postgres'), { name: 'tests-admin', max: 1 });
  await admin`create database ${admin(name)} template payments`;
  const url = server.replace(/payments$/, name);
  const sql = connect(url, { name: 'tests', max: 5 });
  return {
    sql,
    url,
    async drop() {
      await sql.end({ timeout: 1 });
      await admin`drop database ${admin(name)} with (force)`;
      await admin.end();
    },
  };
};
