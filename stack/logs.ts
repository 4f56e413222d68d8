import { createWriteStream, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';

export interface Log {
  path: string;
  write: (line: string, from?: 'stdout' | 'stderr') => void;
}

/** A larger log starts anew. */
const maxBytes = 20 * 1024 * 1024;

/** Opens the file `<name>.log`. The warnings and errors of our own programs also go to `say`, one line each. */
export const openLog = (folder: string, name: string, say?: (line: string) => void): Log => {
  const path = join(folder, `${name}.log`);
  if ((statSync(path, { throwIfNoEntry: false })?.size ?? 0) > maxBytes) rmSync(path);
  const open = () =>
    createWriteStream(path, { flags: 'a', mode: 0o600 })
      // A full disk must not end the stack. It ends this stream.
      .on('error', () => {});
  let stream = open();
  return {
    path,
    write(line, from = 'stdout') {
      if (stream.destroyed) stream = open();
      stream.write(`${line}\n`);
      const summary = say && summarize(line, from);
      if (summary) say?.(`${name}: ${summary}`);
    },
  };
};

const maxReasonLength = 500;

/** Why a program ended, by what it wrote to stderr: the error, or the whole text if there is none. */
export const reasonIn = (lines: string[]): string => {
  const texts = lines
    .map((line) => line.trim())
    .filter((line) => line && !/^(at |Node\.js v)/.test(line));
  const reason = texts.find((line) => /^\w*Error\b/.test(line)) ?? texts.join(' ');
  return reason ? `: ${reason.slice(0, maxReasonLength).replace(/\.$/, '')}` : '';
};

interface PinoLine {
  level?: number;
  msg?: string;
  payment_id?: string;
  err?: { message?: string };
}

const warning = 40;

/** Below a warning: not worth parsing, as there can be thousands a second. */
const quietLine = /^\{"level":[123]0,/;

/** The message and the payment of a warning or error; undefined for other lines. */
const summarize = (line: string, from: 'stdout' | 'stderr'): string | undefined => {
  if (quietLine.test(line)) return undefined;
  const entry = parsePino(line);
  if (!entry) return from === 'stderr' && /^\S*(error|warn)/i.test(line) ? line : undefined;
  if (typeof entry.level !== 'number' || entry.level < warning) return undefined;
  const cause = entry.err?.message;
  const message = cause && cause !== entry.msg ? `${entry.msg ?? 'error'} (${cause})` : entry.msg;
  return [message, entry.payment_id].filter(Boolean).join(', ');
};

const parsePino = (line: string): PinoLine | undefined => {
  if (!line.startsWith('{')) return undefined;
  try {
    return JSON.parse(line) as PinoLine; // Other JSON has no level.
  } catch {
    return undefined;
  }
};
