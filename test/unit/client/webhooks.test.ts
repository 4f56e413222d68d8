import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import Stripe from 'stripe';
import { describe, expect, it } from 'vitest';
import { SignatureError, webhooks } from '../../../client/src/index.ts';
import { eventKinds } from '../../../contract/event.ts';

const secret = `whsec_${'k'.repeat(43)}`;
const payload = '{"event":"payment.paid","metadata":{"note":"grüße"}}';
const nowSeconds = 1_795_000_000;
const receivedAt = new Date(nowSeconds * 1000);
const { webhooks: stripe } = new Stripe('sk_test_none');

/** Signed by Stripe's own library, which is independent of ours. */
const sign = (options: { timestamp?: number; payload?: string; secret?: string } = {}) =>
  stripe.generateTestHeaderString({ timestamp: nowSeconds, payload, secret, ...options });

const verify = (changes: Partial<webhooks.Webhook> = {}) =>
  webhooks.verify({
    body: Buffer.from(payload),
    signature: sign(),
    secret,
    receivedAt,
    ...changes,
  });

const reasonOf = async (changes: Parameters<typeof verify>[0]) => {
  const error: unknown = await verify(changes).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  return error instanceof SignatureError ? error.reason : error;
};

const v1Of = (header: string) => header.slice(header.indexOf('v1='));
const digest = v1Of(sign()).slice(3);

describe('verify', () => {
  it('returns the event of a body in bytes, as a buffer or as text', async () => {
    const event = JSON.parse(payload) as object;
    const bytes = new TextEncoder().encode(payload);
    for (const body of [payload, bytes, bytes.buffer, Buffer.from(payload)])
      expect(await verify({ body })).toEqual(event);
  });

  it('takes the current time by default', async () => {
    const header = sign({ timestamp: Math.floor(Date.now() / 1000) });
    expect(await webhooks.verify({ body: payload, signature: header, secret })).toBeTruthy();
    await expect(
      webhooks.verify({ body: payload, signature: sign({ timestamp: 1 }), secret }),
    ).rejects.toThrow('seconds ago');
  });

  const other = v1Of(sign({ secret: `whsec_${'n'.repeat(43)}` }));
  const own = v1Of(sign());
  const after = (count: number) =>
    `t=${nowSeconds},${Array.from({ length: count }, () => other).join()},${own}`;
  it.each<[what: string, changes: Parameters<typeof verify>[0], reason: string | undefined]>([
    ['301 s ago', { signature: sign({ timestamp: nowSeconds - 301 }) }, 'time'],
    ['300 s ago', { signature: sign({ timestamp: nowSeconds - 300 }) }, undefined],
    ['300 s ahead', { signature: sign({ timestamp: nowSeconds + 300 }) }, undefined],
    ['301 s ahead', { signature: sign({ timestamp: nowSeconds + 301 }) }, 'time'],
    [
      'a timestamp that was not signed',
      { signature: sign().replace(`t=${nowSeconds}`, `t=${nowSeconds + 1}`) },
      'mismatch',
    ],
    ['one byte more', { body: `${payload} ` }, 'mismatch'],
    ['another byte', { body: payload.replace('paid', 'paie') }, 'mismatch'],
    ['no byte', { body: '' }, 'mismatch'],
    ['one byte less', { body: payload.slice(0, -1) }, 'mismatch'],
    ['another secret', { secret: `whsec_${'x'.repeat(43)}` }, 'mismatch'],
    ['the secret without its prefix', { secret: secret.replace('whsec_', '') }, 'mismatch'],
    // Anybody could sign with these.
    ['an empty secret', { secret: '' }, 'secret'],
    ['a list of no secret', { secret: [] }, 'secret'],
    ['a list with an empty secret', { secret: [secret, ''] }, 'secret'],
    ['an undefined secret', { secret: undefined as never }, 'secret'],
    ['neither a signature nor a body', { body: {} as string, signature: undefined }, 'missing'],
    ['an undefined header', { signature: undefined }, 'missing'],
    ['a header that is null', { signature: null }, 'missing'],
    ['an empty header', { signature: '' }, 'missing'],
    ['no value of the header', { signature: [] }, 'missing'],
    // The service rotates a secret, or the receiver its own.
    ['two signatures', { signature: `t=${nowSeconds},${other},${own}` }, undefined],
    ['two signatures in turn', { signature: `t=${nowSeconds},${own},${other}` }, undefined],
    ['two other signatures', { signature: `t=${nowSeconds},${other},${other}` }, 'mismatch'],
    ['two secrets', { secret: ['whsec_other', secret] }, undefined],
    ['two other secrets', { secret: ['whsec_other', 'whsec_other'] }, 'mismatch'],
    ['its own after nine signatures', { signature: after(9) }, undefined],
    ['its own after ten signatures', { signature: after(10) }, 'mismatch'],
    ['parts of other schemes', { signature: `${sign()},v0=abc,v2=${digest}` }, undefined],
    ['another scheme alone', { signature: sign().replace('v1=', 'v0=') }, 'malformed'],
    [
      'signed text that is not JSON',
      { body: 'no json', signature: sign({ payload: 'no json' }) },
      'body',
    ],
  ])('finds in a webhook with %s', async (_, changes, reason) => {
    expect(await reasonOf(changes)).toBe(reason);
  });

  it('names a line end at the end of the secret', async () => {
    await expect(verify({ secret: `${secret}\n` })).rejects.toThrow('white space');
  });

  it('names a body that was parsed', async () => {
    const body = JSON.parse(payload) as string;
    await expect(verify({ body })).rejects.toThrow('not a parsed object');
    expect(await reasonOf({ body })).toBe('body');
  });

  it.each([
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
  ])('rejects the header %j', async (signature) => {
    expect(await reasonOf({ signature })).toBe('malformed');
  });
});

