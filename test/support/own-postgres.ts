import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import postgres from 'postgres';
import { connect } from '../../postgres/driver/connection.ts';
import { migrate } from '../../postgres/migrate.ts';
import { freePort } from '../../stack/ports.ts';
import type { RunningPostgres } from '../../stack/postgres.ts';
import { startPostgres } from '../../stack/postgres.ts';
import { until } from './until.ts';

/**
 * A migrated Postgres server of a test's own: to be stopped and started, or to tell in its log what
 * it does.
 */
export const startOwnPostgres = async (settings: Record<string, string> = {}) => {
  const folder = mkdtempSync(join(tmpdir(), 'payments-postgres-'));
  chmodSync(folder, 0o711);
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
    rmSync(folder, { recursive: true, force: true });
  };
  await migrate(sql).catch(async (error: unknown) => {
    await drop();
    throw error;
  });
  return {
    sql,
    url,
    /** Its log. */
    lines,
    start,
    stop: async () => running?.stop(),
    /** It only reads, as a primary of before a failover; it must be stopped. @returns what makes it write */
    async startStandby() {
      writeFileSync(join(folder, 'data', 'standby.signal'), '');
      const started = start();
      // Not by our own pool, which wants to write.
      const reader = postgres(url, { max: 1, onnotice: () => {} });
      await until('the standby answers', () => reader`select 1`.catch(() => false));
      return async () => {
        await reader`select pg_promote()`;
        await reader.end();
        await started;
      };
    },
    /** A copy of all it holds, as a backup would be; it must be stopped. */
    save: () => execFileSync('cp', ['-a', join(folder, 'data'), join(folder, 'saved')]),
    /** It holds what it held then; it must be stopped. */
    restore() {
      rmSync(join(folder, 'data'), { recursive: true });
      execFileSync('cp', ['-a', join(folder, 'saved'), join(folder, 'data')]);
    },
    /** Nothing is answered any more, and no connection breaks. @returns what lets it go on */
    async freeze() {
      const server = running?.pid;
      if (server === undefined) throw new Error('There is no server to freeze.');
      const frozen: number[] = [];
      // The server first, so that none is born after it; and it goes on last, so that none is gone.
      for (let found = [server]; found.length > 0;) {
        for (const pid of found) process.kill(pid, 'SIGSTOP');
        frozen.unshift(...found);
        await sleep(20);
        found = childrenOf(server).filter((pid) => !frozen.includes(pid));
      }
      return () => void frozen.map((pid) => process.kill(pid, 'SIGCONT'));
    },
    drop,
  };
};

/** As Linux tells it. */
const childrenOf = (parent: number): number[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && statusOf(name).includes(`\nPPid:\t${parent}\n`))
    .map(Number);

const statusOf = (pid: string): string => {
  try {
    return readFileSync(`/proc/${pid}/status`, 'utf8');
  } catch {
    return ''; // It has just ended.
  }
};
