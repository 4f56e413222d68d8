import { createWriteStream, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';

export interface Log {
  path: string;
  write: (line: string, from?: 'stdout' | 'stderr') => void;
}

/** A log begins anew at a start that finds it larger. */
const mostBytes = 20 * 1024 * 1024;

/**
 * The file `<name>.log`; warnings and errors also go to the terminal, as one line each.
 * @param isNoteworthy for programs that are not ours: what of theirs a reader must see
 */
export const openLog = (
  folder: string,
  name: string,
  say: (line: string) => void,
  isNoteworthy?: (line: string) => boolean,
): Log => {
  const path = join(folder, `${name}.log`);
  if ((statSync(path, { throwIfNoEntry: false })?.size ?? 0) > mostBytes) rmSync(path);
  const stream = createWriteStream(path, { flags: 'a', mode: 0o600 });
  stream.on('error', () => {}); // A full disk must not end the stack.
  const shown = isNoteworthy
    ? (line: string) => (isNoteworthy(line) ? line : undefined)
    : summarize;
  return {
    path,
    write(line, from = 'stdout') {
      stream.write(`${line}\n`);
      const summary = shown(line, from);
      if (summary) say(`${name}: ${summary}`);
    },
  };
};

const mostReasonLength = 500;

/** Of what a program of ours said on stderr before it ended: the error, or all of it if it is short. */
export const reasonOf = (lines: string[]): string => {
  const said = lines
    .map((line) => line.trim())
    .filter((line) => line && !/^(at |Node\.js v)/.test(line));
  const reason = said.find((line) => /^\w*Error\b/.test(line)) ?? said.join(' ');
  return reason ? `: ${reason.slice(0, mostReasonLength).replace(/\.$/, '')}` : '';
};

const warning = 40;

/** Of a pino line its message and payment; of other text on stderr what looks like the start of an error. */
const summarize = (line: string, from: 'stdout' | 'stderr'): string | undefined => {
  if (quietLine.test(line)) return undefined;
  const entry = parse(line);
  if (!entry) return from === 'stderr' && /^\S*(error|warn)/i.test(line) ? line : undefined;
  if (typeof entry.level !== 'number' || entry.level < warning) return undefined;
  const because = entry.err?.message;
  const what =
    because && because !== entry.msg ? `${entry.msg ?? 'error'} (${because})` : entry.msg;
  return [what, entry.payment_id].filter(Boolean).join(', ');
};

interface Entry {
  level?: number;
  msg?: string;
  payment_id?: string;
  err?: { message?: string };
}

/** Below a warning: nothing to show, and thousands a second are not worth parsing. */
const quietLine = /^\{"level":[123]0,/;

const parse = (line: string): Entry | undefined => {
  if (!line.startsWith('{')) return undefined;
  try {
    return JSON.parse(line) as Entry; // pino's own form; anything else has no level.
  } catch {
    return undefined;
  }
};
