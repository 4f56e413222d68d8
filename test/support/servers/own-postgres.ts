import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import postgres from 'postgres';
import { inject } from 'vitest';
import { removeFolder } from '../remove-folder.ts';
import { connect } from '../../../postgres/driver/connection.ts';
import { migrate } from '../../../postgres/migrate.ts';
import { freePort } from '../../../stack/ports.ts';
import { startPostgres, type RunningPostgres } from '../../../stack/postgres.ts';
import { listProcesses } from '../../../stack/system-processes.ts';
import { copyCluster } from '../runner/cluster.ts';
import { until } from '../until.ts';

/** Starts a migrated Postgres server for one test or tool, which may stop and start it, or read its log. */
export const startOwnPostgres = async (settings: Record<string, string> = {}) => {
  const folder = mkdtempSync(join(tmpdir(), 'payments-postgres-'));
  chmodSync(folder, 0o711);
  // A program of tools/ runs without vitest, which provides the template.
  // oxlint-disable-next-line node/no-process-env -- Vitest says so there alone.
  const isTest = process.env['VITEST'] === 'true';
  if (isTest) copyCluster(inject('postgresTemplate'), join(folder, 'data'));
  const port = await freePort();
  const lines: string[] = [];
  let running: RunningPostgres | undefined;
  const start = async () => {
    running = await startPostgres({
      dataDir: join(folder, 'data'),
      port,
      settings: { fsync: 'off', max_connections: '100', ...settings },
      onLine: (line) => lines.push(line),
    });
    return running;
  };
  const { url } = await start();
  const sql = connect(url, { name: 'tests', max: 5 });
  const drop = async () => {
    await sql.end({ timeout: 1 });
    await running?.stop();
    removeFolder(folder);
  };
  if (!isTest) await migrate(sql);
  return {
    sql,
    url,
    /** The lines of its log. */
    lines,
    start,
    stop: async () => running?.stop(),
    /**
     * Starts the stopped server as a read-only standby, like a former primary after a failover.
     * @returns a function that promotes it
     */
    async startStandby() {
      writeFileSync(join(folder, 'data', 'standby.signal'), '');
      const started = start();
      // The service's own pool would reject a standby.
      const reader = postgres(url, { max: 1, onnotice: () => {} });
      await until('the standby answers', () => reader`select 1`.catch(() => false));
      return async () => {
        await reader`select pg_promote()`;
        await reader.end();
        await started;
      };
    },
    /** Copies the data of the stopped server, like a backup. */
    save: () => copyCluster(join(folder, 'data'), join(folder, 'saved')),
    /** Restores the saved data of the stopped server. */
    restore() {
      rmSync(join(folder, 'data'), { recursive: true });
      copyCluster(join(folder, 'saved'), join(folder, 'data'));
    },
    /** Suspends the server: it answers nothing, and no connection breaks. @returns a function that resumes it */
    async freeze() {
      const server = running?.pid;
      if (server === undefined) throw new Error('There is no server to suspend');
      const frozen: number[] = [];
      // The server is suspended first, so that it starts no further child, and resumed last, so that it
      // does not see a suspended child.
      for (let found = [server]; found.length > 0;) {
        for (const pid of found) process.kill(pid, 'SIGSTOP');
        frozen.unshift(...found);
        await sleep(20);
        found = listProcesses()
          .filter(({ pid, parent }) => parent === server && !frozen.includes(pid))
          .map(({ pid }) => pid);
      }
      return () => void frozen.map((pid) => process.kill(pid, 'SIGCONT'));
    },
    drop,
  };
};
