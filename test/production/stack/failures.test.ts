import { readdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { freePort } from '../../../stack/ports.ts';
import { aFolder, prepare, runStack, type StackSettings } from '../../support/stack/support.ts';

/** The message of a start that must fail, with exit code 1 and nothing left running. */
const fail = async (settings: Partial<StackSettings>) => {
  const stack = runStack({ dataDir: aFolder(), ...settings });
  expect(await stack.exited).toBe(1);
  expect(stack.survivors()).toEqual([]);
  return stack.errors().trim();
};

const aTakenPort = async (): Promise<string> => {
  const port = await freePort();
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return String(port);
};

/** Code that runs first in the new process, and changes what Node says about the machine. */
const pretend = (code: string) => ['--import', `data:text/javascript,${encodeURIComponent(code)}`];

describe('npm start that fails', () => {
  it('names the variable of a port that is taken, and the next start works', async () => {
    const dataDir = prepare(aFolder());
    const port = await aTakenPort();

    expect(await fail({ dataDir, env: { SHOP_PORT: port } })).toBe(
      `Port ${port} is taken: stop the program that uses it, or set SHOP_PORT to a free port (0 finds one).`,
    );

    await expect(runStack({ dataDir }).ready()).resolves.toBeDefined();
    expect(readdirSync(dataDir).filter((name) => name.endsWith('.tmp'))).toEqual([]);
  });

  it('names the folder that it cannot make', async () => {
    const file = join(aFolder(), 'file');
    writeFileSync(file, '');

    expect(await fail({ dataDir: join(file, 'data') })).toMatch(
      /^ENOTDIR.*file\/data.* set DATA_DIR/,
    );
  });

  it('says that the disk is full', async () => {
    const nodeArgs = pretend(`
      import fs from 'node:fs';
      import { syncBuiltinESMExports } from 'node:module';
      fs.writeFileSync = () => {
        const message = 'ENOSPC: no space left on device, write';
        throw Object.assign(new Error(message), { code: 'ENOSPC', syscall: 'write' });
      };
      syncBuiltinESMExports();`);

    expect(await fail({ nodeArgs })).toMatch(
      /^ENOSPC: no space left on device, write: make room, or set DATA_DIR/,
    );
  });

  it('says what to do on a platform without an embedded Postgres', async () => {
    const nodeArgs = pretend('Object.defineProperty(process, "arch", { value: "mips" })');

    expect(await fail({ nodeArgs })).toMatch(
      /^There is no embedded Postgres for \w+ on mips .*set DATABASE_URL/,
    );
  });

  it('quotes the error of a program of ours that does not start', async () => {
    const entry = 'test/fakes/stack/broken.ts';
    expect(await fail({ dataDir: prepare(aFolder()), entry })).toMatch(
      /^api ended with code 1: Error: Cannot find module.*\. Its log is .+api\.log\.$/,
    );
  });
});
