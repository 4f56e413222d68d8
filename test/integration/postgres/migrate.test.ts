import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { migrate } from '../../../postgres/migrate.ts';
import { readMigrations } from '../../../postgres/migration-files.ts';
import { holdLock } from '../../support/data/hold-lock.ts';
import { aDatabase, type Database } from '../../support/data/database.ts';

let database: Database;
let folder: string;
let files: URL;
beforeEach(async () => {
  database = await aDatabase({ template: 'template0' });
  folder = mkdtempSync(join(tmpdir(), 'migrations-'));
  files = pathToFileURL(`${folder}/`);
});
afterEach(async () => {
  await database.drop();
  rmSync(folder, { recursive: true, force: true });
});

const write = (name: string, text: string) => writeFileSync(join(folder, name), text);
const run = (version?: string, patience?: number) =>
  migrate(database.sql, {
    migrations: readMigrations(files),
    ...(version && { version }),
    ...(patience !== undefined && { patience }),
  });
const exists = async (name: string): Promise<boolean> => {
  const [row] = await database.sql<{ oid: string | null }[]>`select to_regclass(${name}) as oid`;
  return row?.oid !== null;
};

describe('migrate', () => {
  it('creates the schema in an empty database, and changes nothing the second time', async () => {
    expect(await migrate(database.sql)).toContain('0001_schema.sql');
    expect(await exists('payments')).toBe(true);
    // Anyone with the link of a sandbox payment can make it paid, so only an admin adds that gateway.
    expect(await database.sql`select slug from gateways`).toEqual([]);
    expect(await migrate(database.sql)).toEqual([]);
  });

  it('applies each file once when several processes start at the same time', async () => {
    write('0001_a.sql', 'create table a (id int); insert into a values (1);');
    write('0002_b.sql', '-- no-transaction\ncreate index concurrently a__id on a (id)');
    const results = await Promise.all([run(), run(), run(), run()]);
    expect(results.filter(({ length }) => length > 0)).toEqual([['0001_a.sql', '0002_b.sql']]);
    expect(await database.sql`select from a`).toHaveLength(1);
  });

  it('applies only the files that were added', async () => {
    write('0001_a.sql', 'create table a ()');
    await run();
    write('0002_b.sql', 'create table b ()');
    expect(await run()).toEqual(['0002_b.sql']);
  });

  it('rejects a file that was edited after it was applied, and applies nothing', async () => {
    write('0001_a.sql', 'create table a ()');
    await run();
    write('0001_a.sql', 'create table a (id int)');
    write('0002_b.sql', 'create table b ()');
    await expect(run()).rejects.toThrow('0001_a.sql was edited');
    expect(await exists('b')).toBe(false);
  });

  it('rejects a database that is newer than the program', async () => {
    write('0001_a.sql', 'create table a ()');
    write('0002_b.sql', 'create table b ()');
    await run();
    rmSync(join(folder, '0002_b.sql'));
    await expect(run()).rejects.toThrow('0002_b.sql, which is unknown to this version');
  });

  it.each([
    ['two files with one number', ['0001_a.sql', '0001_b.sql'], '0001_b.sql is not number 0002'],
    ['a number that is left out', ['0001_a.sql', '0003_b.sql'], '0003_b.sql is not number 0002'],
  ])('rejects %s, and applies nothing', async (_, names, message) => {
    for (const name of names) write(name, 'create table a ()');
    expect(() => run()).toThrow(message);
    expect(await exists('a')).toBe(false);
  });

  it('records each version once, the first and the last by their times', async () => {
    write('0001_a.sql', 'create table a ()');
    for (const version of ['1.0.0', '1.0.1', '1.1.0', '1.1.0']) await run(version);
    expect(
      (await database.sql`select version from versions order by migrated_at`).map(
        (row) => row['version'],
      ),
    ).toEqual(['1.0.0', '1.0.1', '1.1.0']);
  });

  it.each([
    ['1.2.3', 'upgrade to 1.1 first'],
    ['0.9.0', 'opens none of another major version'],
    ['2.0.0', 'opens none of another major version'],
  ])('rejects %s on a database of 1.0.1, and applies nothing', async (version, message) => {
    write('0001_a.sql', 'create table a ()');
    await run('1.0.1');
    write('0002_b.sql', 'create table b ()');
    await expect(run(version)).rejects.toThrow(message);
    expect(await exists('b')).toBe(false);
  });

  it('leaves the database of the next minor version as it is, and rejects a later one', async () => {
    write('0001_a.sql', 'create table a ()');
    write('0002_b.sql', 'create table b ()');
    await run('1.2.0');
    rmSync(join(folder, '0002_b.sql'));
    expect(await run('1.1.4')).toEqual([]);
    expect(await database.sql`select version from versions`).toEqual([{ version: '1.2.0' }]);
    await expect(run('1.0.4')).rejects.toThrow('newer than this program, 1.0.4: start 1.2.0');
  });

  it('lets the version before go on after migrations that stopped half-way, and then finishes them', async () => {
    write('0001_a.sql', 'create table a ()');
    await run('1.0.0');
    write('0002_b.sql', 'create table b ()');
    write('0003_c.sql', 'insert into missing values (1)');
    await expect(run('1.1.0')).rejects.toThrow('0003_c.sql failed');
    rmSync(join(folder, '0003_c.sql'));
    rmSync(join(folder, '0002_b.sql'));
    expect(await run('1.0.0')).toEqual([]);

    write('0002_b.sql', 'create table b ()');
    write('0003_c.sql', 'create table c ()');
    await expect(run('1.2.0')).rejects.toThrow('upgrade to 1.1 first');
    expect(await run('1.1.0')).toEqual(['0003_c.sql']);
    expect(await run('1.2.0')).toEqual([]);
  });

  it('rejects a database that was made before versions were recorded', async () => {
    write('0001_a.sql', 'create table a ()');
    await run();
    await database.sql`drop table versions`;
    await expect(run()).rejects.toThrow('made before 1.0.0');
  });

  it('rolls back a file that fails, names it, and can retry it', async () => {
    write('0001_a.sql', 'create table a ()');
    write('0002_b.sql', 'create table b (); insert into missing values (1);');
    await expect(run()).rejects.toThrow(/0002_b\.sql failed: .*"missing" does not exist/);
    expect([await exists('a'), await exists('b')]).toEqual([true, false]);
    write('0002_b.sql', 'create table b ()');
    expect(await run()).toEqual(['0002_b.sql']);
  });

  it('rebuilds an index that is incomplete, or whose file is not recorded as applied', async () => {
    write('0001_a.sql', 'create table a (id int); insert into a values (1), (1);');
    write('0002_b.sql', '-- no-transaction\ncreate unique index concurrently a__id on a (id)');
    await expect(run()).rejects.toThrow(/0002_b\.sql failed: .*could not create unique index/);
    await database.sql`delete from a`;
    expect(await run()).toEqual(['0002_b.sql']);
    await database.sql`delete from migrations where name = '0002_b.sql'`;
    expect(await run()).toEqual(['0002_b.sql']);
    const [row] = await database.sql`
      select indisvalid as valid from pg_index where indexrelid = 'a__id'::regclass`;
    expect(row).toEqual({ valid: true });
  });

  it('rolls back a file that cannot be recorded as applied', async () => {
    write('0001_a.sql', 'create table a (); drop table migrations;');
    await expect(run()).rejects.toThrow(/0001_a\.sql failed/);
    expect([await exists('a'), await exists('migrations')]).toEqual([false, true]);
  });

  it('names the file and the cause when the connection is lost, and can retry it', async () => {
    write('0001_a.sql', 'create table a (id int); select pg_terminate_backend(pg_backend_pid());');
    await expect(run()).rejects.toThrow(/0001_a\.sql failed: .*(terminating|CONNECTION_CLOSED)/);
    write('0001_a.sql', 'create table a (id int);');
    expect(await run()).toEqual(['0001_a.sql']);
  });

  it('lifts statement_timeout for a file, and restores it afterwards', async () => {
    write('0001_a.sql', `create table a as select current_setting('statement_timeout') as allowed`);
    await run();
    expect(await database.sql`select allowed from a`).toEqual([{ allowed: '0' }]);
    const limits = await Promise.all(
      Array.from(
        { length: 10 },
        () => database.sql`select current_setting('statement_timeout') as l`,
      ),
    );
    expect(new Set(limits.map(([row]) => row?.['l']))).toEqual(new Set(['10s']));
  });

  it('blocks other queries only briefly while it waits for a table lock', async () => {
    write('0001_a.sql', 'create table a (id int)');
    await run();
    write('0002_b.sql', 'alter table a add column b int');
    const reader = await holdLock(database.sql, (tx) => tx`select from a`);
    const migrating = run();
    await reader.blocked('the migration');
    // Behind a migration that does not give up, this insert would wait for the release below.
    await database.sql`insert into a values (1)`;
    await reader.release();
    expect(await migrating).toEqual(['0002_b.sql']);
    expect(await database.sql`select b from a`).toEqual([{ b: null }]);
  });

  it.each([
    ['', 'alter table a add column b int'],
    ['-- no-transaction\n', 'create index concurrently a__id on a (id)'],
  ])('fails with what to do when a transaction keeps its table: %s%s', async (head, statement) => {
    write('0001_a.sql', 'create table a (id int)');
    await run('1.0.0');
    write('0002_b.sql', `${head}${statement}`);
    write('0003_c.sql', 'create table c ()');
    const reader = await holdLock(database.sql, (tx) => tx`lock table a in access exclusive mode`);
    await expect(run('1.1.0', 0)).rejects.toThrow(
      '0002_b.sql got no lock on its table: end the transaction that holds it',
    );
    expect(await exists('c')).toBe(false);
    await reader.release();
    expect(await run('1.1.0', 0)).toEqual(['0002_b.sql', '0003_c.sql']);
  });
});
