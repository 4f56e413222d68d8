import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import Stripe from 'stripe';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createClient, verifySignature } from '../../../demo/client.ts';
import { aPayment } from '../../support/demo/shop.ts';

const order = { order_id: 'C-1', amount: 1290, currency: 'EUR' };

/** Creates a payment at a service that answers these statuses in turn; 0 breaks the connection. */
const create = async (...statuses: number[]) => {
  const requests: unknown[] = [];
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      requests.push([request.headers['idempotency-key'], JSON.parse(body)]);
      const status = statuses.shift() ?? 500;
      if (status === 0) return void request.socket.destroy();
      const error = { error: { code: 'REJECTED', message: 'No.' } };
      return void response.writeHead(status).end(JSON.stringify(status < 300 ? aPayment() : error));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo; // It listens on TCP.
  const client = createClient({ apiBaseUrl: `http://127.0.0.1:${port}`, token: 'none' });
  const result: unknown = await client.create(order, 'key-1').catch((error: unknown) => error);
  return { result, requests };
};

describe('create', () => {
  it('repeats the same key and body when the result is not clear', async () => {
    const { result, requests } = await create(0, 503, 201);
    expect(result).toEqual(aPayment());
    expect(requests).toEqual(Array.from({ length: 3 }, () => ['key-1', order]));
  });

  it('does not repeat a rejected request', async () => {
    const { result, requests } = await create(422);
    expect(result).toMatchObject({ message: 'The service answered 422 REJECTED: No.' });
    expect(requests).toHaveLength(1);
  });

  it('gives up after three attempts', async () => {
    const { result, requests } = await create(503, 503, 503, 201);
    expect(result).toMatchObject({ message: 'The service answered 503 REJECTED: No.' });
    expect(requests).toHaveLength(3);
  });
});

const secret = `whsec_${'k'.repeat(43)}`;
const payload = '{"event":"payment.paid","metadata":{"note":"grüße"}}';
const nowSeconds = 1_795_000_000;
const { webhooks } = new Stripe('sk_test_none');

/** Signed by Stripe's own library, which is independent of ours. */
const sign = (options: { timestamp?: number; payload?: string; secret?: string } = {}) =>
  webhooks.generateTestHeaderString({ timestamp: nowSeconds, payload, secret, ...options });

const verify = (changes: Partial<Parameters<typeof verifySignature>[0]> = {}) =>
  verifySignature({
    header: sign(),
    rawBody: Buffer.from(payload),
    secret,
    receivedAt: new Date(nowSeconds * 1000),
    ...changes,
  });

const v1Of = (header: string) => header.slice(header.indexOf('v1='));

describe('verifySignature', () => {
  it('accepts the signature of an independent library', () => {
    expect(verify()).toEqual({ valid: true });
  });

  it('uses the current time by default', () => {
    const header = sign({ timestamp: Math.floor(Date.now() / 1000) });
    const request = { rawBody: Buffer.from(payload), secret };
    expect(verifySignature({ ...request, header })).toEqual({ valid: true });
    expect(verifySignature({ ...request, header: sign({ timestamp: 1 }) }).valid).toBe(false);
  });

  it.each([
    [-301, false],
    [-300, true],
    [300, true],
    [301, false],
  ])('judges a timestamp %i seconds from now: valid is %s', (offset, valid) => {
    const result = verify({ header: sign({ timestamp: nowSeconds + offset }) });
    expect(result.valid).toBe(valid);
    if (!result.valid) expect(result.reason).toContain('300 seconds');
  });

  it('rejects another body, even by one byte or by its white space', () => {
    for (const body of [`${payload} `, payload.replace('paid', 'paie'), '', payload.slice(0, -1)])
      expect(verify({ rawBody: Buffer.from(body) }).valid).toBe(false);
  });

  it('rejects a timestamp that was not signed', () => {
    const header = sign().replace(`t=${nowSeconds}`, `t=${nowSeconds + 1}`);
    expect(verify({ header }).valid).toBe(false);
  });

  it('rejects another secret, and the secret without its prefix', () => {
    for (const other of [`whsec_${'x'.repeat(43)}`, secret.replace('whsec_', '')])
      expect(verify({ secret: other }).valid).toBe(false);
  });

  it('throws on an empty secret, with which anybody could sign', () => {
    expect(() => verify({ secret: '' })).toThrow('empty');
  });

  it('accepts either of two signatures while a secret is rotated', () => {
    const other = v1Of(sign({ secret: `whsec_${'n'.repeat(43)}` }));
    const own = v1Of(sign());
    for (const pair of [`${other},${own}`, `${own},${other}`])
      expect(verify({ header: `t=${nowSeconds},${pair}` })).toEqual({ valid: true });
    expect(verify({ header: `t=${nowSeconds},${other},${other}` }).valid).toBe(false);
  });

  it('ignores the parts of other schemes', () => {
    expect(verify({ header: `${sign()},v0=abc,v2=${v1Of(sign()).slice(3)}` }).valid).toBe(true);
    expect(verify({ header: sign().replace('v1=', 'v0=') }).valid).toBe(false);
  });

  const digest = v1Of(sign()).slice(3);
  it.each([
    undefined,
    '',
    ',',
    '=',
    't=',
    'nonsense',
    `t=${nowSeconds}`,
    `v1=${digest}`,
    `t=,v1=${digest}`,
    `t=abc,v1=${digest}`,
    `t=${nowSeconds}.5,v1=${digest}`,
    `t=-${nowSeconds},v1=${digest}`,
    `t=0x6afd9fc0,v1=${digest}`,
    `t=1e9,v1=${digest}`,
    `t=${nowSeconds},v1=`,
    `t=${nowSeconds},v1=${digest.slice(0, 63)}`,
    `t=${nowSeconds},v1=${digest}0`,
    `t=${nowSeconds},v1=${digest.toUpperCase()}`,
    `t=${nowSeconds},v1=${'é'.repeat(64)}`,
    `t=${nowSeconds},t=${nowSeconds},v1=${digest}`,
    `t=${nowSeconds};v1=${digest}`,
    `T=${nowSeconds},V1=${digest}`,
  ])('rejects the header %j', (header) => {
    expect(verify({ header })).toEqual({ valid: false, reason: expect.any(String) });
  });
});
