import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect, it, onTestFinished } from 'vitest';
import { readStackConfig } from '../../../config.ts';
import { closingLines } from '../../support/runner/closing-lines.ts';

const main = resolve(import.meta.dirname, '../../support/runner/main.ts');

/** For the files of a run: whether it is the first of its calls with this name. */
const chance = `
import { existsSync, writeFileSync } from 'node:fs';
export const isFirst = (name) => {
  const file = new URL(name, import.meta.url);
  return existsSync(file) ? false : (writeFileSync(file, ''), true);
};`;

/** The shared parts of the files are up once, also for the second run. */
const setup = `
let starts = 0;
export default () => {
  process.env.SHARED = 'up ' + (starts += 1);
  return () => delete process.env.SHARED;
};`;

/** Runs test files as \`npm test\` does. @param files by name, without the import of \`isFirst\` */
const run = async (files: Record<string, string>, { config = {}, args = [] as string[] } = {}) => {
  const folder = mkdtempSync(join(tmpdir(), 'second-run-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const write = (name: string, content: string) => writeFileSync(join(folder, name), content);
  write('chance.mjs', chance);
  write('setup.mjs', setup);
  const settings = { globals: true, globalSetup: 'setup.mjs', reporters: ['dot'], ...config };
  write('vitest.config.mjs', `export default ${JSON.stringify({ test: settings })}`);
  for (const [name, content] of Object.entries(files))
    write(`${name}.test.mjs`, `import { isFirst } from './chance.mjs';\n${content}`);
  const { PATH = '', HOME = '' } = readStackConfig().inherited;
  const child = spawn(process.execPath, [main, '--root', folder, ...args], {
    env: { PATH, HOME },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [output, errors, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'exit'),
  ]);
  return { code: Number(code), lines: output.trimEnd().split('\n'), errors };
};

const byChance = (name: string) =>
  `test('a', () => { if (isFirst('${name}')) throw new Error('too slow\\nfor it'); });`;

// Each run has processes of its own.
describe('a run of the tests', { timeout: 900_000 }, () => {
  it('is green when files pass on their second run, and names them', async () => {
    const { code, lines } = await run({
      load: `if (isFirst('load')) throw new Error('no module'); test('a', () => {});`,
      outside: `test('a', () => { if (isFirst('outside')) void Promise.reject(new Error('forgotten')); });`,
      worker: `test('a', () => { if (isFirst('worker')) process.kill(process.pid, 'SIGKILL'); });`,
      other: `test('a', () => {}); test('b', () => {});`,
    });
    expect(lines.at(-1)).toBe('5 passed, 0 failed');
    const [, count, failures = ''] = /^(.*) second run: (.*)$/.exec(lines.at(-2) ?? '') ?? [];
    expect(count).toBe('3 files passed only on their');
    expect(failures.split('; ')).toEqual([
      'load.test.mjs: no module',
      'outside.test.mjs: forgotten',
      expect.stringMatching(/^worker.test.mjs: .*SIGKILL/),
    ]);
    expect(code).toBe(0);
  });

  it('is red when a file fails twice', async () => {
    const { code, lines } = await run({
      fault: `test('a', () => { expect(1).toBe(2); }); test('b', () => {});`,
      hook: `beforeAll(() => { if (isFirst('hook')) throw new Error('not ready'); }); test('a', () => {});`,
    });
    expect(lines.slice(-2)).toEqual([
      '1 file passed only on its second run: hook.test.mjs: not ready',
      '2 passed, 1 failed',
    ]);
    expect(code).toBe(1);
  });

  it('is red when more than three files fail', async () => {
    const names = ['one', 'two', 'three', 'four'];
    const files = Object.fromEntries(names.map((name) => [name, byChance(name)]));
    const { code, lines } = await run(files);
    expect(lines.at(-1)).toBe('0 passed, 4 failed');
    expect(code).toBe(1);
  });

  it('is red when an error belongs to no file', async () => {
    const { code, lines } = await run(
      { one: byChance('one') },
      { config: { globalSetup: './none.mjs' } },
    );
    expect(lines.at(-1)).toBe('0 passed, 1 failed');
    expect(code).toBe(1);
  });

  it('is red when it breaks before its first file', () => {
    const outcome = { specifications: [], errors: [], passedSecond: [] };
    expect(closingLines(outcome, true)).toEqual({ lines: ['0 passed, 1 failed'], isRed: true });
  });

  it('is red when the Compose tests have failed', () => {
    const compose = { lastLine: 'compose: 3 passed, 1 failed', seconds: 60, isRed: true };
    const { lines, isRed } = closingLines(
      { specifications: [], errors: [], passedSecond: [], compose },
      false,
    );
    expect(lines.slice(0, 2)).toEqual([
      'compose: 3 passed, 1 failed',
      'The run is red: the Compose tests failed, see their output.',
    ]);
    expect(isRed).toBe(true);
  });

  it('begins a file again that its first failure cut off, with the named tests', async () => {
    const { code, lines } = await run(
      {
        steps: `let done = 0;
          describe('all', () => {
            test('one', () => { done += 1; });
            test('two', () => { if (isFirst('two')) throw new Error('too slow'); done += 1; });
            test('three', () => { expect(done).toBe(2); expect(process.env.SHARED).toBe('up 1'); });
            test('other', () => { throw new Error('not chosen'); });
          });`,
      },
      {
        config: { bail: 1, name: 'compose' },
        args: ['--testNamePattern', 'one|two|three'],
      },
    );
    expect(lines.slice(-2)).toEqual([
      '1 file passed only on its second run: steps.test.mjs > all > two: too slow',
      'compose: 3 passed, 0 failed, 1 skipped',
    ]);
    expect(code).toBe(0);
  });
});
