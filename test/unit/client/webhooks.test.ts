import Stripe from 'stripe';
import { describe, expect, it } from 'vitest';
import { SignatureError, webhooks } from '../../../client/src/index.ts';
import { paymentEventKinds } from '../../../contract/event.ts';
import { refundEventKinds } from '../../../contract/refund-event.ts';

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

/** What Stripe's library says to the same request; it checks the past only. */
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

describe('sign', () => {
  it('writes the header that the library of Stripe writes', async () => {
    expect(await webhooks.sign({ body: payload, secret, timestamp: nowSeconds })).toBe(sign());
  });

  it('signs with every secret, and now by default', async () => {
    const signature = await webhooks.sign({ body: payload, secret: [`${secret}2`, secret] });
    expect(await webhooks.verify({ body: payload, signature, secret })).toBeTruthy();
  });
});

it.each([...paymentEventKinds, ...refundEventKinds])('%s is a known kind of event', (event) => {
  expect(webhooks.isKnownEvent({ event } as webhooks.Event)).toBe(true);
});

it.each(['payment.tomorrow', 'toString'])('%s is no known kind of event', (event) => {
  expect(webhooks.isKnownEvent({ event } as webhooks.Event)).toBe(false);
});
