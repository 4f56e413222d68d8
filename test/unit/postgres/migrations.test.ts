import { expect, it } from 'vitest';
import { version } from '../../../contract/version.ts';
import { readMigrations } from '../../../postgres/migration-files.ts';
import { readProjectFile } from '../../support/checks/project-files.ts';

/** Its statements without comments; a function's body stays one. */
const statementsOf = (text: string): string[] => {
  const bodies: string[] = [];
  const kept = text
    .replaceAll(/(\$\w*\$)[\s\S]*?\1/g, (body) => `$${bodies.push(body)}$`)
    .replaceAll(/--.*$/gm, '');
  return kept
    .split(';')
    .map((statement) => statement.replaceAll(/\s+/g, ' ').trim().toLowerCase())
    .filter(Boolean);
};

/** What the minor version before, which runs on the same schema, does not notice. Each waits for locks of a moment. */
const adding = [
  /^create table (?!as)\w+ \((?!.* as select )/,
  /^create (unique )?index concurrently \w+ on /,
  /^create( or replace)? (function|trigger|policy) /,
  /^create sequence /,
  /^alter table \w+ (add column \w+ (?!.*(not null(?!.* default)|references| unique|primary key))[^,]+(, |$))+$/,
  /^alter table \w+ add constraint \w+ (check|foreign key) .* not valid$/,
  /^alter table \w+ (validate constraint \w+|enable row level security|alter column \w+ drop not null)$/,
  /^comment on /,
];
const dropping =
  /^(drop (index concurrently|table|trigger|function|policy)|alter table \w+ drop (column|constraint)) /;

/** Whether nothing of the minor before `version` uses what the file drops: its head says since when. */
const isUnused = (text: string): boolean => {
  const [, major, minor] = /^-- unused since (\d+)\.(\d+)$/m.exec(text) ?? [];
  const [ownMajor, ownMinor] = version.split('.');
  return major === ownMajor && Number(minor) < Number(ownMinor);
};

/**
 * Postgres records a file without a transaction after its statement. A crash between the two has the statement run again, of which
 * an index that is made is dropped before.
 */
const canRunAgain = (text: string): boolean => {
  const statements = statementsOf(text);
  return (
    !text.startsWith('-- no-transaction') ||
    (statements.length === 1 &&
      /^(create (unique )?index concurrently \w+ on|drop index concurrently if exists) /.test(
        statements[0] ?? '',
      ))
  );
};

/** An index that blocks the writers of its table while it is made: the table has none before. */
const isOfNewTable = (statement: string, text: string): boolean => {
  const [, table = ''] = /^create (?:unique )?index \w+ on (\w+) /.exec(statement) ?? [];
  return (
    table !== '' && statementsOf(text).some((each) => each.startsWith(`create table ${table} (`))
  );
};

/** The statements that a migration after the first may not have. */
const refusedOf = (text: string): string[] =>
  statementsOf(text).filter(
    (statement) =>
      !canRunAgain(text) ||
      (!adding.some((allowed) => allowed.test(statement)) &&
        !isOfNewTable(statement, text) &&
        !(dropping.test(statement) && isUnused(text))),
  );

it('no migration has changed: test/support/checks/migrations.txt only grows', () => {
  const listed = readProjectFile('test/support/checks/migrations.txt').trimEnd().split('\n');
  const found = readMigrations().map(({ name, sha256 }) => `${sha256}  ${name}`);
  expect(
    listed.filter((line) => !found.includes(line)),
    'Databases have these as they were released. Restore them, and add a file: "A migration" in CONTRIBUTING.md.',
  ).toEqual([]);
  expect(
    found.filter((line) => !listed.includes(line)),
    'Add these lines to test/support/checks/migrations.txt.',
  ).toEqual([]);
});

it('each later migration only adds, or drops what the minor version before has stopped using', () => {
  const [first, ...later] = readMigrations();
  expect(first?.name).toBe('0001_schema.sql');
  expect(
    later.flatMap(({ name, text }) => refusedOf(text).map((each) => `${name}: ${each}`)),
  ).toEqual([]);
});

it.each([
  'alter table payments add column note text',
  'alter table payments add column note text, add column size int not null default 0',
  'create table notes (id uuid primary key, payment_id text not null references payments (id))',
  'create table notes (text text); create index notes__text on notes (text)',
  '-- no-transaction\ncreate index concurrently payments__note on payments (note)',
  'create or replace function f() returns trigger language plpgsql as $$ begin drop table a; end $$',
  'alter table payments add constraint c check (amount > 0) not valid; alter table payments validate constraint c',
])('takes %j', (text) => expect(refusedOf(text)).toEqual([]));

it.each([
  'alter table payments drop column note',
  'alter table payments rename column note to text',
  'alter table payments alter column amount type int',
  'alter table payments alter column note set not null',
  'alter table payments add column note text not null',
  'alter table payments add column note text, drop column amount',
  'alter table payments add column a int, add column b int not null',
  'alter table payments add column other text references payments (id)',
  'alter table payments add constraint c check (amount > 0)',
  'create unique index payments__note on payments (note)',
  'create index payments__note on payments (note)',
  'drop table payments',
  '-- unused since 9.9\ndrop table payments',
  `update payments set note = ''`,
  'truncate payments',
  'create table copy as select * from payments',
  '-- no-transaction\nalter table payments add column note text',
])('refuses %j', (text) => expect(refusedOf(text)).toHaveLength(1));
