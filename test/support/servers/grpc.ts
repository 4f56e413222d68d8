import type { ServerHttp2Stream } from 'node:http2';

/** Numbers of gRPC. */
const ok = '0';
const unavailable = '14';
const headBytes = 5;

/** Answers a call with this message; without one the server is not available. */
export const answerCall = (stream: ServerHttp2Stream, message?: Uint8Array): void => {
  const head = Buffer.alloc(headBytes);
  head.writeUInt32BE(message?.length ?? 0, 1);
  stream.on('error', () => {}).resume();
  stream.once('wantTrailers', () =>
    stream.sendTrailers({ 'grpc-status': message ? ok : unavailable }),
  );
  stream.respond({ 'content-type': 'application/grpc' }, { waitForTrailers: true });
  stream.end(message && Buffer.concat([head, message]));
};

export const emptyMessage = new Uint8Array();
