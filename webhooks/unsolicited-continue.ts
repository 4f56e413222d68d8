import type { Socket } from 'node:net';

/*
 * Symptom: undici fails with "bad response" on a 100 Continue, which RFC 9110, section 15.2, lets a server
 * send without being asked (undici 8.12, lib/dispatcher/client-h1.js, onHeadersComplete). Other 1xx are
 * fine. Remove this file when undici skips 100.
 */

/** Removes 100 Continue from the start of every response. Call it before undici gets the socket. */
export const skipUnsolicitedContinue = (socket: Socket): void => {
  // A response starts with the first bytes that are read after a request was written.
  let writtenAtResponse = -1;
  let held: Buffer = nothing;
  // A listener that reads and unshifts would cost a tenth of an attempt.
  const read = socket.read.bind(socket);
  socket.read = (size) => {
    const chunk: unknown = read(size);
    if (!(chunk instanceof Buffer) || socket.bytesWritten === writtenAtResponse) return chunk;
    const rest = withoutContinue(held.length > 0 ? Buffer.concat([held, chunk]) : chunk);
    const isIncomplete = startsContinue(rest) && rest.length < maxHeld;
    held = isIncomplete ? rest : nothing;
    if (isIncomplete) return null;
    writtenAtResponse = socket.bytesWritten;
    return rest;
  };
};

const nothing = Buffer.alloc(0);
const maxHeld = 4 * 1024;
const completeContinue = /^HTTP\/1\.[01] 100(?: [^\r\n]*)?\r\n(?:[^\r\n]+\r\n)*\r\n/;
const statusLines = ['HTTP/1.1 100', 'HTTP/1.0 100'];

const withoutContinue = (bytes: Buffer): Buffer => {
  let rest = bytes;
  while (startsContinue(rest)) {
    const [found] = completeContinue.exec(rest.toString('latin1', 0, maxHeld)) ?? [];
    if (found === undefined) break;
    rest = rest.subarray(found.length);
  }
  return rest;
};

/** True if the bytes are a 100 Continue or its first part. */
const startsContinue = (bytes: Buffer): boolean => {
  const start = bytes.toString('latin1', 0, 12);
  return statusLines.some((line) => line.startsWith(start));
};
