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

/** The answer of Stripe's library to the same request; it checks the past only. */
const stripeAccepts = (body: string, header: string, key: string) => {
  try {
    return stripe.signature?.verifyHeader(body, header, key, 300, undefined, nowSeconds * 1000);
  } catch {
    return false;
  }
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

  it.each([
    [-301, 'time'],
    [-300, undefined],
    [300, undefined],
    [301, 'time'],
  ])('verify with a timestamp %i seconds from now: %s', async (offset, reason) => {
    expect(await reasonOf({ signature: sign({ timestamp: nowSeconds + offset }) })).toBe(reason);
  });

  it('rejects another body, even by one byte or by its white space', async () => {
    for (const body of [`${payload} `, payload.replace('paid', 'paie'), '', payload.slice(0, -1)]) {
      expect(await reasonOf({ body })).toBe('mismatch');
      expect(stripeAccepts(body, sign(), secret)).toBe(false);
    }
  });

  it('rejects a timestamp that was not signed', async () => {
    const signature = sign().replace(`t=${nowSeconds}`, `t=${nowSeconds + 1}`);
    expect(await reasonOf({ signature })).toBe('mismatch');
  });

  it('rejects another secret, and the secret without its prefix', async () => {
    for (const other of [`whsec_${'x'.repeat(43)}`, secret.replace('whsec_', '')])
      expect(await reasonOf({ secret: other })).toBe('mismatch');
  });

  it.each([[''], [[]], [[secret, '']], [undefined]])(
    'throws on the secret %j, with which anybody could sign',
    async (empty) => {
      expect(await reasonOf({ secret: empty as string })).toBe('secret');
    },
  );

  it('names a line end at the end of the secret', async () => {
    await expect(verify({ secret: `${secret}\n` })).rejects.toThrow('white space');
  });

  it('finds the request at fault when it has neither a signature nor a body', async () => {
    expect(await reasonOf({ body: {} as string, signature: undefined })).toBe('missing');
  });

  it('names a body that was parsed', async () => {
    const body = JSON.parse(payload) as string;
    await expect(verify({ body })).rejects.toThrow('not a parsed object');
    expect(await reasonOf({ body })).toBe('body');
  });

  it('names a missing header', async () => {
    for (const signature of [undefined, null, '', []])
      expect(await reasonOf({ signature })).toBe('missing');
  });

  it('accepts either of two signatures while the service rotates a secret', async () => {
    const other = v1Of(sign({ secret: `whsec_${'n'.repeat(43)}` }));
    const own = v1Of(sign());
    for (const pair of [`${other},${own}`, `${own},${other}`])
      expect(await reasonOf({ signature: `t=${nowSeconds},${pair}` })).toBeUndefined();
    expect(await reasonOf({ signature: `t=${nowSeconds},${other},${other}` })).toBe('mismatch');
  });

  it('accepts either of two secrets while the receiver rotates its own', async () => {
    const other = `whsec_${'n'.repeat(43)}`;
    expect(await reasonOf({ secret: [other, secret] })).toBeUndefined();
    expect(await reasonOf({ secret: [other, other] })).toBe('mismatch');
  });

  it('looks at ten signatures at most', async () => {
    const other = v1Of(sign({ secret: `whsec_${'n'.repeat(43)}` }));
    const after = (count: number) =>
      `t=${nowSeconds},${Array.from({ length: count }, () => other).join()},v1=${digest}`;
    expect(await reasonOf({ signature: after(9) })).toBeUndefined();
    expect(await reasonOf({ signature: after(10) })).toBe('mismatch');
  });

  it('ignores the parts of other schemes', async () => {
    expect(await reasonOf({ signature: `${sign()},v0=abc,v2=${digest}` })).toBeUndefined();
    expect(await reasonOf({ signature: sign().replace('v1=', 'v0=') })).toBe('malformed');
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

  it('agrees with the library of Stripe', async () => {
    for (const offset of [-301, -300, -1, 0])
      for (const body of [payload, `${payload} `])
        for (const key of [secret, `${secret}x`]) {
          const signature = sign({ timestamp: nowSeconds + offset });
          expect((await reasonOf({ body, signature, secret: key })) === undefined).toBe(
            stripeAccepts(body, signature, key),
          );
        }
  });

  it('rejects signed text that is not JSON', async () => {
    const signature = sign({ payload: 'no json' });
    expect(await reasonOf({ body: 'no json', signature })).toBe('body');
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

it.each(eventKinds)('%s is a known kind of event', (event) => {
  expect(webhooks.isKnownEvent({ event } as webhooks.Event)).toBe(true);
});

it.each(['payment.tomorrow', 'toString'])('%s is no known kind of event', (event) => {
  expect(webhooks.isKnownEvent({ event } as webhooks.Event)).toBe(false);
});
