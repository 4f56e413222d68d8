import { expect, it } from 'vitest';
import { aDatabase } from '../../support/data/database.ts';
import { forFile } from '../../support/for-file.ts';

const { sql } = await forFile(aDatabase());

/** Applications and gateways are never deleted, and people of the console are few, with few rows. */
const rarelyDeleted = ['applications', 'gateways', 'console_people'];

it('Postgres finds the rows that refer to a deleted one by an index', async () => {
  // Postgres looks in each table that refers to the row. No plan of the delete shows how.
  const withoutIndex = await sql`
    select c.conname from pg_constraint c
    where c.contype = 'f' and not c.confrelid::regclass::text = any(${rarelyDeleted})
      and not exists (
        select from pg_index i
        where i.indrelid = c.conrelid and i.indisvalid
          and (i.indkey::int2[])[0:cardinality(c.conkey) - 1] @> c.conkey
          -- The row that is deleted has no null.
          and (i.indpred is null or pg_get_expr(i.indpred, i.indrelid) = (
            select format('(%I IS NOT NULL)', a.attname) from pg_attribute a
            where a.attrelid = c.conrelid and a.attnum = c.conkey[1])))`;
  expect(withoutIndex.map(({ conname }) => conname)).toEqual([]);
});
