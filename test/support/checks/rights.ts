import { connect } from '../../../postgres/driver/connection.ts';
import type { Sql } from '../../../postgres/driver/sql.ts';
import type { aDatabase } from '../data/database.ts';
import { databaseRoles, type DatabaseRole } from './forbidden-statements.ts';
import { readProjectFile } from './project-files.ts';

const roles = readProjectFile('deploy/roles.sql');

export const isInRoles = (table: string): boolean => new RegExp(`\\b${table}\\b`).test(roles);

/** Creates the roles in a database, a login of each one, and connects as it. */
export const createLogins = async (database: Awaited<ReturnType<typeof aDatabase>>) => {
  // Twice, because operators run it after every migration.
  const owner = connect(database.url, { name: 'tests-owner', max: 1 });
  const own = new URL(database.url);
  // All databases of a server share its roles: one file after the other, each with logins of its own.
  const server = new URL('postgres', own);
  const turns = connect(server.href, { name: 'tests-turns', max: 1 });
  await turns`select pg_advisory_lock(hashtext('roles'))`;
  for (const text of [roles, roles]) await owner.unsafe(text).simple();
  const logins: [DatabaseRole, string][] = [];
  for (const kind of databaseRoles) {
    const url = new URL(own);
    url.username = `login_${kind}_${own.pathname.slice(1)}`;
    await owner.unsafe(`create role ${url.username} login in role payments_${kind}`);
    logins.push([kind, url.href]);
  }
  await Promise.all([owner.end(), turns.end()]);
  const urls = Object.fromEntries(logins) as Record<DatabaseRole, string>;
  const as = Object.fromEntries(
    logins.map(([kind, url]) => [kind, connect(url, { name: `tests-${kind}`, max: 2 })]),
  ) as Record<DatabaseRole, Sql>;
  return { urls, as };
};

/** The rights of a login on sequences, tables and columns, one line for those on the same columns of a table. */
export const listRights = async (sql: Sql): Promise<string[]> => {
  const rows = await sql<{ line: string }[]>`
    with each as (
      select relname, kind, attname, case when kind in ('select', 'insert', 'update')
        then has_column_privilege(c.oid, attnum, kind) else has_table_privilege(c.oid, kind) end as has
      from pg_class c join pg_attribute on attrelid = c.oid and attnum > 0 and not attisdropped,
        unnest(array['select', 'insert', 'update', 'delete', 'truncate']) kind
      where relnamespace = 'public'::regnamespace and relkind in ('r', 'p')
    ), kinds as (
      select relname, kind, case when bool_and(has) then 'all'
        else string_agg(attname, ' ' order by attname) filter (where has) end as columns
      from each group by relname, kind having bool_or(has)
    )
    select format('%s %s: %s', relname, string_agg(kind, ' ' order by kind), columns) as line
    from kinds group by relname, columns
    union all
    select format('%s %s: all', relname, string_agg(kind, ' ' order by kind))
    from pg_class c, unnest(array['select', 'update', 'usage']) kind
    where relnamespace = 'public'::regnamespace and relkind = 'S' and has_sequence_privilege(c.oid, kind)
    group by relname
    order by 1`;
  return rows.map(({ line }) => line);
};
