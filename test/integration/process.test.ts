import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { listen, SetupError } from '../../process.ts';
import { aDatabase } from '../support/database.ts';

/** Logs a line and, after a gap, another one with which it ends. */
const program = (gapMs: number) => `
  import { createLogger } from '${fileURLToPath(new URL('../../process.ts', import.meta.url))}';
  const logger = createLogger('test', 'info');
  setTimeout(() => {
    logger.info('one line');
    setTimeout(() => {
      logger.info('and another');
      process.exit(7);
    }, ${gapMs});
  }, 300);`;

/** In a shell: what hangs is killed, and `| true` is a pipe that nobody reads. */
const run = (pipe: string, { gapMs, stdout }: { gapMs: number; stdout: 'pipe' | number }) => {
  const line = `timeout -s KILL 10 "$@" ${pipe}; exit \${PIPESTATUS[0]}`;
  const node = [process.execPath, '--input-type=module', '--eval', program(gapMs)];
  return spawn('bash', ['-c', line, 'bash', ...node], { stdio: ['ignore', stdout, 'inherit'] });
};

describe.skipIf(process.platform !== 'linux')('a process whose log cannot be written', () => {
  it('goes on and ends: the disk is full', async () => {
    const full = openSync('/dev/full', 'w');
    const child = run('', { gapMs: 500, stdout: full });
    closeSync(full);
    expect(await once(child, 'exit')).toEqual([7, null]);
  });

  it('goes on and ends: nobody reads any more', async () => {
    const child = run('| true', { gapMs: 0, stdout: 'pipe' });
    expect(await once(child, 'exit')).toEqual([7, null]);
  });

  it('loses no line where somebody reads', async () => {
    const child = run('| cat', { gapMs: 0, stdout: 'pipe' });
    let said = '';
    child.stdout?.setEncoding('utf8').on('data', (chunk: string) => (said += chunk));
    await once(child, 'close');
    expect(said.trim().split('\n')).toHaveLength(2);
  });
});

it('the log tells an error with its cause and code, and nothing of a row that Postgres refused', async () => {
  const { sql, drop } = await aDatabase();
  onTestFinished(drop);
  const refused: unknown = await sql`
    insert into gateways (slug, driver, kind, credentials) values ('a', 'b', 'c', 'personal')`.catch(
    (error: unknown) => error,
  );
  expect(refused).toMatchObject({ detail: expect.stringContaining('personal') as string });
  const own = fileURLToPath(new URL('../../process.ts', import.meta.url));
  const { message, code, detail } = refused as Error & { code: string; detail: string };
  const line = `
    import { createLogger } from '${own}';
    const refused = Object.assign(new Error(${JSON.stringify(message)}), ${JSON.stringify({ code, detail })});
    createLogger('test', 'info').error({ err: new Error('It failed', { cause: refused }) }, 'one');
    createLogger('test', 'info').error({ err: refused }, 'two');`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', line]);
  const lines = (await text(child.stdout)).trim().split('\n');
  expect(lines).toHaveLength(2);
  expect(lines.join()).not.toContain('personal');
  const [one, two] = lines.map((each) => (JSON.parse(each) as { err: object }).err);
  expect(one).toMatchObject({ message: `It failed: ${message}` });
  expect(two).toMatchObject({ message, code, stack: expect.stringContaining('Error: ') as string });
});

it('a program stops in good order once whoever started it is gone', async () => {
  const line = `
    import { runProcess } from '${import.meta.resolve('../../process.ts')}';
    await runProcess(async () => {
      setInterval(() => {}, 1000);
      return async () => console.log('stopped');
    });`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', line], {
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  expect((await once(child, 'message'))[0]).toBe('ready');
  child.disconnect();
  expect(await text(child.stdout!)).toBe('stopped\n'); // It is a pipe.
  expect(child.exitCode ?? (await once(child, 'exit'))[0]).toBe(0);
});

it('a port that is taken is told in one sentence, with what to set', async () => {
  const taken = createServer().listen(0, '127.0.0.1');
  await once(taken, 'listening');
  const { port } = taken.address() as AddressInfo; // It listens on TCP.
  const where = { host: '127.0.0.1', port, variable: 'API_PORT' };
  await expect(listen(createServer(), where)).rejects.toThrow(
    new SetupError(
      `Nothing can listen on 127.0.0.1:${port} (Error: listen EADDRINUSE: address already in use 127.0.0.1:${port}): set API_PORT to a free port.`,
    ),
  );
  taken.close();
});

it.each(['stdout', 'stderr'])(
  'what a program that leaves has said is read to its end: %s',
  async (name) => {
    const own = fileURLToPath(new URL('../../process.ts', import.meta.url));
    const line = `
    import { leave } from '${own}';
    process.${name}.write('x'.repeat(2_000_000));
    leave();`;
    const child = spawn(process.execPath, ['--input-type=module', '--eval', line]);
    const stream = name === 'stdout' ? child.stdout : child.stderr;
    const exited = once(child, 'exit');
    // By then the pipe is full.
    await sleep(500);
    expect(await text(stream)).toHaveLength(2_000_000);
    expect(await exited).toEqual([0, null]);
  },
);
