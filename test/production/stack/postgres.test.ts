import { spawn } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, inject, it, onTestFinished } from 'vitest';
import { connect } from '../../../postgres/driver/connection.ts';
import { freePort } from '../../../stack/ports.ts';
import { startPostgres } from '../../../stack/postgres.ts';
import { copyCluster } from '../../support/runner/cluster.ts';
import { aFolder } from '../../support/stack/support.ts';

const start = async (dataDir: string) => {
  const postgres = await startPostgres({ dataDir, port: await freePort() });
  onTestFinished(postgres.stop);
  return postgres;
};

/** A data folder that initdb has made before. */
const aCluster = () => copyCluster(inject('postgresTemplate'), join(aFolder(), 'postgres'));

const query = async <T>(url: string, text: string): Promise<T[]> => {
  const sql = connect(url, { name: 'test', max: 1 });
  try {
    return [...(await sql.unsafe<(T & object)[]>(text))];
  } finally {
    await sql.end();
  }
};

const keep = (url: string) => query(url, 'create table kept as select 42 as answer');
const kept = (url: string) => query<{ answer: number }>(url, 'select answer from kept');

const isRoot = process.getuid?.() === 0;

describe('startPostgres', () => {
  it('makes a database with UTF-8 text, on loopback only, and stops it cleanly', async () => {
    const { url, stop, exited } = await start(join(aFolder(), 'postgres'));

    const [row] = await query(
      url,
      `select current_database() as database, current_setting('server_encoding') as encoding,
        current_setting('listen_addresses') as addresses`,
    );

    expect(row).toEqual({ database: 'payments', encoding: 'UTF8', addresses: '127.0.0.1' });
    await stop();
    expect(await exited).toBe('ended with code 0');
  });

  it('stops a Postgres that still runs on the folder', async () => {
    const dataDir = aCluster();
    const orphan = await start(dataDir);
    await keep(orphan.url);

    const second = await start(dataDir);

    expect(await orphan.exited).toBe('ended with code 0');
    expect(await kept(second.url)).toEqual([{ answer: 42 }]);
  });

  it.each<[string, (text: string, pid: number) => string]>([
    ['names the killed process', (text) => text],
    [
      'names another process, which has the same pid now',
      (text, pid) => text.replace(String(pid), String(process.pid)),
    ],
    ['is empty', () => ''],
  ])('recovers after a kill -9 when postmaster.pid %s', async (_, edit) => {
    const dataDir = aCluster();
    const killed = await start(dataDir);
    await keep(killed.url);
    process.kill(killed.pid, 'SIGKILL');
    await killed.exited;
    const file = join(dataDir, 'postmaster.pid');
    writeFileSync(file, edit(readFileSync(file, 'utf8'), killed.pid));

    const second = await start(dataDir);

    expect(await kept(second.url)).toEqual([{ answer: 42 }]);
  });

  it('makes a new data folder while the initdb of a killed start still empties its own', async () => {
    const folder = aFolder();
    const dataDir = join(folder, 'postgres');
    const former = `${dataDir}.partial`;
    mkdirSync(former);
    const cleaning = `until [ -e ${former}/base ]; do sleep 0.01; done; rm -rf ${former}/*`;
    const initdb = spawn('sh', ['-c', cleaning], { stdio: 'ignore' });
    onTestFinished(() => void initdb.kill());

    const { url } = await start(dataDir);

    await expect(keep(url)).resolves.toBeDefined();
    expect(readdirSync(folder)).toEqual(['postgres']);
  });

  it('says why it does not start', async () => {
    const other = createServer();
    const port = await freePort();
    await new Promise<void>((resolve) => other.listen(port, '127.0.0.1', resolve));
    onTestFinished(() => void other.close());

    const starting = startPostgres({ dataDir: join(aFolder(), 'postgres'), port });

    await expect(starting).rejects.toThrow(/^The embedded Postgres did not start \(.+\)/);
  });

  it.runIf(isRoot)('as root, works below a folder that others cannot enter', async () => {
    const closed = mkdtempSync(join(tmpdir(), 'payments-test-'));
    onTestFinished(() => rmSync(closed, { recursive: true }));
    const dataDir = join(closed, 'postgres');
    const first = await start(dataDir);
    const apart = readlinkSync(dataDir);
    onTestFinished(() => rmSync(dirname(apart), { recursive: true }));
    await keep(first.url);
    await first.stop();

    const second = await start(dataDir);

    expect(apart).toMatch(/^\/var\/lib\/payments\//);
    expect(await kept(second.url)).toEqual([{ answer: 42 }]);
    await second.stop();
  });
});
