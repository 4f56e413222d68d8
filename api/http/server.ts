import { once } from 'node:events';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import { Server as NetServer, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { ErrorCode } from '../../contract/errors.ts';
import { errors } from '../../contract/errors.ts';
import { newRequestId } from '../../contract/ids.ts';
import { limits } from '../../contract/limits.ts';
import type { Logger } from '../../telemetry/log.ts';
import { bufferBody } from './body.ts';

const options = {
  /** A sender has this long for its headers, and for the whole request. */
  headersTimeout: limits.headSeconds * 1000,
  requestTimeout: limits.requestSeconds * 1000,
  /** How often the two are looked at. */
  connectionsCheckingInterval: 1_000,
  /**
   * For which a connection may rest: longer than at a proxy (nginx, AWS: 60 s). One that closes just as a
   * proxy uses it again is a 502 for whoever called, since a create is not repeated.
   */
  keepAliveTimeout: 75_000,
  maxHeaderSize: limits.headKb * 1024,
  // Node's own answer to a missing one has no request id.
  requireHostHeader: false,
};

/**
 * Of one process: more than requests are taken, so that who has none under way does not keep others out.
 * With half a head of 15 KB on each they need about 110 MB.
 */
const connectionsMax = 5_000;

/** A reader has this long for an answer, from when all of it is there. */
const takenWithinMs = limits.takenSeconds * 1000;

/** What answers that are not taken may hold together: two hundred of the longest lists; the api is given 640 MB. */
const untakenBytesMax = 192 << 20;

/** The HTTP server: what never becomes a request of the application is answered here. */
export const createHttpServer = (
  handler: (req: IncomingMessage, res: ServerResponse) => Promise<void>,
  { logger }: { logger: Pick<Logger, 'error'> },
): Server => {
  const server = createServer(options);
  const open: OpenAnswers = new Map();
  cutUntaken(server, open);

  const take = (req: IncomingMessage, res: ServerResponse) => {
    const { socket } = req;
    const others = open.get(socket)?.filter(isOpen) ?? [];
    // More are sent ahead by nobody but who wants to fill the memory. Pausing would not do: what is read
    // at once may hold hundreds.
    if (others.length >= limits.unanswered) return void socket.destroy();
    open.set(socket, [...others, res]);
    bufferBody(req);
    if (req.httpVersion === '1.1' && req.headers.host === undefined)
      res.writeHead(400, { 'x-request-id': newRequestId(), connection: 'close' }).end();
    else void handler(req, res);
  };
  server.on('request', take);
  server.maxConnections = connectionsMax;
  // Short ones take ten times their size, and a head has room for a thousand.
  server.maxHeadersCount = limits.headLines;
  server.on(
    'drop',
    onceAMinute(() => logger.error('There is no room for more connections')),
  );
  server.on('clientError', (error: ClientError, socket) => {
    if (error.code === 'ECONNRESET' || !socket.writable) socket.destroy();
    else if (socket instanceof Socket && isAnswering(open, socket)) return;
    else if (isMethodUnknown(error)) refuseMethod(socket);
    else if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT') end(socket, '408 Request Timeout');
    else if (error.code === 'HPE_HEADER_OVERFLOW')
      end(socket, '431 Request Header Fields Too Large');
    else end(socket, '400 Bad Request');
  });
  // What else than `100-continue` a client expects is no reason to refuse it.
  server.on('checkExpectation', take);
  server.on('connect', (_request, socket) => {
    // Node listens for its errors no more, and one that nobody hears would end the process.
    socket.on('error', () => socket.destroy());
    refuseMethod(socket);
  });
  return server;
};

/** Of each connection those that may not be taken yet; looked over at its next request, and by the clock. */
type OpenAnswers = Map<Socket, ServerResponse[]>;
const isOpen = ({ closed }: ServerResponse) => !closed;

/**
 * Whether a request that is all there waits for its answer, perhaps of a payment that is written by
 * now: the answer must go out, whatever comes behind it, and the connection ends after it.
 */
const isAnswering = (open: OpenAnswers, socket: Socket): boolean => {
  const last = open.get(socket)?.findLast((res) => isOpen(res) && res.req.complete);
  if (last?.shouldKeepAlive) {
    last.shouldKeepAlive = false;
    // Where its head is sent already, Node keeps the connection.
    last.once('close', () => socket.destroySoon());
  }
  return last !== undefined;
};

/**
 * Resets connections whose reader does not take an answer: it holds memory and a file for as long. Where
 * all of them hold too much, those first that have waited longest.
 */
const cutUntaken = (server: Server, open: OpenAnswers) => {
  /** When each was first seen with all of its answer handed over. */
  const handedOver = new WeakMap<ServerResponse, number>();
  const check = () => {
    const now = performance.now();
    const untaken: { socket: Socket; since: number; bytes: number }[] = [];
    for (const [socket, answers] of open) {
      const left = answers.filter(isOpen);
      // An answer behind another one does not hear that its connection has closed.
      if (socket.destroyed || left.length === 0) open.delete(socket);
      else open.set(socket, left);
      for (const res of left.filter(({ writableEnded }) => writableEnded)) {
        const since = handedOver.get(res) ?? now;
        handedOver.set(res, since);
        if (now - since >= takenWithinMs) socket.resetAndDestroy();
        else untaken.push({ socket, since, bytes: res.writableLength });
      }
    }
    let held = untaken.reduce((sum, { bytes }) => sum + bytes, 0);
    for (const { socket, bytes } of untaken.toSorted((one, other) => one.since - other.since)) {
      if (held <= untakenBytesMax) break;
      held -= bytes;
      socket.resetAndDestroy();
    }
  };
  const checking = setInterval(check, options.connectionsCheckingInterval).unref();
  server.once('close', () => clearInterval(checking));
};

const onceAMinute = (tell: () => void) => {
  let toldAt = -Infinity;
  return () => {
    if (performance.now() - toldAt < 60_000) return;
    toldAt = performance.now();
    tell();
  };
};

/** For which one may rest while the process stops. */
const lastRestMs = 5_000;

/**
 * Takes no more connections and waits for those there are, cutting them after the grace. Idle ones are
 * left for 5 s: to a client that is just writing its next request on one, a close would be a failure,
 * and who is that busy has been answered by then.
 * `beginStop` is called once nobody can come any more: from then on answers end their connection.
 */
export const shutdownGracefully = async (
  server: Server,
  { graceMs, beginStop }: { graceMs: number; beginStop: () => void },
): Promise<void> => {
  const closed = once(server, 'close');
  await quietMoment(server);
  // Not the HTTP server's own close, which ends idle connections at once.
  NetServer.prototype.close.call(server);
  beginStop();
  const tidying = setInterval(() => server.closeIdleConnections(), lastRestMs);
  const impatient = setTimeout(() => server.closeAllConnections(), graceMs);
  await closed;
  clearInterval(tidying);
  clearTimeout(impatient);
};

const quietTurnMs = 0.1;
const turnsMax = 10_000;

/**
 * Right after a short turn of the event loop in which nobody waited to be taken: the kernel resets
 * those that still wait when a server stops listening, and Node takes one connection a turn.
 */
const quietMoment = async (server: Server) => {
  let isQuiet = true;
  const disturb = () => {
    isQuiet = false;
  };
  server.on('connection', disturb);
  let last = performance.now();
  for (let turn = 0; turn < turnsMax; turn += 1) {
    isQuiet = true;
    await new Promise((resolve) => setImmediate(resolve));
    const now = performance.now();
    if (isQuiet && turn > 0 && now - last < quietTurnMs) break;
    last = now;
  }
  server.off('connection', disturb);
};

/** With the bytes that came last. */
type ClientError = NodeJS.ErrnoException & { rawPacket?: Buffer };

const requestLine = /^[\w!#$%&'*+.^`|~-]+ \S+ HTTP\/1\.[01]\r?\n/;

/** The parser says so also of a TLS greeting, or of anything else that is no request. */
const isMethodUnknown = ({ code, rawPacket }: ClientError): boolean =>
  code === 'HPE_INVALID_METHOD' &&
  requestLine.test(rawPacket?.toString('latin1', 0, options.maxHeaderSize) ?? '');

/** A method that HTTP itself does not know, or that only a proxy has. */
const refuseMethod = (socket: Duplex) =>
  end(socket, `${errors.METHOD_NOT_ALLOWED.status} Method Not Allowed`, {
    code: 'METHOD_NOT_ALLOWED',
    message: 'Use GET, HEAD or POST.',
  });

const end = (socket: Duplex, status: string, error?: { code: ErrorCode; message: string }) => {
  const requestId = newRequestId();
  const body = error ? JSON.stringify({ error: { ...error, request_id: requestId } }) : '';
  socket.end(
    [
      `HTTP/1.1 ${status}`,
      'Connection: close',
      `X-Request-Id: ${requestId}`,
      `Content-Length: ${Buffer.byteLength(body)}`,
      ...(error ? ['Allow: GET, HEAD, POST', 'Content-Type: application/json'] : []),
      '',
      body,
    ].join('\r\n'),
    () => socket.destroy(),
  );
};
