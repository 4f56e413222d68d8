import { once } from 'node:events';
import { request as httpRequest, type Agent, type IncomingMessage } from 'node:http';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { type Answer, checkedAnswer } from '../service/journey.ts';

export interface RawRequest {
  method?: string;
  headers?: Record<string, string | string[]>;
  /** A list is sent chunked, one chunk for each piece. */
  body?: Uint8Array | string | readonly (Uint8Array | string)[];
  /** By default the request has its own connection. */
  agent?: Agent;
}

/** Sends a request that `fetch` would refuse or change. */
export const rawRequest = async (
  url: string,
  { method = 'POST', headers = {}, body, agent }: RawRequest,
): Promise<Answer> => {
  const { origin, hostname, port } = new URL(url);
  // `new URL` would normalize the path.
  const path = url.slice(origin.length) || '/';
  const sent = httpRequest({ hostname, port, path, method, headers, agent: agent ?? false });
  const responded = once(sent, 'response');
  // A server may respond and close before it has read everything.
  sent.on('error', () => {});
  if (typeof body === 'string' || body instanceof Uint8Array) sent.end(body);
  else {
    for (const piece of body ?? []) sent.write(piece);
    sent.end();
  }
  const [response] = (await responded) as [IncomingMessage]; // The event's arguments.
  const content = await text(response);
  const responseHeaders = new Headers();
  for (const [name, value] of Object.entries(response.headers))
    responseHeaders.set(name, String(value));
  const status = response.statusCode ?? 0;
  return checkedAnswer({ method, url, status, headers: responseHeaders, text: content });
};

/** Opens a TCP connection; `closed` resolves to everything that was received. */
export const rawConnection = async (
  url: string,
): Promise<{ socket: Socket; closed: Promise<string> }> => {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.setEncoding('utf8');
  let received = '';
  socket.on('data', (chunk: string) => (received += chunk));
  socket.on('error', () => {});
  const closed = once(socket, 'close').then(() => received);
  await once(socket, 'connect');
  return { socket, closed };
};

/** The head of a create whose body has `length` bytes. */
export const createHead = (token: string, length: number): string =>
  [
    'POST /api/v1/payments HTTP/1.1',
    'host: x',
    `authorization: Bearer ${token}`,
    'content-type: application/json',
    `content-length: ${length}`,
    '',
    '',
  ].join('\r\n');
