import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Promela } from './promela.ts';

const has = (program: string): boolean => spawnSync(program, ['--version']).error === undefined;

/** Why nothing is checked here, or undefined. */
export const whyNoSpin = (): string | undefined => {
  const missing = ['spin', 'gcc'].filter((program) => !has(program));
  return missing.length > 0 ? `there is no ${missing.join(' and no ')} here` : undefined;
};

export const spinVersion = (): string => execFileSync('spin', ['-V'], { encoding: 'utf8' });

/** Limits of a search: 2 to the power of `tableBits` are the places of its hash table. */
interface Limits {
  memoryMb: number;
  tableBits: number;
}

/** Translates the model and compiles its checker. @returns what runs it, with what it prints */
const compile = ({ model, c }: Promela, folder: string, memoryMb: number, flags: string[]) => {
  writeFileSync(join(folder, 'model.pml'), model);
  writeFileSync(join(folder, 'steps.c'), c);
  const options = { cwd: folder, encoding: 'utf8', maxBuffer: 2 ** 30 } as const;
  execFileSync('spin', ['-a', 'model.pml'], options);
  const checked = ['-DSAFETY', '-DNOREDUCE', `-DMEMLIM=${memoryMb}`];
  execFileSync('gcc', ['-w', ...checked, ...flags, '-o', 'pan', 'pan.c'], options);
  // `-E`: a state without a next step is no fault.
  return (args: string[]) =>
    spawnSync(join(folder, 'pan'), ['-E', '-m1000000', ...args], options).stdout;
};

const inFolder = <T>(work: (folder: string) => T): T => {
  const folder = mkdtempSync(join(tmpdir(), 'spin-'));
  try {
    return work(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
};

/** Every transition that Spin finds, once: the step, and the states before and after it. */
export const listTransitions = (promela: Promela): Set<string> =>
  inFolder((folder) => {
    const run = compile(promela, folder, 2_000, ['-DPRINTS']);
    const lines = run(['-w20']).split('\n');
    return new Set(lines.filter((line) => /^\d[\d ]*$/.test(line)));
  });

export interface Search {
  states: number;
  seconds: number;
  megabytes: number;
  /** Whether it has seen all states. */
  isComplete: boolean;
  /** The rule that does not hold, and the steps to the state where it does not. */
  broken: string | undefined;
}

/** Looks at every state. */
export const search = (promela: Promela, { memoryMb, tableBits }: Limits): Search =>
  inFolder((folder) => {
    const text = compile(promela, folder, memoryMb, ['-O2'])([`-w${tableBits}`]);
    const numberIn = (pattern: RegExp) => Number(pattern.exec(text)?.[1]);
    const rule = /Broken: (.*)/.exec(text)?.[0];
    return {
      states: numberIn(/([\d.e+]+) states, stored/),
      seconds: numberIn(/elapsed time ([\d.]+)/),
      megabytes: numberIn(/([\d.]+)\ttotal actual memory/),
      isComplete: text.includes('errors: 0') && !text.includes('Search not completed'),
      broken: rule && [rule, ...replay(promela, folder)].join('\n'),
    };
  });

/** The steps to the fault that the search has just found. */
const replay = (promela: Promela, folder: string): string[] => {
  const text = compile(promela, folder, 2_000, ['-DPRINTS'])(['-r']);
  return text.split('\n').flatMap((line) => {
    const number = /^(\d+) \d[\d ]*$/.exec(line)?.[1];
    return number === undefined ? [] : [promela.steps[Number(number)] ?? number];
  });
};
