import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Answer } from '../../../support/journey.ts';
import { createJourney } from '../../../support/journey.ts';
import { createHead, rawConnection, rawRequest } from '../../../support/raw-http.ts';
import type { Service } from '../../../support/service.ts';
import { startService } from '../../../support/service.ts';
import { until } from '../../../support/until.ts';

let service: Service;
let token: string;
let id: string;
beforeAll(async () => {
  service = await startService();
  ({ token } = await service.anApplication());
  id = await createJourney(service, token).create();
});
afterAll(() => service?.stop());

const requestId = /^req_[0-7][0-9A-HJKMNP-TV-Z]{25}$/;
const errorOf = ({ json }: Answer) => json['error'] as Record<string, unknown>;

describe('every answer', () => {
  it('has a request id of its own, which its error and the log have too', async () => {
    const { call, get, checkout } = createJourney(service, token);
    const answers = [
      await get(id),
      await get('PAY_01J00000000000000000000000'),
      await call('GET', '/nowhere'),
      await call('PUT', '/api/v1/payments'),
      await checkout(id),
      await call('GET', `/api/v1/sandbox/${id}`),
      await call('GET', '/api/v1/payments', { headers: { 'x-request-id': 'req_mine' } }),
    ];
    const ids = answers.map(({ headers }) => headers.get('x-request-id'));
    expect(new Set(ids).size).toBe(answers.length);
    for (const [index, answer] of answers.entries()) {
      expect(ids[index]).toMatch(requestId);
      if (answer.json['error']) expect(errorOf(answer)['request_id']).toBe(ids[index]);
      const logged = (line: string) => line.includes(`"${ids[index]}"`);
      await until('it is logged', () => service.api.lines.some(logged));
      expect(answer.headers.get('cache-control')).toBe('no-store');
      expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
      expect(answer.headers.get('server')).toBeNull();
      expect(answer.headers.get('x-powered-by')).toBeNull();
    }
  });

  it('has nothing of a path in the log that is no payment id', async () => {
    const { get } = createJourney(service, token);
    const { headers } = await get('tok_of_somebody');
    const logged = (line: string) => line.includes(`"${headers.get('x-request-id')}"`);
    const line = await until('it is logged', () => service.api.lines.find(logged));
    expect(line).not.toContain('tok_of_somebody');
    expect(line).toContain('/api/v1/payments/:payment_id');
  });

  it.each([
    '/',
    '/api',
    '/api/v1',
    '/api/v1/',
    '/payments',
    '/me',
    '/api/v2/payments',
    '/api/v1/Payments',
    '/api/v1/payments/x/y',
    '/api/v1//payments',
    '/%',
    '/api/v1/payments/%E0%A4%A/verify/x',
    `/${'x'.repeat(8000)}`,
  ])('404: there is nothing at %s', async (path) => {
    const { call } = createJourney(service, token);
    const found = await call('GET', path);
    expect([found.status, errorOf(found)['code']]).toEqual([404, 'NOT_FOUND']);
    expect(Object.keys(errorOf(found))).toEqual(['code', 'message', 'request_id']);
  });

  it('reads the same by HEAD, without the body', async () => {
    const { get, call } = createJourney(service, token);
    const path = `/api/v1/payments/${id}`;
    const head = await call('HEAD', path, { headers: { authorization: `Bearer ${token}` } });
    expect(head).toMatchObject({ status: 200, text: '' });
    const { text } = await get(id);
    expect(head.headers.get('content-length')).toBe(String(Buffer.byteLength(text)));
  });
});

