import { text } from 'node:stream/consumers';
import { StringDecoder } from 'node:string_decoder';
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
  /**
   * Typed without being shown, or read from standard input where nobody types. What is typed ends with
   * the first line after which it is whole, or with Ctrl-D.
   */
  readSecret: (question: string, isWhole: (typed: string) => boolean) => Promise<string>;
}

const maxSecretLength = 64 * 1024;
/** What is pasted comes in pieces, one right behind the other. */
const quietMs = 100;

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
    } catch {
      // Ctrl-C, or Ctrl-D: the line with the question is still open.
      stderr.write('\n');
      throw new Refusal('Nothing was done.');
    } finally {
      lines.close();
    }
  };
  return {
    out: (line) => void stdout.write(`${line}\n`),
    note: (line) => void stderr.write(`${line}\n`),
    isInteractive,
    ask,
    async readSecret(question, isWhole) {
      // Where the notes go elsewhere, what is typed would be shown all the same.
      if (!stdin.isTTY) {
        const piped = await text(stdin);
        if (piped.length > maxSecretLength) throw tooLong();
        return piped.trim();
      }
      stderr.write(question);
      stdin.setRawMode(true);
      try {
        return await typedInto(stdin, isWhole);
      } finally {
        await untilQuiet(stdin);
        stdin.setRawMode(false).pause();
        stderr.write('\n');
      }
    },
  };
};

const tooLong = () => new Refusal('That is too long for credentials.');

const unlessClosed = (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
};

/** Character by character, so that the terminal shows none of them. */
const typedInto = (
  stdin: NodeJS.ReadStream,
  isWhole: (typed: string) => boolean,
): Promise<string> =>
  new Promise((resolve, reject) => {
    const decoder = new StringDecoder('utf8');
    let typed = '';
    const end = (finish: () => void) => {
      stdin.off('data', onData);
      finish();
    };
    const onData = (chunk: Buffer) => {
      for (const character of decoder.write(chunk)) {
        const isLineEnd = character === '\r' || character === '\n';
        // Ctrl-C and Ctrl-D: raw mode takes their meaning away.
        const isEnd = character === '\u0004';
        if (character === '\u0003' || (isEnd && typed.trim() === ''))
          return end(() => reject(new Refusal('Nothing was done.')));
        if (isEnd || (isLineEnd && isWhole(typed))) return end(() => resolve(typed.trim()));
        if (typed.length >= maxSecretLength) return end(() => reject(tooLong()));
        if (character === '\u007f') typed = typed.slice(0, -1);
        else typed += isLineEnd ? '\n' : character;
      }
    };
    stdin.on('data', onData).resume();
  });

/** The rest of what was pasted is secret too, and the shell would take it for commands. */
const untilQuiet = (stdin: NodeJS.ReadStream): Promise<void> =>
  new Promise((resolve) => {
    const wait = () => void timer.refresh();
    const timer = setTimeout(() => {
      stdin.off('data', wait);
      resolve();
    }, quietMs);
    stdin.on('data', wait).resume();
  });
