import type { Socket } from 'node:net';
import { AttemptError } from './failure.ts';

const statuses = new WeakMap<Error, number>();

/** The status of an answer whose headers had not ended when this error broke the connection. */
export const statusBefore = (error: unknown): number | undefined =>
  error instanceof Error ? statuses.get(error) : undefined;

/**
 * Looks at all that undici reads of a socket, for what undici does not do itself:
 * - keeps the status line of an answer that breaks off within its headers, for `statusBefore`;
 * - leaves out 100 Continue, which undici takes for an error where it did not ask for it;
 * - ends an answer of too many bytes: undici counts neither answers like 102 nor what stands around
 *   chunks.
 *
 * To be called before undici has the socket.
 */
export const watchStatusLine = (socket: Socket): void => {
  let head = '';
  let answered = -1;
  let held: Buffer = nothing;
  let asked = -1;
  let readBytes = 0;
  /** The chunk without a 100 before the answer; null while it may be the beginning of one. */
  const pass = (chunk: Buffer): Buffer | null => {
    if (head !== '' || socket.bytesWritten === answered) return chunk;
    let rest: Buffer = held.length > 0 ? Buffer.concat([held, chunk]) : chunk;
    while (beginsContinue(rest)) {
      const [whole] = continuation.exec(rest.toString('latin1', 0, maxHeld)) ?? [];
      if (whole === undefined) break;
      rest = rest.subarray(whole.length);
    }
    const mayBecome = beginsContinue(rest) && rest.length < maxHeld;
    held = mayBecome ? rest : nothing;
    return mayBecome ? null : rest;
  };
  const look = (chunk: Buffer) => {
    // The headers have ended, and nothing was written since then: this is the body.
    if (socket.bytesWritten === answered) return;
    head = (head + chunk.toString('latin1')).replace(interim, '');
    if (!head.includes('\r\n\r\n')) return;
    head = '';
    answered = socket.bytesWritten;
  };
  // Another listener that reads and puts back would cost a tenth of the whole request.
  const read = socket.read.bind(socket);
  socket.read = (size) => {
    const chunk: unknown = read(size);
    if (!(chunk instanceof Buffer)) return chunk;
    if (socket.bytesWritten !== asked) {
      asked = socket.bytesWritten;
      readBytes = 0;
    }
    // Before this chunk: with what ends the headers much of a body may come.
    if (readBytes >= maxReadBytes) {
      socket.destroy(tooMuch());
      return null;
    }
    readBytes += chunk.length;
    const passed = pass(chunk);
    if (passed) look(passed);
    return passed;
  };
  socket.on('error', (error) => {
    const [, status] = statusLine.exec(head) ?? [];
    if (status !== undefined) statuses.set(error, Number(status));
  });
};

/** Of a whole answer, with all that comes before its status. */
const maxReadBytes = 64 * 1024;
/** Shown only where no status came before it: one that came counts. */
const tooMuch = () =>
  new AttemptError({
    errorClass: 'protocol',
    error: 'No status within the first 64 KB of the answer',
  });

const nothing = Buffer.alloc(0);
const maxHeld = 4 * 1024;
const continuation = /^HTTP\/1\.[01] 100(?: [^\r\n]*)?\r\n(?:[^\r\n]+\r\n)*\r\n/;
const continues = ['HTTP/1.1 100', 'HTTP/1.0 100'];
const beginsContinue = (bytes: Buffer): boolean => {
  const begun = bytes.toString('latin1', 0, 12);
  return continues.some((line) => line.startsWith(begun));
};

const statusLine = /^HTTP\/1\.[01] (\d{3})(?: [^\r\n]*)?\r\n/;
/** Whole answers like 102 Processing, which others follow. */
const interim = /^(?:HTTP\/1\.[01] 1\d\d(?: [^\r\n]*)?\r\n(?:[^\r\n]+\r\n)*\r\n)+/;
