import { text } from 'node:stream/consumers';
import { createInterface } from 'node:readline/promises';
import { Refusal } from '../change.ts';

/** What the commands see of the terminal. */
export interface Io {
  out: (text: string) => void;
  /** For what is not the answer: questions, progress. */
  note: (text: string) => void;
  /** A person sits there. */
  isInteractive: boolean;
  ask: (question: string) => Promise<string>;
  /** Typed without being shown, or read from standard input where nobody types. */
  readSecret: (question: string) => Promise<string>;
}

const maxSecretBytes = 64 * 1024;

export const createIo = ({
  stdin,
  stdout,
  stderr,
}: Pick<NodeJS.Process, 'stdin' | 'stdout' | 'stderr'>): Io => {
  // Whoever reads may have had enough, like `head`: what is being done goes on to its end.
  for (const stream of [stdout, stderr]) stream.on('error', unlessClosed);
  const isInteractive = stdin.isTTY && stderr.isTTY;
  const ask = async (question: string) => {
    const lines = createInterface({ input: stdin, output: stderr });
    try {
      return await lines.question(question);
    } finally {
      lines.close();
    }
  };
  return {
    out: (line) => void stdout.write(`${line}\n`),
    note: (line) => void stderr.write(`${line}\n`),
    isInteractive,
    ask,
    async readSecret(question) {
      if (isInteractive) return typeHidden(stdin, stderr, question);
      const piped = await text(stdin);
      if (piped.length > maxSecretBytes) throw new Refusal('That is too long for credentials.');
      return piped.trim();
    },
  };
};

const unlessClosed = (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
};

/** Character by character, so that the terminal shows none of them. */
const typeHidden = (
  stdin: NodeJS.ReadStream,
  stderr: NodeJS.WriteStream,
  question: string,
): Promise<string> =>
  new Promise((resolve, reject) => {
    let typed = '';
    const end = (finish: () => void) => {
      stdin.setRawMode(false).off('data', onData).pause();
      stderr.write('\n');
      finish();
    };
    const onData = (chunk: Buffer) => {
      for (const character of chunk.toString('utf8')) {
        if (character === '\r' || character === '\n') return end(() => resolve(typed.trim()));
        // Ctrl-C and Ctrl-D: raw mode takes their meaning away.
        if (character === '\u0003' || character === '\u0004')
          return end(() => reject(new Refusal('Nothing was done.')));
        typed = character === '\u007f' ? typed.slice(0, -1) : typed + character;
      }
    };
    stderr.write(question);
    stdin.setRawMode(true).on('data', onData).resume();
  });
