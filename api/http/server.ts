import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import type { Duplex } from 'node:stream';
import type { ErrorCode } from '../../contract/errors.ts';
import { errors } from '../../contract/errors.ts';
import { newRequestId } from '../../contract/ids.ts';
import { limits } from '../../contract/limits.ts';
import type { Logger } from '../../telemetry/log.ts';
import { bufferBody } from './body.ts';

const options = {
  headersTimeout: limits.requestHeadSeconds * 1000,
  requestTimeout: limits.requestSeconds * 1000,
  /** Node checks these two timeouts at this interval. */
  connectionsCheckingInterval: 1_000,
  /**
   * Longer than proxies keep an idle connection (nginx and AWS: 60 s). If we closed it first, just as the
   * proxy sends a request, the caller would get 502: a proxy does not repeat a create.
   */
  keepAliveTimeout: 75_000,
  maxHeaderSize: limits.requestHeadKb * 1024,
  // Node's own response to a missing Host has no request id.
  requireHostHeader: false,
};

/** In one process: more than it handles requests, so that idle connections do not keep others out. */
const connectionsMax = 5_000;

/**
 * The HTTP server. It runs behind a proxy that ends TLS, and responds itself to requests that never reach
 * the application because they are not valid HTTP.
 */
export const createHttpServer = (
  handler: (req: IncomingMessage, res: ServerResponse) => Promise<void>,
  { logger }: { logger: Pick<Logger, 'error'> },
): Server => {
  const server = createServer(options);
  server.maxConnections = connectionsMax;
  // A parsed header line takes ten times its size, and 16 KB have room for a thousand. One more than the
  // limit, because some versions of Node drop further lines unseen: of a request that has it, nothing counts.
  server.maxHeadersCount = limits.requestHeaders + 1;
  // A reader that takes nothing of its response holds memory and a file.
  server.timeout = limits.responseIdleSeconds * 1000;

  /** The last response of each connection. */
  const responses = new WeakMap<Duplex, ServerResponse>();
  const accept = (req: IncomingMessage, res: ServerResponse) => {
    responses.set(req.socket, res);
    const status = invalidHeadStatus(req);
    if (status) {
      // Without `bufferBody`: the length of the body may be in a line that was dropped.
      res.writeHead(status, { 'x-request-id': newRequestId(), connection: 'close' }).end();
      return;
    }
    bufferBody(req, res);
    void handler(req, res);
  };
  server.on('request', accept);
  // Serves requests with an unknown `Expect` header, too.
  server.on('checkExpectation', accept);
  server.on('connect', (_request, socket) => {
    // Node has removed its own listener; an unhandled error would end the process.
    socket.on('error', () => socket.destroy());
    rejectMethod(socket);
  });
  server.on('clientError', (error: ClientError, socket) => {
    if (error.code === 'ECONNRESET' || !socket.writable) return socket.destroy();
    const res = responses.get(socket);
    if (res && isPending(res)) return closeAfter(res, socket);
    rejectMalformed(error, socket);
  });
  let droppedAt = -Infinity;
  server.on('drop', () => {
    if (performance.now() - droppedAt < 60_000) return;
    droppedAt = performance.now();
    logger.error(
      `Refusing new connections: ${server.maxConnections} are open; not logged again for a minute`,
    );
  });
  return server;
};

const invalidHeadStatus = (req: IncomingMessage): 400 | 431 | undefined => {
  // Names and values take turns.
  if (req.rawHeaders.length / 2 > limits.requestHeaders) return 431;
  if (req.httpVersion === '1.1' && req.headers.host === undefined) return 400;
  return undefined;
};

/** A whole request was received, and its response is not sent yet; it may say that a payment was created. */
const isPending = (res: ServerResponse): boolean => res.req.complete && !res.closed;

/** Lets the response go out although invalid bytes follow its request, and closes the connection after it. */
const closeAfter = (res: ServerResponse, socket: Duplex) => {
  res.shouldKeepAlive = false;
  // Node keeps the connection if the head of the response was sent before.
  res.once('close', () => socket.end(() => socket.destroy()));
};

/** With the bytes that could not be parsed. */
type ClientError = NodeJS.ErrnoException & { rawPacket?: Buffer };

const rejectMalformed = (error: ClientError, socket: Duplex) => {
  if (isUnknownMethod(error)) rejectMethod(socket);
  else if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT') respond(socket, '408 Request Timeout');
  else if (error.code === 'HPE_HEADER_OVERFLOW')
    respond(socket, '431 Request Header Fields Too Large');
  else respond(socket, '400 Bad Request');
};

const requestLine = /^[\w!#$%&'*+.^`|~-]+ \S+ HTTP\/1\.[01]\r?\n/;

/** The parser reports an invalid method for anything that is not HTTP, such as a TLS greeting. */
const isUnknownMethod = ({ code, rawPacket }: ClientError): boolean =>
  code === 'HPE_INVALID_METHOD' &&
  requestLine.test(rawPacket?.toString('latin1', 0, options.maxHeaderSize) ?? '');

/** Responds to CONNECT and to methods that HTTP does not define. */
const rejectMethod = (socket: Duplex) =>
  respond(socket, `${errors.METHOD_NOT_ALLOWED.status} Method Not Allowed`, {
    code: 'METHOD_NOT_ALLOWED',
    message: 'Use GET, HEAD or POST.',
  });

const respond = (socket: Duplex, status: string, error?: { code: ErrorCode; message: string }) => {
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
