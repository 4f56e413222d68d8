import { randomUUID } from 'node:crypto';
import { inject } from 'vitest';
import type { Sql } from '../../../postgres/driver/sql.ts';
import { connect } from '../../../postgres/driver/connection.ts';

export interface Database {
  sql: Sql;
  url: string;
  drop: () => Promise<void>;
}

/** Creates an empty database, by default with the migrated schema. */
export const aDatabase = async ({ template = 'payments' } = {}): Promise<Database> => {
  const server = inject('postgresUrl');
  const name = `t_${randomUUID().replaceAll('-', '')}`;
  const admin = connect(server.replace(/payments$/, 'postgres'), { name: 'tests-admin', max: 1 });
  // It waits for a checkpoint, which a busy disk makes long.
  await admin`set statement_timeout = 0`;
  // A copy of the files takes half of the CPU of the log of their pages.
  await admin`create database ${admin(name)} template ${admin(template)} strategy file_copy`;
  const url = server.replace(/payments$/, name);
  const sql = connect(url, { name: 'tests', max: 10 });
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
