import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';

/** The output of a program, and its exit code. */
export const watchProgram = (child: ChildProcess) => {
  let [output, errors] = ['', ''];
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (chunk: Buffer) => (output += chunk.toString()));
  child.stderr?.on('data', (chunk: Buffer) => (errors += chunk.toString()));
  return {
    output: () => output,
    errors: () => errors,
    // 'close', so that the output is complete.
    exited: once(child, 'close').then(([code]) => code as number | null),
  };
};
