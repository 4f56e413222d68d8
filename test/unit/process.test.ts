import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { Registry } from 'prom-client';
import { expect, it, onTestFinished } from 'vitest';
import { SetupError } from '../../process.ts';
import { openMetricsPort } from '../../telemetry/port.ts';
import { listenForTest } from '../support/servers/listen.ts';

const processModule = import.meta.resolve('../../process.ts');

it('runProcess stops when the parent process is gone', async () => {
  const program = `
    import { runProcess } from '${processModule}';
    await runProcess(async () => {
      setInterval(() => {}, 1000);
      return async () => console.log('stopped');
    });`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program], {
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  expect((await once(child, 'message'))[0]).toBe('ready');
  child.disconnect();
  expect(await text(child.stdout!)).toBe('stopped\n'); // It is a pipe.
  expect(child.exitCode ?? (await once(child, 'exit'))[0]).toBe(0);
});

it('a process names the setting to change when its port is taken', async () => {
  const taken = createServer();
  const METRICS_PORT = await listenForTest(taken);
  const config = { METRICS_HOST: '127.0.0.1', METRICS_PORT };
  await expect(
    openMetricsPort({ config, registry: new Registry(), dependencies: {} }),
  ).rejects.toThrow(
    new SetupError(
      `Could not listen on 127.0.0.1:${METRICS_PORT} (Error: listen EADDRINUSE: address already in use 127.0.0.1:${METRICS_PORT}): set METRICS_PORT to a free port.`,
    ),
  );
});

it.each(['stdout', 'stderr'])(
  'exitAfterOutput loses nothing that was written to %s',
  async (name) => {
    const program = `
    import { exitAfterOutput } from '${processModule}';
    process.${name}.write('x'.repeat(2_000_000));
    exitAfterOutput();`;
    const child = spawn(process.execPath, ['--input-type=module', '--eval', program]);
    const stream = name === 'stdout' ? child.stdout : child.stderr;
    const exited = once(child, 'exit');
    // The pipe is full by then.
    await sleep(500);
    expect(await text(stream)).toHaveLength(2_000_000);
    expect(await exited).toEqual([0, null]);
  },
);
