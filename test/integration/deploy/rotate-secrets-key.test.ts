import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { parseKeyRing } from '../../../config.ts';
import { startRecords } from '../../support/data/records.ts';
import { operationsOn } from '../../support/service/admin-operations.ts';
import { compileCache } from '../../support/runner/compile-cache.ts';
import { aCheckout } from '../../support/stack/support.ts';
import { forFile } from '../../support/for-file.ts';

const admin = resolve(import.meta.dirname, '../../../admin/cli/main.ts');
const names = ['secrets-key', 'webhooks-key', 'notifications-key'] as const;

const records = await forFile(startRecords());

/** Docker with one container, whose admin is the real one. While the file `unhealthy` is there, new containers fail. */
const docker = [
  'case "$*" in',
  "  *'ps --all --quiet'*) echo c1 ;;",
  "  *' up -d --wait --no-deps --no-recreate'*) echo renewed >> renewals; [ ! -e unhealthy ] ;;",
  `  *' run --rm -T admin '*) shift 5; exec "${process.execPath}" ${admin} "$@" --as tests ;;`,
  'esac',
];

/** An installation whose webhook secret, credentials and notification secret are sealed with the key 2026-11. */
const anInstallation = async () => {
  const { folder, path } = aCheckout(['rotate-secrets-key.sh', 'renew.sh'], docker);
  const file = (name: string) => join(folder, 'secrets', name);
  const key = () => `2026-11:${randomBytes(32).toString('base64')}`;
  for (const name of [...names, 'payers-key']) writeFileSync(file(name), `${key()}\n`);
  const read = (name: string) => readFileSync(file(name), 'utf8').trim();
  await records.sql`delete from webhook_secrets`;
  await records.sql`delete from gateways where slug = 'cards'`;
  const operations = () =>
    operationsOn(records.sql, {
      keyRing: parseKeyRing(read('secrets-key')),
      webhookKeyRing: parseKeyRing(read('webhooks-key')),
      notificationKeyRing: parseKeyRing(read('notifications-key')),
    });
  const account = { slug: 'cards', driver: 'stripe', kind: 'live' } as const;
  const credentials = '{"secretKey":"sk_live_1234","webhookSecrets":["whsec_1234"]}';
  await operations().secrets.rotate('shop', null);
  await operations().gateways.add({ ...account, credentials }, null);
  return {
    folder,
    read,
    unhealthy: join(folder, 'unhealthy'),
    keyIds: () => names.map((name) => [...parseKeyRing(read(name)).keys.keys()]),
    sealed: async () =>
      (await operations().secrets.listKeys()).flatMap(({ keyId, seals }) =>
        seals > 0 ? keyId : [],
      ),
    copies: () =>
      readdirSync(join(folder, 'secrets')).filter(
        (name) => ![...names, 'payers-key'].includes(name),
      ),
    payersKeyIds: () => [...parseKeyRing(read('payers-key')).keys.keys()],
    /** As if the last rotation was so long ago. */
    age(hours: number) {
      const then = Date.now() / 1000 - hours * 3_600;
      utimesSync(file('payers-key'), then, then);
    },
    run: (...args: string[]) =>
      promisify(execFile)('sh', ['deploy/rotate-secrets-key.sh', ...args], {
        cwd: folder,
        env: {
          PATH: path,
          NODE_COMPILE_CACHE: compileCache,
          DATABASE_URL: records.url,
          SECRETS_KEY_FILE: file('secrets-key'),
          WEBHOOKS_KEY_FILE: file('webhooks-key'),
          NOTIFICATIONS_KEY_FILE: file('notifications-key'),
        },
      }),
  };
};

describe('deploy/rotate-secrets-key.sh', () => {
  it('seals everything with new keys, and --retire removes the old ones from the files', async () => {
    const { run, keyIds, sealed, copies, read, folder } = await anInstallation();
    const old = names.map(read);
    expect((await run()).stdout).toContain('Encrypted with the first key: 3');
    const [[first = '']] = keyIds() as [string[]];
    expect(keyIds()).toEqual(names.map(() => [first, '2026-11']));
    await run('--retire');
    expect(keyIds()).toEqual(names.map(() => [first]));
    expect(new Set(await sealed())).toEqual(new Set([first]));
    expect(copies()).toHaveLength(3);
    for (const copy of copies()) {
      expect(old).toContain(read(copy).split(',')[1]);
      expect(statSync(join(folder, 'secrets', copy)).mode & 0o777).toBe(0o400);
    }
    // Once more it has nothing to remove.
    await run('--retire');
    expect(copies()).toHaveLength(3);
  });

  it('does not retire a key after a rotation that stopped, and finishes it when it can', async () => {
    const { run, keyIds, sealed, copies, unhealthy } = await anInstallation();
    writeFileSync(unhealthy, '');
    await expect(run()).rejects.toThrow('Command failed');
    await expect(run('--retire')).rejects.toThrow('Command failed');
    expect(keyIds()).toMatchObject(names.map(() => ({ 1: '2026-11' })));
    expect(copies()).toEqual([]);
    expect(new Set(await sealed())).toEqual(new Set(['2026-11']));

    rmSync(unhealthy);
    await run('--retire');
    const [[first = '']] = keyIds() as [string[]];
    expect(keyIds()).toEqual(names.map(() => [first]));
    expect(new Set(await sealed())).toEqual(new Set([first]));
  });

  it('runs again after a rotation that stopped, and keeps the old key of payers for 26 hours, and no copy of it', async () => {
    const { run, age, keyIds, sealed, payersKeyIds, copies, unhealthy, read } =
      await anInstallation();
    // Until all processes know the new key, the old one seals.
    writeFileSync(unhealthy, '');
    await expect(run()).rejects.toThrow('Command failed');
    expect(payersKeyIds()[0]).toBe('2026-11');
    const [[stopped = '']] = keyIds() as [string[]];
    rmSync(unhealthy);
    await run();
    const [[newest = '']] = keyIds() as [string[]];
    expect(keyIds()).toEqual(names.map(() => [newest, stopped, '2026-11']));
    expect(new Set(await sealed())).toEqual(new Set([newest]));
    const [first = ''] = payersKeyIds();
    expect(first).not.toBe('2026-11');
    expect(payersKeyIds().at(-1)).not.toBe(first);
    expect((await run('--retire')).stdout).toContain('payers-key keeps its old key');
    expect(payersKeyIds()).toHaveLength(3);
    age(27);
    await run('--retire');
    expect(payersKeyIds()).toEqual([first]);
    for (const copy of copies()) expect(read(copy)).not.toContain(read('payers-key'));
  });
});
