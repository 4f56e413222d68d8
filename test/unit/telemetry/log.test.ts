import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';

const logModule = import.meta.resolve('../../../telemetry/log.ts');

/** Logs a line and, after a gap, a second one, with which the process exits. */
const program = (gapMs: number) => `
  import { createLogger } from '${logModule}';
  const logger = createLogger('test', 'info');
  setTimeout(() => {
    logger.info('one line');
    setTimeout(() => {
      logger.info('another line');
      process.exit(7);
    }, ${gapMs});
  }, 300);`;

/** Runs the program in a shell, which kills it if it hangs. `| true` is a pipe without a reader. */
const run = (pipe: string, { gapMs, stdout }: { gapMs: number; stdout: 'pipe' | number }) => {
  const line = `timeout -s KILL 120 "$@" ${pipe}; exit \${PIPESTATUS[0]}`;
  const node = [process.execPath, '--input-type=module', '--eval', program(gapMs)];
  return spawn('bash', ['-c', line, 'bash', ...node], { stdio: ['ignore', stdout, 'inherit'] });
};

/** The lines that a program of these lines logs. */
const linesOf = async (code: string): Promise<string[]> => {
  const { stdout } = spawn(process.execPath, ['--input-type=module', '--eval', code]);
  return (await text(stdout)).trim().split('\n');
};

describe.skipIf(process.platform !== 'linux')('createLogger', () => {
  it('lets the process continue and exit when the disk is full', async () => {
    const full = openSync('/dev/full', 'w');
    const child = run('', { gapMs: 500, stdout: full });
    closeSync(full);
    expect(await once(child, 'exit')).toEqual([7, null]);
  });

  it('lets the process continue and exit when the reader is gone', async () => {
    const child = run('| true', { gapMs: 0, stdout: 'pipe' });
    expect(await once(child, 'exit')).toEqual([7, null]);
  });

  it('loses no line at the exit', async () => {
    const child = run('| cat', { gapMs: 0, stdout: 'pipe' });
    const output = await text(child.stdout!); // It is a pipe.
    expect(output.trim().split('\n')).toHaveLength(2);
  });

  it('logs errors with cause and code, without the row that Postgres rejected', async () => {
    const lines = await linesOf(`
      import { createLogger } from '${logModule}';
      const detail = 'Failing row contains (personal)';
      const rejected = Object.assign(new Error('violates a constraint'), { code: '23514', detail });
      const logger = createLogger('test', 'info');
      logger.error({ err: new Error('It failed', { cause: rejected }) }, 'one');
      logger.error({ err: rejected }, 'two');`);
    expect(lines).toHaveLength(2);
    expect(lines.join()).not.toContain('personal');
    const [one, two] = lines.map((line) => (JSON.parse(line) as { err: object }).err);
    expect(one).toMatchObject({ message: 'It failed: violates a constraint' });
    expect(two).toMatchObject({
      message: 'violates a constraint',
      code: '23514',
      stack: expect.stringContaining('Error: ') as string,
    });
  });

  it('escapes what controls a terminal, and bounds a line', async () => {
    const lines = await linesOf(`
      import { createLogger } from '${logModule}';
      const hostile = 'a\\u001b[31m\\u009b2J\\u007f\\u202e\\u2028\\u{e0041}b';
      const logger = createLogger('test', 'info');
      logger.info({ reference: hostile, err: new Error(hostile) }, hostile);
      const long = hostile + '😀'.repeat(50_000);
      const many = Object.fromEntries(Array.from({ length: 9_000 }, (_, at) => ['field' + at, at]));
      logger.info({ long, err: new Error(long), list: Array(90).fill(long), many }, long);`);
    expect(lines).toHaveLength(2);
    for (const line of lines) {
      expect(line).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
      expect(line.length).toBeLessThan(250_000);
      expect(JSON.parse(line)).toMatchObject({ name: 'test', level: 30 });
    }
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({
      reference: 'a\u001b[31m\u009b2J\u007f\u202e\u2028\u{e0041}b',
    });
  });
});
