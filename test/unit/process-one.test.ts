import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { expect, it, onTestFinished } from 'vitest';

const inOwnNamespace = ['--pid', '--fork', '--kill-child'];
const isAllowed = spawnSync('unshare', [...inOwnNamespace, 'true']).status === 0;

/** Runs Node as the first process of a process namespace, as a container without an init does. */
const runFirst = async (...args: string[]) => {
  const child = spawn('unshare', [...inOwnNamespace, process.execPath, ...args], {
    env: {},
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await exited;
  });
  const output = await text(child.stdout);
  return { output, code: (await exited)[0] as unknown };
};

/** The first thing that a program loads gets a signal, and never ends. */
const signalWhileLoading = `
  import { registerHooks } from 'node:module';
  registerHooks({
    load: (url, context, load) => {
      if (/^node:|main.ts$|(node-version|process-one).mjs$/.test(url) || url.endsWith(process.argv[1]))
        return load(url, context);
      process.kill(process.pid, 'SIGTERM');
      const source = 'setInterval(() => {}, 1000); await new Promise(() => {});';
      return { format: 'module', shortCircuit: true, source };
    },
  });`;

const entries = [
  ...[
    'api/main.ts',
    'worker/main.ts',
    'admin/console/main.ts',
    'admin/cli/main.ts',
    'postgres/main.ts',
  ],
  ...['worker/setup-namespace.ts', 'worker/replay-open.ts', 'worker/bundle.ts', 'stack/main.ts'],
];

it.runIf(isAllowed).each(entries)(
  '%s, as process 1, ends on a signal that comes while it is loaded',
  async (entry) => {
    const preload = `data:text/javascript,${encodeURIComponent(signalWhileLoading)}`;
    const { code } = await runFirst('--import', preload, entry, 'argument');
    expect(code).toBe(128 + 15);
  },
);

it.runIf(isAllowed)(
  'as process 1, too, a program decides about the signals that it listens to',
  async () => {
    const program = `
    import './process-one.mjs';
    process.once('SIGTERM', () => {
      console.log('once');
      process.kill(1, 'SIGTERM');
    });
    process.kill(1, 'SIGTERM');
    setInterval(() => {}, 1000);`;
    const { output, code } = await runFirst('--input-type=module', '--eval', program);
    expect([output, code]).toEqual(['once\n', 128 + 15]);
  },
);
