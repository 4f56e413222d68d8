import { randomUUID } from 'node:crypto';
import { execFile, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newPaymentId } from '../../../../contract/ids.ts';
import { aKeyRing } from '../../../support/service/admin-operations.ts';
import { startRecords } from '../../../support/data/records.ts';
import { until } from '../../../support/until.ts';
import { forFile } from '../../../support/for-file.ts';

const keyRing = aKeyRing();
const records = await forFile(startRecords());

describe('admin/cli/main.ts', () => {
  const entry = join(import.meta.dirname, '../../../../admin/cli/main.ts');
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'payments-admin-'));
    const facts = {
      database_url: records.url,
      temporal_address: '127.0.0.1:9',
      temporal_namespace: 'default',
      temporal_ui_url: 'http://127.0.0.1:8233',
    };
    writeFileSync(join(folder, 'connection.json'), JSON.stringify(facts));
    const key = keyRing.keys.get('k1')?.toString('base64');
    for (const name of ['secrets-key', 'webhooks-key', 'notifications-key'])
      writeFileSync(join(folder, name), `k1:${key}\n`);
  });
  afterAll(() => rmSync(folder, { recursive: true }));
  const run = (line: string[], options: { env?: Record<string, string>; uid?: number } = {}) =>
    promisify(execFile)(process.execPath, [entry, ...line], {
      env: { DATA_DIR: folder },
      ...options,
    });

  it('uses the embedded stack without settings, and exits', async () => {
    // An .env file leaves empty variables, which count as not set.
    const env = { DATA_DIR: folder, DATABASE_URL: '', TEMPORAL_ADDRESS: '' };
    const { stdout } = await run(['applications', 'show', 'shop', '--json'], { env });
    expect(JSON.parse(stdout)).toMatchObject({ slug: 'shop' });
    const { id } = await records.ended('paid');
    const shown = await run(['payments', 'show', id]);
    expect(shown.stdout).toContain(`http://127.0.0.1:8233/namespaces/default/workflows/${id}`);
  });

  it('reads piped credentials', async () => {
    const line = [entry, 'gateways', 'add', 'piped', '--driver', 'zarinpal', '--kind', 'live'];
    const child = spawn(process.execPath, line, { env: { DATA_DIR: folder } });
    child.stdin.end(`{"merchantId":"${randomUUID()}"}\n`);
    const output = await Promise.all([text(child.stdout), text(child.stderr)]);
    expect(output).toEqual(['Added: piped\n', '']);
  });

  it('finishes its work when the reader of its output is gone', async () => {
    const line = [entry, 'applications', 'update', 'shop', '--requests-per-minute', '77', '--json'];
    const child = spawn(process.execPath, line, { env: { DATA_DIR: folder } });
    child.stdout.destroy();
    const [stderr, [code]] = await Promise.all([text(child.stderr), once(child, 'exit')]);
    expect([stderr, code]).toEqual(['', 0]);
    const [shop] = await records.sql`
      select requests_per_minute as "perMinute" from applications where slug = 'shop'`;
    expect(shop).toEqual({ perMinute: 77 });
  });

  it('reports a cancelled statement, not a missing database', async () => {
    await records.sql.begin(async (tx) => {
      await tx`lock table applications in access exclusive mode`;
      const line = [entry, 'applications', 'list'];
      const child = spawn(process.execPath, line, { env: { DATA_DIR: folder } });
      // As the statement timeout does after 10 seconds.
      await until('the statement waits and is cancelled', async () => {
        const [row] = await records.sql`
          select pg_cancel_backend(pid) from pg_stat_activity
          where datname = current_database() and wait_event_type = 'Lock'`;
        return row !== undefined;
      });
      const [stderr, [code]] = await Promise.all([text(child.stderr), once(child, 'exit')]);
      expect([stderr, code]).toEqual([
        expect.stringMatching(/^A statement exceeded its time limit/),
        1,
      ]);
    });
  });

  it('purges payments only if KEEP_PAYMENTS_DAYS is set', async () => {
    const id = `PAY_${'0'.repeat(10)}${newPaymentId().slice(14)}`;
    const createdAt = new Date(Date.now() - 200 * 24 * 3_600_000);
    await records.ended('paid', { id, createdAt, application: 'quiet' });
    const purged = async (env: Record<string, string>) => {
      const options = { env: { DATA_DIR: folder, ...env } };
      const { stdout } = await run(['purge', '--yes', '--json'], options);
      return (JSON.parse(stdout) as { payments: number }).payments;
    };
    expect(await purged({})).toBe(0);
    expect(await purged({ KEEP_PAYMENTS_DAYS: '201' })).toBe(0);
    expect(await purged({ KEEP_PAYMENTS_DAYS: '199' })).toBe(1);
  });

  const unknownUid = 54_321;
  const mayRead = (uid: number): boolean =>
    process.getuid?.() === 0 &&
    spawnSync(process.execPath, ['-e', `require('fs').readFileSync('${entry}')`], { uid })
      .status === 0;
  it.runIf(mayRead(unknownUid))('works for a user id without a name', async () => {
    const env = { DATABASE_URL: records.url };
    await run(['applications', 'disable', 'shop'], { env, uid: unknownUid });
    const [change] = await records.sql`select actor from audit_log order by id desc limit 1`;
    expect(change).toEqual({ actor: `uid ${unknownUid}` });
  });

  it.each([
    [{}, /DATABASE_URL: is missing/],
    [{ DATABASE_URL: 'postgres://u:hidden@127.0.0.1:9/none' }, /Could not connect to the database/],
  ])('prints one sentence and exits with 1 without a database', async (env, sentence) => {
    const options = { env: { DATA_DIR: join(folder, 'nothing'), ...env } };
    const failed = run(['applications', 'list'], options);
    const error: unknown = await failed.catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: 1, stderr: expect.stringMatching(sentence) });
    expect(error).toMatchObject({ stderr: expect.not.stringContaining('hidden') });
    expect(error).toMatchObject({ stderr: expect.not.stringMatching(/^ +at /m) });
  });
});
