import { execFile, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Promela } from './promela.ts';

const execute = promisify(execFile);

const has = (program: string): boolean => spawnSync(program, ['--version']).error === undefined;

/** Why nothing can be checked here, or undefined. */
export const whyNoSpin = (): string | undefined => {
  const missing = ['spin', 'gcc'].filter((program) => !has(program));
  return missing.length > 0 ? `there is no ${missing.join(' and no ')} here` : undefined;
};

/** Limits of a search: 2 to the power of `tableBits` are the places of its hash table. */
interface Limits {
  memoryMb: number;
  tableBits: number;
}

/** Translates the model and compiles its checker. @returns what runs it, with what it prints */
const compile = async (
  { model, c }: Promela,
  folder: string,
  memoryMb: number,
  flags: string[],
) => {
  writeFileSync(join(folder, 'model.pml'), model);
  writeFileSync(join(folder, 'steps.c'), c);
  const options = { cwd: folder, encoding: 'utf8', maxBuffer: 2 ** 30 } as const;
  await execute('spin', ['-a', 'model.pml'], options);
  const checked = ['-DSAFETY', '-DNOREDUCE', `-DMEMLIM=${memoryMb}`];
  await execute('gcc', ['-w', ...checked, ...flags, '-o', 'pan', 'pan.c'], options);
  return async (args: string[]): Promise<string> => {
    // `-E`: a state without a next step is no fault.
    const all = ['-E', '-m1000000', ...args];
    const ran = execute(join(folder, 'pan'), all, options);
    // What it prints says whether it has found a fault, or has broken off.
    const { stdout } = await ran.catch((error: { stdout: string }) => error);
    return stdout;
  };
};

const inFolder = async <T>(work: (folder: string) => Promise<T>): Promise<T> => {
  const folder = mkdtempSync(join(tmpdir(), 'spin-'));
  try {
    return await work(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
};

/** Every transition that Spin finds, once: the step, and the states before and after it. */
export const listTransitions = (promela: Promela): Promise<Set<string>> =>
  inFolder(async (folder) => {
    const run = await compile(promela, folder, 2_000, ['-DPRINTS']);
    const lines = (await run(['-w20'])).split('\n');
    return new Set(lines.filter((line) => /^\d[\d ]*$/.test(line)));
  });

export interface Search {
  states: number;
  /** Whether it has seen all states. */
  isComplete: boolean;
  /** The rule that does not hold, and the steps to the state where it does not. */
  broken: string | undefined;
}

/** Looks at every state. */
export const search = (promela: Promela, { memoryMb, tableBits }: Limits): Promise<Search> =>
  inFolder(async (folder) => {
    const run = await compile(promela, folder, memoryMb, ['-O2']);
    const text = await run([`-w${tableBits}`]);
    const rule = /Broken: (.*)/.exec(text)?.[0];
    return {
      states: Number(/([\d.e+]+) states, stored/.exec(text)?.[1]),
      isComplete: text.includes('errors: 0') && !text.includes('Search not completed'),
      broken: rule && [rule, ...(await replay(promela, folder))].join(' > '),
    };
  });

/** The steps to the fault that the search has just found. */
const replay = async (promela: Promela, folder: string): Promise<string[]> => {
  const run = await compile(promela, folder, 2_000, ['-DPRINTS']);
  const text = await run(['-r']);
  return text.split('\n').flatMap((line) => {
    const number = /^(\d+) \d[\d ]*$/.exec(line)?.[1];
    return number === undefined ? [] : [promela.steps[Number(number)] ?? number];
  });
};
