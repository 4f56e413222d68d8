import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

export interface Address {
  host: string;
  port: number;
}

/**
 * Sends bytes and goes away, after a time or an event. Resolves then, or when the other side has closed
 * the connection, to what was received.
 * @param how.reset without saying goodbye, as a client that is killed
 */
export const sendAndLeave = (
  { host, port }: Address,
  bytes: string | Buffer,
  { after, reset }: { after: number | Promise<unknown>; reset: boolean },
): Promise<string> =>
  new Promise((resolve) => {
    const socket = connect(port, host);
    const leave = () => (reset ? socket.resetAndDestroy() : socket.destroy());
    socket.once('connect', () => {
      socket.write(bytes, 'latin1');
      void (typeof after === 'number' ? sleep(after) : after).then(leave);
    });
    socket.on('error', () => socket.destroy());
    let received = '';
    socket.setEncoding('latin1').on('data', (chunk: string) => (received += chunk));
    socket.once('close', () => resolve(received));
  });

const head = (line: string, ...lines: string[]) => [line, ...lines, '', ''].join('\r\n');

/** Whole requests for these paths. */
export const requestsFor = (
  host: string,
  paths: readonly string[],
  headers: Record<string, string> = {},
): string[] =>
  paths.map((path) =>
    head(
      `GET ${path} HTTP/1.1`,
      `Host: ${host}`,
      ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    ),
  );

/** What no client should send: HTTP that is cut off or odd, and other protocols. */
export const oddRequests = (host: string): (string | Buffer)[] => {
  const to = `Host: ${host}`;
  return [
    head('POST /x HTTP/1.1', to, 'Content-Length: 99999') + 'abc',
    head('POST /webhook HTTP/1.1', to, 'Content-Length: 10') + 'ab',
    head('POST /x HTTP/1.1', to, 'Transfer-Encoding: chunked') + 'zz\r\n',
    head('POST /x HTTP/1.1', to, 'Transfer-Encoding: chunked') + '5\r\nab',
    head('POST /x HTTP/1.1', to, 'Transfer-Encoding: gzip, chunked') + '0\r\n\r\n',
    head('POST /x HTTP/1.1', to, 'Transfer-Encoding: chunked', 'Trailer: x') + '0\r\nx: y\r\n\r\n',
    head('GET / HTTP/1.1', to, 'Transfer-Encoding: chunked') + '0\r\n\r\n',
    head('GET / HTTP/1.1', to, 'Content-Length: 5', 'Transfer-Encoding: chunked'),
    head('GET / HTTP/1.1', to, 'Content-Length: 5', 'Content-Length: 6'),
    head('GET / HTTP/1.1', to, 'Content-Length: -1'),
    head('GET / HTTP/1.1', to, 'Trailer: x'),
    head('GET / HTTP/1.1', to, 'Trailer: x', 'Expect: 100-continue'),
    head('GET / HTTP/1.1', to, 'Expect: 100-continue', 'Content-Length: 5'),
    head('GET / HTTP/1.1', to, 'Expect: 200-ok'),
    head('GET / HTTP/1.1', to, 'Upgrade: websocket', 'Connection: Upgrade'),
    head('GET / HTTP/1.1', to, 'Upgrade: h2c', 'Connection: Upgrade, HTTP2-Settings'),
    head('GET / HTTP/1.1', to, 'Keep-Alive: x', 'TE: trailers', 'Proxy-Connection: close'),
    head('GET / HTTP/1.1', to, `Cookie: a=${'A'.repeat(20_000)}`),
    head('GET / HTTP/1.1', to, ...Array.from({ length: 3_000 }, (_, index) => `x${index}: y`)),
    head('GET / HTTP/1.1', to, 'X-Byte: \xff\x80'),
    head('GET / HTTP/1.1', to, to),
    head('GET / HTTP/1.1'),
    head('GET / HTTP/1.0'),
    head('GET / HTTP/0.9'),
    head('HEAD / HTTP/1.1', to),
    head('CONNECT a:1 HTTP/1.1', to) + 'bytes',
    head('OPTIONS * HTTP/1.1', to),
    head('TRACE / HTTP/1.1', to),
    head('M-SEARCH * HTTP/1.1', to),
    head('NONSENSE / HTTP/1.1', to),
    head('GET //x HTTP/1.1', to),
    head('GET //[ HTTP/1.1', to),
    head('GET http://[ HTTP/1.1', to),
    head('GET http://evil.example/ HTTP/1.1', to),
    head('GET /\t HTTP/1.1', to),
    head('GET /\xff\xfe HTTP/1.1', to),
    head('GET /%E0%A4%A HTTP/1.1', to),
    head('GET /%00 HTTP/1.1', to),
    head('GET /?%E0%A4%A=%&a[b]=c&__proto__=d HTTP/1.1', to),
    head(`GET /${'a'.repeat(20_000)} HTTP/1.1`, to),
    head('GET /a HTTP/1.1', to) + head('GET /b HTTP/1.1', to) + head('GET /c HTTP/1.1', to),
    'GET / HT',
    '',
    '\r\n\r\n\r\n',
    '\0'.repeat(1_000),
    // A TLS greeting, HTTP/2 with and without frames, Postgres.
    '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03',
    'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
    'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0\0\xff\xff\xff\x01\0\0\0\0\x01abc',
    Buffer.from([0, 0, 0, 8, 4, 210, 22, 47]),
    Buffer.from([0, 0, 0, 16, 4, 210, 22, 46, 0, 0, 0, 1, 0, 0, 0, 2]),
    Buffer.from([0, 0, 0, 9, 0, 3, 0, 0, 0]),
    Buffer.from([0x7f, 0xff, 0xff, 0xff, 0, 3, 0, 0]),
  ];
};
