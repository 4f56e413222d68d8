import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { Payments, type PaymentsOptions } from '../../../client/src/index.ts';
import { listenForTest } from '../servers/listen.ts';

export const token = `svc_test_${'t'.repeat(43)}`;

export interface Seen {
  method: string;
  url: string;
  headers: IncomingHttpHeaders;
  body: string;
}

export type Reply = (response: ServerResponse) => void;

/** One answer of the service, in JSON. */
export const json =
  (status: number, body: unknown, headers: Record<string, string> = {}): Reply =>
  (response) =>
    response
      .writeHead(status, { 'content-type': 'application/json', ...headers })
      .end(JSON.stringify(body));

/** The least that an application, a payment and a page have. */
export const application = { application: 'shop', token_mode: 'test' };
export const aPayment = (id: string) => ({ payment_id: id, status: 'pending' });
export const aPage = (data: object[], next: string | null, has_more = next !== null) => ({
  data,
  pagination: { has_more, next_cursor: next, per_page: 2 },
});

export const requestId = 'req_01K9Z5W6X7Y8ZABCDEFGHJKMNP';

export const failure = (status: number, code: string, headers: Record<string, string> = {}) =>
  json(
    status,
    { error: { code, message: `About ${code}.`, request_id: requestId } },
    { 'x-request-id': requestId, ...headers },
  );

/** No response at all, until the test is over. */
export const hang: Reply = () => {};

/** A connection that ends without a response. */
export const breakOff: Reply = (response) => response.destroy();

/** Half of the announced body, then the end of the connection. */
export const halfOf =
  (body: string): Reply =>
  (response) => {
    response.writeHead(201, { 'content-length': body.length });
    response.write(body.slice(0, body.length / 2), () => response.destroy());
  };

/** A client whose service answers with these replies in turn, and then with the last of them. */
export const aClient = async (
  replies: readonly Reply[],
  options: Partial<PaymentsOptions> = {},
): Promise<{ client: Payments; seen: Seen[]; url: string }> => {
  const seen: Seen[] = [];
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      const { method = '', url = '', headers } = request;
      seen.push({ method, url, headers, body });
      replies[Math.min(seen.length, replies.length) - 1]?.(response);
    });
  });
  const port = await listenForTest(server);
  const url = `http://127.0.0.1:${port}`;
  return { client: new Payments({ token, baseUrl: url, ...options }), seen, url };
};
