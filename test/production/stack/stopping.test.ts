import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { commandLineOf } from '../../../stack/system-processes.ts';
import {
  aFolder,
  prepare,
  processesIn,
  runStack,
  writeProgram,
} from '../../support/stack/support.ts';
import { until } from '../../support/until.ts';

const stubborn = 'test/fakes/stack/stubborn.ts';

describe('stopping npm start', () => {
  it('kills within 10 s what does not stop', async () => {
    const stack = runStack({ dataDir: prepare(aFolder()), entry: stubborn });
    await stack.ready();
    const stoppedAt = Date.now();
    process.kill(stack.pid, 'SIGINT');

    await stack.exited;
    // 10 s, and what a busy machine adds. The process itself never ends.
    expect(Date.now() - stoppedAt).toBeLessThan(60_000);
    expect(stack.survivors()).toEqual([]);
  });

  it('kills everything at once on a second Ctrl-C', async () => {
    const stack = runStack({ dataDir: prepare(aFolder()), entry: stubborn });
    await stack.ready();
    process.kill(stack.pid, 'SIGINT');
    await stack.says('Stopping');
    // A second signal that follows at once is npm's copy of the first.
    await sleep(1_100);
    process.kill(stack.pid, 'SIGINT');

    expect(await stack.exited).toBe(1);
    await until('all have ended', () => stack.survivors().length === 0);
  });

  it.each([
    ['SIGHUP', undefined],
    ['SIGTERM', ['npm', 'start'] as [string, string]],
  ] as const)('leaves nothing when %s comes during the start (command %s)', async (signal, npm) => {
    const dataDir = aFolder();
    const stack = runStack({ dataDir, ...(npm && { command: [...npm] }) });
    await until('something runs', () => processesIn(dataDir).length > 0);
    process.kill(stack.pid, signal);

    expect(await stack.exited).toBe(0);
    expect(stack.survivors()).toEqual([]);
    expect(stack.output()).not.toMatch(/Error|Ready/);
  });

  it.each(['SIGINT', 'SIGKILL'] as const)(
    'leaves no compiler when %s comes while Temporal is being compiled',
    async (signal) => {
      const [dataDir, bin] = [prepare(aFolder()), aFolder()];
      const pidFile = join(bin, 'compiler.pid');
      writeProgram(join(bin, 'go'), [
        `[ "$1" = version ] && echo 'go version go1.26.10 linux/amd64' && exit`,
        `/bin/sleep 600 & echo "$$ $!" > ${pidFile}; wait`,
      ]);
      const env = { PATH: bin, CACHE_DIR: aFolder(), TEMPORAL_CLI_PATH: '' };
      const stack = runStack({ dataDir, env });
      const readPids = () => existsSync(pidFile) && readFileSync(pidFile, 'utf8').trim();
      const [leader, compiler = 0] = (await until('it compiles', readPids)).split(' ').map(Number);
      const isRecorded = () => processesIn(dataDir).some(({ pid }) => pid === leader);
      await until('the next start can find it', isRecorded);
      process.kill(stack.pid, signal);
      await stack.exited;
      if (signal === 'SIGKILL') await runStack({ dataDir }).ready();

      const hasEnded = () => commandLineOf(compiler) === '';
      expect(await until('the compiler has ended', hasEnded)).toBe(true);
    },
  );
});
