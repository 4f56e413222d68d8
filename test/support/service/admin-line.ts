import type { Io } from '../../../admin/cli/io.ts';
import { runAdmin } from '../../../admin/cli/program.ts';
import type { Operations } from '../../../admin/operations/operations.ts';

interface Options {
  /** The answer to a question at a terminal. Without it, the line runs in a script. */
  answer?: string;
  /** The input for a secret. */
  secret?: string;
  /** Ctrl-C. */
  signal?: AbortSignal;
}

/** Runs one line as `npm run admin --` does. */
export const runLine = async (
  createOperations: (actor: string | undefined) => Operations,
  line: readonly string[],
  { answer, secret = '', signal = new AbortController().signal }: Options = {},
) => {
  const out: string[] = [];
  const notes: string[] = [];
  const questions: string[] = [];
  const actors: (string | undefined)[] = [];
  const io: Io = {
    out: (text) => out.push(text),
    write: async (text) => out.push(text) > 0,
    note: (text) => notes.push(text),
    isInteractive: answer !== undefined,
    showsOutput: answer !== undefined,
    ask: async (question) => {
      questions.push(question);
      return answer ?? '';
    },
    readSecret: async () => secret,
  };
  const open = async (actor: string | undefined) => {
    actors.push(actor);
    return createOperations(actor);
  };
  const code = await runAdmin({ io, open, interruption: () => signal }, line);
  return { code, out: out.join('\n'), notes: notes.join('\n'), questions, actors };
};

export type RunLine = (line: readonly string[], options?: Options) => ReturnType<typeof runLine>;

export const words = (line: string): string[] => line.split(' ');
