import { describe, expect, it } from 'vitest';
import { serve, type Handle } from '../../support/servers/http-application.ts';
import { errorOf, refusalOf } from '../../support/service/answers.ts';
import { createJourney } from '../../support/service/journey.ts';
import { rawRequest } from '../../support/servers/raw-http.ts';
import { useOwnApi } from '../../support/service/service.ts';
import { until } from '../../support/until.ts';
import { forFile } from '../../support/for-file.ts';

const service = await forFile(useOwnApi());
const { token } = await service.anApplication();
const id = await createJourney(service, token).create();

const requestId = /^req_[0-7][0-9A-HJKMNP-TV-Z]{25}$/;

describe('/.well-known/security.txt', () => {
  it('names the contact of the settings for less than a year, and is missing without one', async () => {
    const SECURITY_CONTACT = 'mailto:security@pay.example';
    const { url } = await service.anotherApi({ SECURITY_CONTACT });
    const answer = await fetch(`${url}/.well-known/security.txt`);
    expect(answer.headers.get('content-type')).toBe('text/plain; charset=utf-8');
    const [, expires = ''] =
      /^Contact: mailto:security@pay.example\nExpires: (\S+)\n$/.exec(await answer.text()) ?? [];
    const days = (Date.parse(expires) - Date.now()) / 86_400_000;
    expect(days).toBeGreaterThan(30);
    expect(days).toBeLessThan(365);
    expect((await fetch(`${service.url}/.well-known/security.txt`)).status).toBe(404);
  });
});

describe('every response', () => {
  it('has a request id of its own, which its error and the log repeat', async () => {
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
      if (answer.json['error']) expect(errorOf(answer).request_id).toBe(ids[index]);
      const isLogged = (line: string) => line.includes(`"${ids[index]}"`);
      await until('it is logged', () => service.api.lines.some(isLogged));
      expect(answer.headers.get('cache-control')).toBe('no-store');
      expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
      expect(answer.headers.get('server')).toBeNull();
      expect(answer.headers.get('x-powered-by')).toBeNull();
    }
  });

  it('logs the pattern of its path, and nothing from the path but a payment id', async () => {
    const { get } = createJourney(service, token);
    const { headers } = await get('tok_of_somebody');
    const isLogged = (line: string) => line.includes(`"${headers.get('x-request-id')}"`);
    const line = await until('it is logged', () => service.api.lines.find(isLogged));
    expect(line).not.toContain('tok_of_somebody');
    expect(line).toContain('/api/v1/payments/:payment_id');
  });
});

describe('routing', () => {
  it('answers 404 for an unknown path', async () => {
    const { call } = createJourney(service, token);
    for (const path of [
      ...['/', '/api', '/api/v1', '/api/v1/', '/payments', '/me', '/api/v2/payments', '/%'],
      ...['/api/v1/Payments', '/api/v1/payments/x/y', '/api/v1//payments'],
      ...['/api/v1/payments/%E0%A4%A/verify/x', `/${'x'.repeat(8000)}`],
    ]) {
      const answer = await call('GET', path);
      expect(refusalOf(answer), path).toEqual([404, 'NOT_FOUND']);
      expect(Object.keys(errorOf(answer))).toEqual(['code', 'message', 'request_id']);
    }
  });

  it('answers HEAD like GET, without the body', async () => {
    const { get, call } = createJourney(service, token);
    const path = `/api/v1/payments/${id}`;
    const answer = await call('HEAD', path, { headers: { authorization: `Bearer ${token}` } });
    expect(answer).toMatchObject({ status: 200, text: '' });
    const { text } = await get(id);
    expect(answer.headers.get('content-length')).toBe(String(Buffer.byteLength(text)));
  });

  const methods = ['PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'QUERY', 'PROPFIND', 'LOCK'];
  it.each(methods)('answers 405 for %s, with the supported methods', async (method) => {
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
      // A payer's browser gets a page.
      if (/checkout|return|sandbox/.test(path)) expect(answer.text).toMatch(/^<!doctype html>/);
      else expect(errorOf(answer).code).toBe('METHOD_NOT_ALLOWED');
    }
    const unknown = await rawRequest(`${service.url}/nowhere`, { method });
    expect(refusalOf(unknown)).toEqual([404, 'NOT_FOUND']);
  });
});

it('a process at its limit of requests answers 503 before it authenticates, to payers with a page, until a request ends', async () => {
  const gate = Promise.withResolvers<void>();
  let running = 0;
  const handle: Handle = async () => {
    running += 1;
    await gate.promise;
    return { status: 200, body: '{}' };
  };
  const { url } = await serve(
    { getApplication: handle, checkout: handle },
    { requestsMax: 20, authenticate: () => expect.unreachable() },
  );
  const checkout = `${url}/api/v1/payments/PAY_01K9Z5W6X7Y8ZABCDEFGHJKMNP/checkout`;
  const waiting = Array.from({ length: 20 }, () => fetch(checkout));
  await until('all requests run', () => running === 20);

  const rejected = await fetch(`${url}/api/v1/me`);
  expect(rejected.status).toBe(503);
  expect(rejected.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
  expect(rejected.headers.get('x-request-id')).toMatch(/^req_/);
  expect(await rejected.json()).toMatchObject({ error: { code: 'SERVICE_UNAVAILABLE' } });
  const page = await fetch(checkout);
  expect(page.status).toBe(503);
  expect(page.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
  expect(page.headers.get('refresh')).toBe(page.headers.get('retry-after'));
  expect(await page.text()).toMatch(/^<!doctype html>/);

  gate.resolve();
  for (const { status } of await Promise.all(waiting)) expect(status).toBe(200);
  expect((await fetch(checkout)).status).toBe(200);
});
