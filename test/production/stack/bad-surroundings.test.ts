import { spawnSync } from 'node:child_process';
import { copyFileSync, readdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, inject, it, onTestFinished } from 'vitest';
import { freePort } from '../../../stack/ports.ts';
import { versionOf } from '../../../stack/temporal/version.ts';
import { aFolder, runStack, type StackSettings } from '../../support/stack/support.ts';

/** A start that must fail: with one sentence, exit code 1 and nothing left running. */
const failureOf = async (settings: Partial<StackSettings>) => {
  const stack = runStack({ dataDir: aFolder(), ...settings });
  expect(await stack.exited).toBe(1);
  expect(stack.survivors()).toEqual([]);
  return stack.errors().trim().split('\n');
};

const aTakenPort = async (): Promise<string> => {
  const port = await freePort();
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return String(port);
};

/** Runs before everything else in the new process, which then takes itself for something else. */
const pretend = (code: string) => ['--import', `data:text/javascript,${encodeURIComponent(code)}`];

describe('npm start in bad surroundings', () => {
  it.each(['API_PORT', 'SHOP_PORT', 'POSTGRES_PORT', 'TEMPORAL_PORT', 'TEMPORAL_UI_PORT'])(
    'says that the port of %s is taken',
    async (name) => {
      const port = await aTakenPort();

      expect(await failureOf({ env: { [name]: port } })).toEqual([
        expect.stringMatching(new RegExp(`^Port ${port} .* set ${name} to a free port`)),
      ]);
    },
  );

  it('says all that is wrong with the ports', async () => {
    const [taken, twice] = [await aTakenPort(), String(await freePort())];
    const env = { API_PORT: twice, SHOP_PORT: twice, POSTGRES_PORT: taken };

    expect(await failureOf({ env })).toEqual([
      `Port ${twice} is API_PORT's too: set SHOP_PORT to a free port (0 finds one).`,
      `Port ${taken} is taken by another program: stop that program, or set POSTGRES_PORT to a free port (0 finds one).`,
    ]);
  });

  it('says which folder it cannot make', async () => {
    const file = join(aFolder(), 'file');
    writeFileSync(file, '');

    expect(await failureOf({ dataDir: join(file, 'data') })).toEqual([
      expect.stringMatching(/^ENOTDIR.*file\/data.* set DATA_DIR/),
    ]);
  });

  it('says that the disk is full, which the system does without a place', async () => {
    const nodeArgs = pretend(`
      import fs from 'node:fs';
      import { syncBuiltinESMExports } from 'node:module';
      fs.writeFileSync = () => {
        const message = 'ENOSPC: no space left on device, write';
        throw Object.assign(new Error(message), { code: 'ENOSPC', syscall: 'write' });
      };
      syncBuiltinESMExports();`);

    expect(await failureOf({ nodeArgs })).toEqual([
      expect.stringMatching(/^ENOSPC: no space left on device, write: make room, or set DATA_DIR/),
    ]);
  });

  it('says that the database of DATABASE_URL cannot be reached, without its password', async () => {
    const port = await freePort();
    const env = { DATABASE_URL: `postgres://shop:hidden@127.0.0.1:${port}/shop` };

    const lines = await failureOf({ env });

    expect(lines).toEqual([
      expect.stringMatching(
        new RegExp(`^DATABASE_URL: .* shop at 127\\.0\\.0\\.1:${port} .*start`),
      ),
    ]);
    expect(lines[0]).not.toContain('hidden');
  });

  it('says that nobody answers at TEMPORAL_ADDRESS', async () => {
    const address = `127.0.0.1:${await freePort()}`;

    expect(await failureOf({ env: { TEMPORAL_ADDRESS: address } })).toEqual([
      expect.stringMatching(new RegExp(`^TEMPORAL_ADDRESS: .*${address}: start it`)),
    ]);
  });

  it('says all that is wrong with the configuration', async () => {
    const lines = await failureOf({ env: { API_PORT: 'many', DATABASE_URL: 'mysql://here' } });

    expect(lines.join('\n')).toMatch(/DATABASE_URL: must be a postgres.*\n.*API_PORT: /);
  });

  it('names the four ways when there is no Temporal', async () => {
    const env = { PATH: aFolder(), CACHE_DIR: aFolder(), TEMPORAL_CLI_PATH: '' };

    expect(await failureOf({ env })).toEqual([
      expect.stringMatching(/TEMPORAL_CLI_PATH.*on PATH.*download.*Go /),
    ]);
  });

  it('says which file is damaged, and what becomes of what it held', async () => {
    const [keyless, brokenEngine] = [aFolder(), aFolder()];
    writeFileSync(join(keyless, 'secrets-key'), 'k1:');
    const version = await versionOf(inject('temporalProgram'));
    writeFileSync(join(brokenEngine, `temporal-${version?.cli}.db`), 'no database'.repeat(1000));

    expect(await failureOf({ dataDir: keyless })).toEqual([
      expect.stringMatching(
        /secrets-key is damaged: put back.* or remove it and .*new credentials/,
      ),
    ]);
    expect(await failureOf({ dataDir: brokenEngine })).toEqual([
      expect.stringMatching(
        /not a database.*; its database is .*\.db: without that file it begins/,
      ),
    ]);
  });

  it('says what to do where there is no embedded Postgres', async () => {
    const nodeArgs = pretend('Object.defineProperty(process, "arch", { value: "mips" })');

    expect(await failureOf({ nodeArgs })).toEqual([
      expect.stringMatching(/^There is no embedded Postgres for \w+ on mips .*set DATABASE_URL/),
    ]);
  });

  it('says that Node is too old before it reads any TypeScript', () => {
    const old = pretend(
      'Object.defineProperty(process, "versions", { value: { node: "20.1.0" } })',
    );
    const { status, stderr, stdout } = spawnSync(
      process.execPath,
      [...old, '--import', './stack/node-version.mjs', 'stack/main.ts'],
      { encoding: 'utf8', env: { DATA_DIR: join(aFolder(), 'data') } },
    );

    expect(status).toBe(1);
    expect(stdout).toBe('');
    expect(stderr.trim()).toMatch(/^Node 20\.1\.0 is too old, this needs 24 or newer: .*install/);
  });

  it('says that npm ci is missing, as after a fresh checkout', () => {
    const fresh = join(aFolder(), 'node-version.mjs');
    copyFileSync('stack/node-version.mjs', fresh);
    const { status, stderr } = spawnSync(process.execPath, ['--import', fresh, '-e', '0'], {
      encoding: 'utf8',
    });

    expect(status).toBe(1);
    expect(stderr.trim()).toMatch(/^The packages .* not installed: run npm ci first\.$/);
  });

  it('says what a program of ours said when it does not start', async () => {
    const [line = '', ...more] = await failureOf({ entry: 'test/fakes/stack/broken.ts' });

    expect(line).toMatch(
      /^api ended with code 1: Error: broken by design\. Its log is .+api\.log\.$/,
    );
    expect(more).toEqual([]);
  });

  it('leaves nothing that stops the next start', async () => {
    const dataDir = aFolder();
    const port = await aTakenPort();
    await failureOf({ dataDir, env: { API_PORT: port } });

    await expect(runStack({ dataDir }).ready()).resolves.toMatchObject({
      application: 'demo-shop',
    });
    expect(readdirSync(dataDir).filter((name) => name.endsWith('.tmp'))).toEqual([]);
  });
});
