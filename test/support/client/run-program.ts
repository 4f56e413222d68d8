import { execFileSync } from 'node:child_process';
import { dirname, join } from 'node:path';

const root = join(import.meta.dirname, '../../..');

/** Runs a program of the project's packages, and returns its output; a failure has the output, too. */
export const runProgram = (program: string, args: readonly string[]): string => {
  try {
    return execFileSync(process.execPath, [join(root, 'node_modules', program), ...args], {
      encoding: 'utf8',
      env: { PATH: dirname(process.execPath), NO_COLOR: '1' },
    });
  } catch (error) {
    const { stdout, stderr } = error as { stdout: string; stderr: string };
    throw new Error(`${program} ${args.join(' ')} failed:\n${stdout}${stderr}`, { cause: error });
  }
};
