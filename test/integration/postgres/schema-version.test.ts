import { expect, it } from 'vitest';
import { migrate } from '../../../postgres/migrate.ts';
import { readMigrations } from '../../../postgres/migration-files.ts';
import { checkSchema, checkSchemaAtStart } from '../../../postgres/schema-version.ts';
import { SetupError } from '../../../process.ts';
import { aDatabase } from '../../support/data/database.ts';
import { forFile } from '../../support/for-file.ts';

const migrations = readMigrations();
const next = { name: '0002_more.sql', text: 'create table more ()', sha256: 'b' };
const both = [...migrations, next];

/** A database that these versions have migrated, one after the other. */
const migratedBy = async (...versions: string[]) => {
  const database = await forFile(aDatabase({ template: 'template0' }));
  for (const version of versions)
    await migrate(database.sql, {
      version,
      migrations: version.startsWith('1.0.') ? migrations : both,
    });
  return database.sql;
};

it.each([
  ['the version that migrated it', ['1.0.0'], '1.0.0', migrations],
  ['another patch of it', ['1.0.3'], '1.0.0', migrations],
  ['the minor version before, after an upgrade', ['1.0.0', '1.1.0'], '1.0.0', migrations],
  ['the version that migrated it last', ['1.0.0', '1.1.0'], '1.1.0', both],
])('a database takes %s', async (_, by, version, files) => {
  const checked = checkSchema(await migratedBy(...by), { version, migrations: files });
  await expect(checked).resolves.toBeUndefined();
});

it.each([
  [
    'a version whose migrations have not run',
    ['1.0.0'],
    '1.1.0',
    both,
    '1.0.0 has migrated the database, and this program, 1.1.0, needs 0002_more.sql, too: run the migrations of 1.1.0 (postgres/main.ts; deploy/upgrade.sh does).',
  ],
  [
    'a version two minor versions older',
    ['1.0.0', '1.1.0', '1.2.0'],
    '1.0.9',
    migrations,
    '1.2.0 has migrated the database, which this program, 1.0.9, cannot use: start 1.2.0, or restore a backup of 1.0.9.',
  ],
  [
    'an older major version',
    ['2.0.0'],
    '1.9.0',
    migrations,
    '2.0.0 has migrated the database, which this program, 1.9.0, cannot use: start 2.0.0, or restore a backup of 1.9.0.',
  ],
])('a database refuses %s', async (_, by, version, files, message) => {
  const checked = checkSchema(await migratedBy(...by), { version, migrations: files });
  await expect(checked).rejects.toEqual(new SetupError(message));
});

it('a file without a transaction that ran in part counts as one that has not run', async () => {
  const sql = await migratedBy('1.0.0');
  const half = {
    name: '0002_half.sql',
    text: '-- no-transaction\ncreate table half (); insert into missing values (1);',
    sha256: 'c',
  };
  const version = '1.1.0';
  const files = [...migrations, half];
  await expect(migrate(sql, { version, migrations: files })).rejects.toThrow(
    '0002_half.sql failed',
  );
  await expect(checkSchema(sql, { version, migrations: files })).rejects.toThrow(
    'needs 0002_half.sql',
  );
  await checkSchema(sql, { version: '1.0.0', migrations });
});

it('an empty database is refused with what to do', async () => {
  const { sql } = await forFile(aDatabase({ template: 'template0' }));
  await expect(checkSchemaAtStart(sql)).rejects.toThrow(
    /no schema that \S+ knows: run its migrations/,
  );
});
