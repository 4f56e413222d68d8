import { execFile } from 'node:child_process';
import { chownSync, realpathSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { connect } from '../postgres/driver/connection.ts';

const copy = (from: string, to: string) => promisify(execFile)('cp', ['-a', from, to]);

/**
 * Copies the data folder of a running Postgres, as pg_basebackup does, which the embedded Postgres lacks.
 * @returns what puts the copy in the place of the folder, while Postgres is stopped
 */
export const backUp = async (
  { databaseUrl, dataDir }: { databaseUrl: string; dataDir: string },
  to: string,
): Promise<{ restore(): Promise<void> }> => {
  const from = realpathSync(dataDir);
  // Postgres forgets a backup whose session ends.
  const sql = connect(databaseUrl, { name: 'payments-restore-drill', max: 1, patient: true });
  try {
    await sql`select pg_backup_start('restore drill', true)`;
    await copy(from, to).catch((error: Error) => {
      // Postgres may remove files meanwhile; the write-ahead log says so, too.
      if (!/^Command failed[^\n]*\n(cp: [^\n]*No such file or directory\n?)+$/.test(error.message))
        throw error;
    });
    const [stopped] = await sql<{ label: string }[]>`
      select labelfile as label from pg_backup_stop(wait_for_archive => false)`;
    for (const name of ['pg_wal', 'postmaster.pid', 'postmaster.opts'])
      rmSync(join(to, name), { recursive: true, force: true });
    await copy(join(from, 'pg_wal'), to);
    const { uid, gid } = statSync(from);
    writeFileSync(join(to, 'backup_label'), stopped?.label ?? '', { mode: 0o600 });
    chownSync(join(to, 'backup_label'), uid, gid);
  } finally {
    await sql.end();
  }
  return {
    async restore() {
      rmSync(from, { recursive: true });
      await copy(to, from);
    },
  };
};
