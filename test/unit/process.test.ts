import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { listen, SetupError } from '../../process.ts';

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

it('listen names the setting to change when the port is taken', async () => {
  const taken = createServer().listen(0, '127.0.0.1');
  onTestFinished(() => void taken.close());
  await once(taken, 'listening');
  const { port } = taken.address() as AddressInfo; // It listens on TCP.
  const where = { host: '127.0.0.1', port, variable: 'API_PORT' };
  await expect(listen(createServer(), where)).rejects.toThrow(
    new SetupError(
      `Could not listen on 127.0.0.1:${port} (Error: listen EADDRINUSE: address already in use 127.0.0.1:${port}): set API_PORT to a free port.`,
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
