import { version as ownVersion } from '../contract/version.ts';
import { SetupError } from '../process.ts';
import type { Queries } from './driver/sql.ts';
import { listMigrations } from './migration-files.ts';

const undefinedTable = '42P01';

const partsOf = (version: string) => {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return { major, minor };
};

/** How many minor versions `version` is after `other`; undefined when their majors differ. */
const minorsAfter = (version: string, other: string): number | undefined => {
  const [a, b] = [partsOf(version), partsOf(other)];
  return a.major === b.major ? a.minor - b.minor : undefined;
};

/**
 * Whether a database that `last` has migrated is one minor version newer. It has all that this version needs: a migration only
 * adds, and columns go one minor later. So both versions run side by side during an upgrade, and the older one can come back.
 */
export const isOfNextMinor = (last: string, version = ownVersion): boolean =>
  minorsAfter(last, version) === 1;

/**
 * Why a version may not migrate a database that `last` has migrated; undefined when it may. A minor version knows the data of the
 * one before it, see `docs/releasing.md`.
 */
export const whyNotUpgrade = (last: string, version = ownVersion): string | undefined => {
  const minors = minorsAfter(version, last);
  if (minors === undefined)
    return `${last} has migrated this database, and ${version} opens none of another major version: docs/releasing.md says which version comes between`;
  if (minors < 0)
    return `${last} has migrated this database, which is newer than this program, ${version}: start ${last}`;
  if (minors > 1) {
    const { major, minor } = partsOf(last);
    return `${last} has migrated this database, and ${version} skips a minor version: upgrade to ${major}.${minor + 1} first`;
  }
  return undefined;
};

interface Known {
  version?: string;
  migrations?: readonly { name: string }[];
}

/**
 * Refuses a database that this program cannot use: one that lacks a migration of this version, or one that a version later than the
 * next minor has migrated.
 * @throws SetupError with both versions and what to do
 */
export const checkSchema = async (
  sql: Queries,
  { version = ownVersion, migrations = listMigrations() }: Known = {},
): Promise<void> => {
  const [row] = await sql<{ names: string[]; last: string | null }[]>`
    select array(select name from migrations) as names,
      (select version from versions order by begun_at desc limit 1) as last`.catch(
    (error: unknown) => {
      if (error instanceof Error && 'code' in error && error.code === undefinedTable)
        throw new SetupError(
          `The database has no schema that ${version} knows: run its migrations (postgres/main.ts).`,
        );
      throw error;
    },
  );
  const last = row?.last ?? version;
  const missing = migrations.find(({ name }) => !row?.names.includes(name));
  if (missing)
    throw new SetupError(
      `${last} has migrated the database, and this program, ${version}, needs ${missing.name}, too: run the migrations of ${version} (postgres/main.ts; deploy/upgrade.sh does).`,
    );
  const minors = minorsAfter(last, version);
  if (minors === undefined || minors > 1)
    throw new SetupError(
      `${last} has migrated the database, which this program, ${version}, cannot use: start ${last}, or restore a backup of ${version}.`,
    );
};

/** The same at the start of a process, which has no other use of the database before. @throws SetupError for every error */
export const checkSchemaAtStart = (sql: Queries): Promise<void> =>
  checkSchema(sql).catch((error: unknown) => {
    if (error instanceof SetupError) throw error;
    throw new SetupError(
      `Cannot use the database (${String(error)}): check DATABASE_URL, and that deploy/roles.sql has run for a login of its own.`,
    );
  });