describe('readRequest', () => {
  const headers = { 'x-service-signature': sign() };
  const aRequest = (body: ReadableStream | string | null) =>
    new Request('http://127.0.0.1/', { method: 'POST', headers, body, duplex: 'half' });
  /** Pieces of 1 KB that announce no length, and whether the last of them was asked for. */
  const pieces = (count: number) => {
    let sent = 0;
    const stream = new ReadableStream<Uint8Array>({
      pull(controller) {
        if (sent === count) return controller.close();
        sent += 1;
        return controller.enqueue(new Uint8Array(1024).fill(32));
      },
    });
    return { stream, sent: () => sent };
  };
  const problemOf = async (request: Parameters<typeof webhooks.readRequest>[0]) =>
    webhooks.readRequest(request).then(
      ({ body }) => body.length,
      ({ reason, status }: SignatureError) => [reason, status],
    );

  it('returns what verify takes', async () => {
    const read = await webhooks.readRequest(aRequest(payload));
    expect(await webhooks.verify({ ...read, secret, receivedAt })).toEqual(JSON.parse(payload));
  });

  it('reads a body of several pieces, and none', async () => {
    expect(await problemOf(aRequest(pieces(3).stream))).toBe(3 * 1024);
    expect(await problemOf(aRequest(null))).toBe(0);
  });

  it('takes 64 KB, and refuses more with 413 in whatever pieces', async () => {
    expect(await problemOf(aRequest(pieces(64).stream))).toBe(64 * 1024);
    for (const body of [pieces(65).stream, 'a'.repeat(64 * 1024 + 1)])
      expect(await problemOf(aRequest(body))).toEqual(['size', 413]);
  });

  it('reads on to the end of a body that it has refused', async () => {
    const { stream, sent } = pieces(200);
    await problemOf(aRequest(stream));
    await expect.poll(sent).toBe(200);
  });

  it('says so when something has read the body before', async () => {
    const read = aRequest(payload);
    await read.text();
    expect(await problemOf(read)).toEqual(['body', 500]);
    const parsed = Object.assign(Readable.from([Buffer.from(payload)]), { headers });
    await text(parsed);
    expect(await problemOf(parsed)).toEqual(['body', 500]);
  });

  it('fails with the error of a connection that breaks', async () => {
    const broken = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.error(new Error('broken')),
    });
    await expect(webhooks.readRequest(aRequest(broken))).rejects.toThrow('broken');
  });
});

describe('sign', () => {
  it('writes the header that the library of Stripe writes', async () => {
    expect(await webhooks.sign({ body: payload, secret, timestamp: nowSeconds })).toBe(sign());
  });

  it('signs with every secret, and now by default', async () => {
    const signature = await webhooks.sign({ body: payload, secret: [`${secret}2`, secret] });
    expect(await webhooks.verify({ body: payload, signature, secret })).toBeTruthy();
  });
});

it('knows each kind of event, and no other', () => {
  const isKnown = (event: string) => webhooks.isKnownEvent({ event } as webhooks.Event);
  expect(eventKinds.filter((event) => !isKnown(event))).toEqual([]);
  expect(['payment.tomorrow', 'toString'].filter(isKnown)).toEqual([]);
});
