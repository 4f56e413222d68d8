import type { Sql } from '../../../postgres/driver/sql.ts';

/** A restore of the whole database brings these rows of a payment back. Inserts need this order. */
const tables = [
  'payments',
  'refunds',
  'events',
  'deliveries',
  'gateway_exchanges',
  'late_payments',
];

/** A backup of some payments, or a replica that lags. */
export const createBackup = (sql: Sql, ...ids: string[]) => {
  let rows: { table: string; json: string }[] = [];
  const keyOf = (table: string) => sql(table === 'payments' ? 'id' : 'payment_id');
  return {
    async copy() {
      rows = await Promise.all(
        tables.map(async (table) => {
          const [row] = await sql<{ json: string }[]>`
            select coalesce(json_agg(t), '[]')::text as json from ${sql(table)} t where ${keyOf(table)} = any(${ids})`;
          return { table, json: row?.json ?? '[]' };
        }),
      );
    },
    async restore() {
      await sql.begin(async (tx) => {
        // The sums of the payment come back as they were: no trigger reserves anything again.
        await tx`set local session_replication_role = replica`;
        await tx`delete from workflow_outbox where payment_id = any(${ids})`;
        for (const table of tables.toReversed())
          await tx`delete from ${sql(table)} where ${keyOf(table)} = any(${ids})`;
        for (const { table, json } of rows)
          await tx`
            insert into ${sql(table)} overriding system value
            select * from json_populate_recordset(null::${sql(table)}, ${json}::text::json)`;
      });
    },
  };
};
