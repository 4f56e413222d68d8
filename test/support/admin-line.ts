import type { Io } from '../../admin/cli/io.ts';
import { runAdmin } from '../../admin/cli/program.ts';
import type { Operations } from '../../admin/operations.ts';

interface Options {
  /** What a person at the terminal answers; without it nobody sits there. */
  answer?: string;
  /** What is typed or piped where a secret is asked for. */
  secret?: string;
}

/** One line of the admin, as `npm run admin --` would run it. */
export const runLine = async (
  operationsOf: (actor: string | undefined) => Operations,
  line: readonly string[],
  { answer, secret = '' }: Options = {},
) => {
  const out: string[] = [];
  const notes: string[] = [];
  const questions: string[] = [];
  const actors: (string | undefined)[] = [];
  const io: Io = {
    out: (said) => out.push(said),
    note: (said) => notes.push(said),
    isInteractive: answer !== undefined,
    ask: async (question) => {
      questions.push(question);
      return answer ?? '';
    },
    readSecret: async () => secret,
  };
  const open = async (actor: string | undefined) => {
    actors.push(actor);
    return operationsOf(actor);
  };
  const code = await runAdmin({ io, open }, line);
  return { code, out: out.join('\n'), notes: notes.join('\n'), questions, actors };
};

export type RunLine = (line: readonly string[], options?: Options) => ReturnType<typeof runLine>;

export const words = (line: string): string[] => line.split(' ');
