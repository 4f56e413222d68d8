import { expect, it, onTestFinished } from 'vitest';
import type { Queries } from '../../../postgres/driver/sql.ts';
import { migrate } from '../../../postgres/migrate.ts';
import { aDatabase } from '../../support/data/database.ts';
import { readProjectFile } from '../../support/checks/project-files.ts';

/** Lists everything that a migration can create, with its definition, as one line each. */
const describeSchema = async (sql: Queries): Promise<string[]> => {
  const rows = await sql<{ line: string }[]>`
    with tables as (
      select oid, relname, relpersistence, relkind, reloptions, relacl, relrowsecurity
      from pg_class
      where relnamespace = 'public'::regnamespace and relkind in ('r', 'p', 'v', 'm', 'S')
    )
    select concat_ws(' ', 'relation', relname, relkind, relpersistence, reloptions, relrowsecurity) as line
    from tables
    union all
    select concat_ws(' ', 'privilege', relname, grantee::regrole, privilege_type)
    from tables, aclexplode(relacl)
    union all
    select concat_ws(' ', 'column', relname, attname, format_type(atttypid, atttypmod),
      case when attnotnull then 'not null' end, attidentity, attgenerated,
      'default', pg_get_expr(adbin, adrelid))
    from tables
    join pg_attribute on attrelid = tables.oid and attnum > 0 and not attisdropped
    left join pg_attrdef on adrelid = attrelid and adnum = attnum
    where relkind <> 'S'
    union all
    select concat_ws(' ', 'constraint', conrelid::regclass, conname, pg_get_constraintdef(oid))
    from pg_constraint where connamespace = 'public'::regnamespace
    union all
    select concat_ws(' ', 'index', indexdef) from pg_indexes where schemaname = 'public'
    union all
    select concat_ws(' ', 'trigger', pg_get_triggerdef(pg_trigger.oid), tgenabled)
    from pg_trigger join tables on tables.oid = tgrelid where not tgisinternal
    union all
    select concat_ws(' ', 'function', pg_get_functiondef(oid))
    from pg_proc where pronamespace = 'public'::regnamespace
    union all
    select concat_ws(' ', 'type', typname, typtype)
    from pg_type where typnamespace = 'public'::regnamespace and typrelid = 0 and typelem = 0
    union all
    select concat_ws(' ', 'policy', polrelid::regclass, polname, polcmd,
      pg_get_expr(polqual, polrelid), pg_get_expr(polwithcheck, polrelid))
    from pg_policy
    order by line`;
  return rows.map(({ line }) => line);
};

const buildSchema = async (build: (database: Awaited<ReturnType<typeof aDatabase>>) => unknown) => {
  const database = await aDatabase({ template: 'template0' });
  onTestFinished(database.drop);
  await build(database);
  return describeSchema(database.sql);
};

it('schema.sql describes the same schema as the migrations', async () => {
  const read = await buildSchema(({ sql }) =>
    sql.unsafe(readProjectFile('postgres/schema.sql')).simple(),
  );
  const migrated = await buildSchema(({ sql }) => migrate(sql));
  expect(migrated.length).toBeGreaterThan(150);
  expect(read).toEqual(migrated);
});
