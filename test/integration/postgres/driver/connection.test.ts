import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { isPostgresUnavailable } from '../../../../postgres/driver/error-codes.ts';
import { aDatabase } from '../../../support/data/database.ts';
import { forFile } from '../../../support/for-file.ts';

const { sql } = await forFile(aDatabase());

it('has Postgres end slow queries and transactions that stay idle', async () => {
  const limits = await sql`
    select name, setting from pg_settings
    where name in ('statement_timeout', 'idle_in_transaction_session_timeout') order by name`;
  expect(limits).toEqual([
    { name: 'idle_in_transaction_session_timeout', setting: '30000' },
    { name: 'statement_timeout', setting: '10000' },
  ]);
});

it('writes and reads arrays of texts unchanged', async () => {
  const text = fc.string({ unit: fc.constantFrom(...'aZ09 "\\\'{},\n\té\u2028😀') });
  const texts = fc.array(fc.oneof(text, fc.constantFrom('', 'NULL', 'null')));
  await fc.assert(
    fc.asyncProperty(texts, async (given) => {
      const [row] = await sql`
        select ${given}::text[] as back, cardinality(${given}::text[]) as length,
          ${given[0] ?? ''} = any(${given}::text[]) as found`;
      expect(row).toEqual({ back: given, length: given.length, found: given.length > 0 });
    }),
  );
});

it('reports a read-only server as unavailable: it may have been the primary until now', async () => {
  const refusal = await sql
    .begin('read only', (tx) => tx`delete from workflow_outbox`)
    .catch((error: unknown) => error);
  expect(refusal).toMatchObject({ code: '25006' });
  expect(isPostgresUnavailable(refusal)).toBe(true);
});
