import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createUpkeepMetrics } from '../../../../postgres/metrics/upkeep.ts';
import { startOwnPostgres } from '../../../support/servers/own-postgres.ts';
import { operationsOn } from '../../../support/service/admin-operations.ts';
import { aCheckout } from '../../../support/stack/support.ts';
import { until } from '../../../support/until.ts';
import { forFile } from '../../../support/for-file.ts';

/** The archive refuses every file until this one is there. */
const archiveWorks = join(tmpdir(), `payments-archive-${randomUUID()}`);
const postgres = await forFile(
  startOwnPostgres({
    archive_mode: 'on',
    archive_command: `test -e ${archiveWorks}`,
    max_connections: '40',
  }).then((server) => ({
    ...server,
    drop: async () => {
      await server.drop();
      rmSync(archiveWorks, { force: true });
    },
  })),
);
const { sql } = postgres;
const measure = () => createUpkeepMetrics(sql).measure();

/**
 * Runs deploy/backup.sh. Its `docker` makes a copy of a few bytes with this command.
 * @returns the exit code, and what psql was asked to do
 */
const backup = (copy = 'echo copy | gzip') => {
  const { folder, call } = aCheckout(
    ['backup.sh'],
    [
      'case "$5" in',
      `  pg_basebackup) ${copy} ;;`,
      `  psql) for last; do :; done; echo "$last" > asked ;;`,
      'esac',
    ],
  );
  const { status } = call(['deploy/backup.sh']);
  const asked = join(folder, 'asked');
  return { status, asked: existsSync(asked) ? readFileSync(asked, 'utf8') : '' };
};

describe('upkeepMetrics', () => {
  it('has the ages of the last backup and purge, from the installation on', async () => {
    const { backupAgeSeconds, purgeAgeSeconds } = await measure();
    for (const age of [backupAgeSeconds, purgeAgeSeconds]) {
      expect(age).toBeGreaterThanOrEqual(0);
      expect(age).toBeLessThan(3_600);
    }
    await sql`update upkeep set done_at = now() - interval '2 days'`;
    const { status, asked } = backup();
    const [, statement = ''] = /^--command=(update .+)/.exec(asked) ?? [];
    expect(status).toBe(0);
    await sql.unsafe(statement);
    const later = await measure();
    expect(later.backupAgeSeconds).toBeLessThan(3_600);
    expect(later.purgeAgeSeconds).toBeGreaterThanOrEqual(2 * 86_400);
  });

  it.each(['echo copy | gzip; exit 1', 'echo copy | gzip | head -c 20'])(
    'counts no backup that was cut off (%s)',
    (copy) => {
      const { status, asked } = backup(copy);
      expect([status, asked]).toEqual([1, '']);
    },
  );

  it('counts a purge that has left nothing, and none that its limit ended', async () => {
    await sql`update upkeep set done_at = now() - interval '2 days'`;
    const { purge } = operationsOn(sql);
    await purge(0, null);
    expect((await measure()).purgeAgeSeconds).toBeGreaterThanOrEqual(2 * 86_400);
    await purge(1_000, null);
    expect((await measure()).purgeAgeSeconds).toBeLessThan(3_600);
  });

  it('counts the connections of the server', async () => {
    const { connectionsRatio } = await measure();
    expect(connectionsRatio).toBeGreaterThan(0);
    expect(connectionsRatio).toBeLessThan(1);
    expect(connectionsRatio * 40).toBeCloseTo(Math.round(connectionsRatio * 40));
  });

  it('has the age of the oldest transaction', async () => {
    const { transactionAge } = await measure();
    await sql`select pg_current_xact_id()`;
    expect((await measure()).transactionAge).toBeGreaterThan(transactionAge);
  });

  it('says that WAL could not be archived, until it can', async () => {
    const archives = (state: number) =>
      until(`the state of the archive is ${state}`, async () => {
        // Something to archive, at once: Postgres waits for a minute after three failures.
        await sql`update upkeep set done_at = now()`;
        await sql`select pg_switch_wal()`;
        return (await measure()).archiveFailing === state;
      });
    await archives(1);
    writeFileSync(archiveWorks, '');
    await expect(archives(0)).resolves.toBe(true);
  });
});
