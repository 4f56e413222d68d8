import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { readStackConfig } from '../../../config.ts';
import { startTimeOf } from '../../../stack/system-processes.ts';
import { until } from '../../support/until.ts';

const root = resolve(import.meta.dirname, '../../..');
const watchdogLooksEveryMs = 1_000;
const npmTest = [join(root, 'test/support/runner/main.ts')];
const vitest = [join(root, 'node_modules/vitest/vitest.mjs'), 'run'];

/** Has a server that ignores its end, and waits for a program as a search of Spin does. */
const busy = (folder: string) => `
  import { execFileSync, spawn } from 'node:child_process';
  import { mkdtempSync, writeFileSync } from 'node:fs';
  import { tmpdir } from 'node:os';
  const write = (name, text) => writeFileSync(${JSON.stringify(folder)} + '/' + name, text);
  test('a', () => {
    const server = spawn('sleep', ['600'], { detached: true, stdio: 'ignore', env: {} });
    write('server', String(server.pid));
    write('worker', String(process.pid));
    write('folder', mkdtempSync(tmpdir() + '/left-'));
    execFileSync('sh', ['-c', 'echo $$ > ${folder}/program; exec sleep 600']);
  });`;

it.each([
  ['npm test', 'SIGTERM', npmTest],
  ['npm test', 'SIGKILL', npmTest],
  ['npx vitest', 'SIGTERM', vitest],
] as const)(
  'leaves no process and no folder of "%s" that %s ends',
  { timeout: 900_000 },
  async (_name, signal, program) => {
    const folder = mkdtempSync(join(tmpdir(), 'killed-run-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const globalSetup = join(root, 'test/support/runner/leave-nothing.ts');
    const test = { globals: true, globalSetup, reporters: ['dot'] };
    writeFileSync(join(folder, 'vitest.config.mjs'), `export default ${JSON.stringify({ test })}`);
    writeFileSync(join(folder, 'busy.test.mjs'), busy(folder));
    const { PATH = '', HOME = '' } = readStackConfig().inherited;
    const child = spawn(process.execPath, [...program, '--root', folder], {
      env: { PATH, HOME },
      stdio: 'ignore',
    });
    const exited = once(child, 'exit');
    const read = (name: string) => readFileSync(join(folder, name), 'utf8').trim();
    const pids = await until('all has started', () => {
      const names = ['server', 'worker', 'program'];
      const hasAll = names.every((name) => existsSync(join(folder, name)) && read(name));
      return hasAll && names.map((name) => Number(read(name)));
    });
    expect(pids.every(startTimeOf)).toBe(true);
    const left = read('folder');
    // What nothing can catch leaves no time to look, see watchdog.ts.
    if (signal === 'SIGKILL') await sleep(watchdogLooksEveryMs + 500);
    child.kill(signal);
    await exited;
    await until('all has ended', () => !pids.some((pid) => startTimeOf(pid)) && !existsSync(left));
  },
);
