import { once } from 'node:events';
import type { Agent, IncomingMessage } from 'node:http';
import { request as httpRequest } from 'node:http';
import type { Socket } from 'node:net';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect } from 'vitest';
import { undeclared } from './declared.ts';
import type { Answer } from './journey.ts';

export interface RawRequest {
  method?: string;
  headers?: Record<string, string | string[]>;
  /** Several pieces are sent chunked. */
  body?: Uint8Array | string | readonly (Uint8Array | string)[];
  /** Without one, a connection of its own. */
  agent?: Agent;
}

/** A request that `fetch` would refuse to send, or would send otherwise. */
export const rawRequest = async (
  url: string,
  { method = 'POST', headers = {}, body, agent }: RawRequest,
): Promise<Answer> => {
  const { origin, hostname, port } = new URL(url);
  // As it is given: a URL would tidy up `..` and the like.
  const path = url.slice(origin.length) || '/';
  const sent = httpRequest({ hostname, port, path, method, headers, agent: agent ?? false });
  const answered = once(sent, 'response');
  // A server may answer before it has read everything, and close.
  sent.on('error', () => {});
  if (typeof body === 'string' || body instanceof Uint8Array) sent.end(body);
  else {
    for (const piece of body ?? []) sent.write(piece);
    sent.end();
  }
  const [response] = (await answered) as [IncomingMessage]; // As Node emits it.
  const content = await text(response);
  const answeredHeaders = new Headers();
  for (const [name, value] of Object.entries(response.headers))
    answeredHeaders.set(name, String(value));
  const isJson = answeredHeaders.get('content-type')?.startsWith('application/json');
  expect(
    undeclared({
      method,
      url,
      status: response.statusCode ?? 0,
      headers: answeredHeaders,
      text: content,
    }),
  ).toEqual([]);
  const json = isJson && content !== '' ? (JSON.parse(content) as Record<string, unknown>) : {};
  return { status: response.statusCode ?? 0, headers: answeredHeaders, text: content, json };
};

/** A connection on which a test writes what it likes; `closed` gives everything that came back. */
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

/** What stands before the body of a create, of so many bytes. */
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