describe('a method that a path does not have', () => {
  const methods = ['PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'QUERY', 'PROPFIND', 'LOCK'];
  it.each(methods)('405: %s, with the ones it has', async (method) => {
    for (const [path, allow] of [
      ['/api/v1/payments', ['GET', 'HEAD', 'POST']],
      ['/api/v1/me', ['GET', 'HEAD']],
      [`/api/v1/payments/${id}`, ['GET', 'HEAD']],
      [`/api/v1/payments/${id}/verify`, ['POST']],
      [`/api/v1/payments/${id}/checkout`, ['GET', 'HEAD']],
      [`/api/v1/payments/${id}/return`, ['GET', 'HEAD', 'POST']],
      [`/api/v1/sandbox/${id}`, ['GET', 'HEAD', 'POST']],
    ] as const) {
      const answer = await rawRequest(`${service.url}${path}`, { method });
      expect(answer.status, `${method} ${path}`).toBe(405);
      expect(answer.headers.get('allow')?.split(', ').toSorted()).toEqual(allow);
      // A payer's browser is shown a page.
      if (/checkout|return|sandbox/.test(path)) expect(answer.text).toMatch(/^<!doctype html>/);
      else expect(errorOf(answer)['code']).toBe('METHOD_NOT_ALLOWED');
    }
    const nowhere = await rawRequest(`${service.url}/nowhere`, { method });
    expect([nowhere.status, errorOf(nowhere)['code']]).toEqual([404, 'NOT_FOUND']);
  });

  it('405: one that HTTP does not know at all, and CONNECT', async () => {
    for (const method of ['BREW', 'get', 'CONNECT']) {
      const { socket, closed } = await rawConnection(service.url);
      const target = method === 'CONNECT' ? '127.0.0.1:9' : '/api/v1/payments';
      socket.write(`${method} ${target} HTTP/1.1\r\nhost: x\r\n\r\n`);
      const answer = await closed;
      expect(answer, method).toMatch(/^HTTP\/1\.1 405 /);
      expect(answer).toMatch(/\r\nallow: GET, HEAD, POST\r\n/i);
      expect(answer).toMatch(/\r\nx-request-id: req_/i);
      expect(answer).toContain('"code":"METHOD_NOT_ALLOWED"');
    }
  });

  it('lives on when a client resets the connection on which it sent a CONNECT', async () => {
    for (let turn = 0; turn < 50; turn += 1) {
      const { socket, closed } = await rawConnection(service.url);
      socket.write('CONNECT a:1 HTTP/1.1\r\nhost: a\r\n\r\n', () => socket.resetAndDestroy());
      await closed;
    }
    expect((await rawRequest(`${service.url}/nowhere`, { method: 'GET' })).status).toBe(404);
  });

  it('404: a target that is no URL', async () => {
    const { socket, closed } = await rawConnection(service.url);
    socket.write('GET http://[ HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n');
    const answer = await closed;
    expect(answer).toMatch(/^HTTP\/1\.1 404 /);
    expect(answer).toContain('"code":"NOT_FOUND"');
  });

  it('answers also where a client expects what HTTP does not know', async () => {
    const { socket, closed } = await rawConnection(service.url);
    socket.write(
      'GET /nowhere HTTP/1.1\r\nhost: x\r\nexpect: wonders\r\nconnection: close\r\n\r\n',
    );
    const answer = await closed;
    expect(answer).toMatch(/^HTTP\/1\.1 404 /);
    expect(answer).toMatch(/\r\nx-request-id: req_/i);
  });

  it.each([
    ['x', 'a stray byte'],
    ['BREW / HTTP/1.1\r\n\r\n', 'a method that is none'],
    ['GET / HTTP/1.1\r\nbad header\r\n\r\n', 'a head that is none'],
  ])('answers a whole request, whatever comes behind it: %j, %s', async (behind) => {
    const order = JSON.stringify({ order_id: 'raw', amount: 100, currency: 'EUR' });
    const { socket, closed } = await rawConnection(service.url);
    socket.write(`${createHead(token, order.length)}${order}${behind}`);
    const answer = await closed;
    expect(answer).toMatch(/^HTTP\/1\.1 201 /);
    expect(answer).toMatch(/\r\nconnection: close\r\n/i);
    expect(answer.match(/HTTP\/1\.1 /g)).toHaveLength(1);
  });

  it('answers all of several, and nothing after them', async () => {
    const { socket, closed } = await rawConnection(service.url);
    const read = `GET /api/v1/payments HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${token}\r\n\r\n`;
    socket.write(`${read}${read}nonsense`);
    const answer = await closed;
    expect(answer.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 200']);
  });

  it('400: a length in characters instead of bytes cuts the body, and is no method', async () => {
    const order = JSON.stringify({ order_id: 'Bücher', amount: 100, currency: 'EUR' });
    const { socket, closed } = await rawConnection(service.url);
    socket.write(`${createHead(token, order.length)}${order}`);
    const answer = await closed;
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
    expect(answer).toContain('"code":"MALFORMED_JSON"');
  });

  it.each([
    ['without a host', 'GET /nowhere HTTP/1.1\r\n\r\n'],
    ['whose head is none', 'GET / HTTP/1.1\r\nbad header\r\n\r\n'],
    ['of another version', 'GET / HTTP/3.7\r\nhost: x\r\n\r\n'],
    ['that is a word', 'hello\r\n\r\n'],
    ['that is half a request line', 'BREW /\r\n\r\n'],
    ['that is JSON', '{"order_id":"o-1"}\r\n'],
    ['by TLS', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n'],
  ])(
    '400: one %s is refused without a body, with a request id, and the connection closed',
    async (_, request) => {
      const { socket, closed } = await rawConnection(service.url);
      socket.write(request);
      const answer = await closed;
      expect(answer).toMatch(/^HTTP\/1\.1 400 /);
      expect(answer).toMatch(/\r\nx-request-id: req_/i);
      expect(answer).toMatch(/\r\n\r\n$/);
    },
  );
});
