import { text } from 'node:stream/consumers';
import { StringDecoder } from 'node:string_decoder';
import { createInterface } from 'node:readline/promises';
import { terminalText } from '../../contract/terminal-text.ts';
import { Refusal } from '../operations/change.ts';

/** The terminal, as the commands use it. */
export interface Io {
  out: (text: string) => void;
  /** Prints without a line end, and waits until the reader has taken it. False if there is no reader any more. */
  write: (text: string) => Promise<boolean>;
  /** Prints anything but the output, e.g. progress. */
  note: (text: string) => void;
  /** False for pipes and scripts. */
  isInteractive: boolean;
  /** The output goes to a person's terminal, and not to a file or program. */
  showsOutput: boolean;
  ask: (question: string) => Promise<string>;
  /**
   * Reads hidden input from the terminal, or standard input from a pipe. Hidden input ends with the first
   * line after which `isComplete` is true, or with Ctrl-D.
   */
  readSecret: (question: string, isComplete: (typed: string) => boolean) => Promise<string>;
}

const maxSecretLength = 64 * 1024;
/** Pasted text comes in several pieces within this time. */
const quietMs = 100;

export const createIo = ({
  stdin,
  stdout,
  stderr,
}: Pick<NodeJS.Process, 'stdin' | 'stdout' | 'stderr'>): Io => {
  // A reader like `head` may close the pipe early. The command still finishes its work.
  for (const stream of [stdout, stderr]) stream.on('error', ignoreClosedPipe);
  const isInteractive = stdin.isTTY && stderr.isTTY;
  const ask = async (question: string) => {
    const lines = createInterface({ input: stdin, output: stderr });
    try {
      return await lines.question(question);
    } catch {
      // Ctrl-C or Ctrl-D leaves the cursor behind the question.
      stderr.write('\n');
      throw new Refusal('Nothing was done.');
    } finally {
      lines.close();
    }
  };
  return {
    out: (line) => void stdout.write(`${line}\n`),
    write: (part) => new Promise((resolve) => void stdout.write(part, (error) => resolve(!error))),
    note: (line) => void stderr.write(`${line}\n`),
    isInteractive,
    showsOutput: stdout.isTTY,
    ask,
    async readSecret(question, isComplete) {
      // Not isInteractive: with stderr redirected, a terminal would still echo the input.
      if (!stdin.isTTY) {
        const piped = await text(stdin);
        if (piped.length > maxSecretLength) throw tooLong();
        if (piped.trim() === '') throw new Refusal('Nothing came on standard input: pipe it in.');
        return piped.trim();
      }
      stderr.write(question);
      stdin.setRawMode(true);
      try {
        return await readHidden(stdin, isComplete);
      } finally {
        await untilQuiet(stdin);
        stdin.setRawMode(false).pause();
        stderr.write('\n');
      }
    },
  };
};

/** The one way of every text to the terminal: no text of others controls it. */
export const withoutControls = (io: Io): Io => ({
  ...io,
  out: (lines) => io.out(terminalText(lines)),
  // A file gets every byte.
  write: (part) => io.write(io.showsOutput ? terminalText(part) : part),
  note: (lines) => io.note(terminalText(lines)),
  ask: (question) => io.ask(terminalText(question)),
  readSecret: (question, isComplete) => io.readSecret(terminalText(question), isComplete),
});

const tooLong = () => new Refusal('The input is too long.');

const ignoreClosedPipe = (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
};

/** Reads character by character in raw mode, in which the terminal echoes nothing. */
const readHidden = (
  stdin: NodeJS.ReadStream,
  isComplete: (typed: string) => boolean,
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
        // Raw mode passes Ctrl-C and Ctrl-D on as characters.
        const isEnd = character === '\u0004';
        if (character === '\u0003' || (isEnd && typed.trim() === ''))
          return end(() => reject(new Refusal('Nothing was done.')));
        if (isEnd || (isLineEnd && isComplete(typed))) return end(() => resolve(typed.trim()));
        if (typed.length >= maxSecretLength) return end(() => reject(tooLong()));
        if (character === '\u007f') typed = typed.slice(0, -1);
        else typed += isLineEnd ? '\n' : character;
      }
    };
    stdin.on('data', onData).resume();
  });

/** Swallows the rest of a pasted secret, which the shell would run as commands. */
const untilQuiet = (stdin: NodeJS.ReadStream): Promise<void> =>
  new Promise((resolve) => {
    const wait = () => void timer.refresh();
    const timer = setTimeout(() => {
      stdin.off('data', wait);
      resolve();
    }, quietMs);
    stdin.on('data', wait).resume();
  });
