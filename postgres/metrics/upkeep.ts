import type { Queries } from '../driver/sql.ts';

/** Whether Postgres itself, backups and purges are well, as gauges for operators. They read no payment. */
const createGauges = (sql: Queries) => {
  const secondsSince = (task: 'backup' | 'purge') =>
    sql`(select extract(epoch from now() - done_at)::float8 from upkeep where task = ${task})`;
  return {
    connectionsRatio: {
      name: 'payments_postgres_connections_ratio',
      help: 'Connections to the Postgres server, of all its databases, by those that it allows.',
      sql: sql`((select sum(numbackends) from pg_stat_database)::float8 / current_setting('max_connections')::float8)`,
    },
    transactionAge: {
      name: 'payments_postgres_transaction_age',
      help: 'Transactions since the oldest one that VACUUM has not frozen. Postgres stops at 2,000,000,000.',
      sql: sql`(select max(age(datfrozenxid))::float8 from pg_database)`,
    },
    archiveFailing: {
      name: 'payments_postgres_archive_failing',
      help: '1 if the last try to archive WAL failed, else 0. 0 without an archive.',
      sql: sql`(select coalesce(last_failed_time > coalesce(last_archived_time, '-infinity'), false)::int
        from pg_stat_archiver)`,
    },
    backupAgeSeconds: {
      name: 'payments_backup_age_seconds',
      help: 'Time since the last backup that deploy/backup.sh took. Before the first one, since the installation.',
      sql: secondsSince('backup'),
    },
    purgeAgeSeconds: {
      name: 'payments_purge_age_seconds',
      help: 'Time since a purge has left nothing to delete. Before the first one, since the installation.',
      sql: secondsSince('purge'),
    },
  };
};

export type UpkeepMetrics = Record<keyof ReturnType<typeof createGauges>, number>;

export const createUpkeepMetrics = (sql: Queries) => {
  const gauges = createGauges(sql);
  return {
    gauges,
    /** One statement for all gauges. */
    async measure(): Promise<UpkeepMetrics> {
      const [row] = await sql<[UpkeepMetrics]>`
        select ${gauges.connectionsRatio.sql} as ${sql('connectionsRatio')},
          ${gauges.transactionAge.sql} as ${sql('transactionAge')},
          ${gauges.archiveFailing.sql} as ${sql('archiveFailing')},
          ${gauges.backupAgeSeconds.sql} as ${sql('backupAgeSeconds')},
          ${gauges.purgeAgeSeconds.sql} as ${sql('purgeAgeSeconds')}`;
      return row;
    },
  };
};
