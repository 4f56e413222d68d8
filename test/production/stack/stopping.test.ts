import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { identify, isAlive } from '../../../stack/identity.ts';
import { aFolder, processesIn, runStack, writeProgram } from '../../support/stack/support.ts';
import { until } from '../../support/until.ts';

const stubborn = 'test/fakes/stack/stubborn.ts';

/** A start at the moment when its compiler, of which this is the work, has written down its number. */
const compiling = async (dataDir: string, work: (pidFile: string) => string) => {
  const bin = aFolder();
  const pidFile = join(bin, 'compiler.pid');
  writeProgram(join(bin, 'go'), [
    `[ "$1" = version ] && echo 'go version go1.26.8 linux/amd64' && exit`,
    work(pidFile),
  ]);
  const env = { PATH: bin, CACHE_DIR: aFolder(), TEMPORAL_CLI_PATH: '' };
  const stack = runStack({ dataDir, env });
  await until('it compiles', () => existsSync(pidFile) && readFileSync(pidFile, 'utf8') !== '');
  return { stack, compiler: identify(Number(readFileSync(pidFile, 'utf8'))), env };
};

describe('npm start that is told to stop', () => {
  it('ends what does not end by itself', async () => {
    const stack = runStack({ dataDir: aFolder(), entry: stubborn });
    await stack.ready();
    const stoppedAt = Date.now();
    process.kill(stack.pid, 'SIGINT');

    await stack.exited;
    // 10 s, and what a busy machine adds.
    expect(Date.now() - stoppedAt).toBeLessThan(15_000);
    expect(stack.survivors()).toEqual([]);
  });

  it('ends everything at once when it is asked a second time', async () => {
    const stack = runStack({ dataDir: aFolder(), entry: stubborn });
    await stack.ready();
    process.kill(stack.pid, 'SIGINT');
    await stack.says('Stopping');
    // npm sends what it gets on, so what comes right after the first is the same.
    await sleep(1_100);
    process.kill(stack.pid, 'SIGINT');

    expect(await stack.exited).toBe(1);
    await until('all are gone', () => stack.survivors().length === 0);
  });

  it.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)(
    'leaves nothing when %s comes during the start',
    async (signal) => {
      const dataDir = aFolder();
      const stack = runStack({ dataDir });
      await until('something runs', () => processesIn(dataDir).length > 0);
      process.kill(stack.pid, signal);

      expect(await stack.exited).toBe(0);
      expect(stack.survivors()).toEqual([]);
      expect(stack.output()).not.toMatch(/Error|Ready/);
    },
  );

  it('leaves nothing when it is npm that is told to end, as a program that started it does', async () => {
    const dataDir = aFolder();
    const stack = runStack({ dataDir, command: ['npm', 'start'] });
    await until('something runs', () => processesIn(dataDir).length > 0);
    process.kill(stack.pid, 'SIGTERM');

    expect(await stack.exited).toBe(0);
    expect(stack.survivors()).toEqual([]);
  });

  it('leaves nothing when Ctrl-C comes while Temporal is being compiled', async () => {
    const { stack, compiler, env } = await compiling(
      aFolder(),
      (pidFile) => `/bin/sleep 600 & echo $! > ${pidFile}; wait`,
    );
    process.kill(stack.pid, 'SIGINT');

    expect(await stack.exited).toBe(0);
    expect(isAlive(compiler)).toBe(false);
    expect(stack.survivors()).toEqual([]);
    expect(readdirSync(env.CACHE_DIR, { recursive: true })).toHaveLength(1);
  });

  it('ends the compiler of a start that was killed', async () => {
    const dataDir = aFolder();
    const { stack: killed, compiler } = await compiling(
      dataDir,
      (pidFile) => `echo $$ > ${pidFile}; exec /bin/sleep 600`,
    );
    await until('it is written down', () => killed.survivors().includes(compiler.pid));
    process.kill(killed.pid, 'SIGKILL');
    await killed.exited;

    await runStack({ dataDir }).ready();

    expect(isAlive(compiler)).toBe(false);
  });
});
