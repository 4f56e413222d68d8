import type { Socket } from 'node:net';

const statuses = new WeakMap<Error, number>();

/** The status of an answer whose headers had not ended when this error broke the connection. */
export const statusBefore = (error: unknown): number | undefined =>
  error instanceof Error ? statuses.get(error) : undefined;

/**
 * Keeps the status line of an answer that breaks off within its headers, of which undici tells
 * nothing: looks at what it reads, until the headers end. To be called before undici has the socket.
 */
export const watchStatusLine = (socket: Socket): void => {
  let head = '';
  let answered = -1;
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
    if (chunk instanceof Buffer) look(chunk);
    return chunk;
  };
  socket.on('error', (error) => {
    const [, status] = statusLine.exec(head) ?? [];
    if (status !== undefined) statuses.set(error, Number(status));
  });
};

const statusLine = /^HTTP\/1\.[01] (\d{3})(?: [^\r\n]*)?\r\n/;
/** Whole answers like 102 Processing, which others follow. */
const interim = /^(?:HTTP\/1\.[01] 1\d\d(?: [^\r\n]*)?\r\n(?:[^\r\n]+\r\n)*\r\n)+/;
