import Stripe from 'stripe';
import { describe, expect, it } from 'vitest';
import { verifySignature } from '../../../demo/signature.ts';

const secret = `whsec_${'k'.repeat(43)}`;
const payload = '{"event":"payment.paid","metadata":{"note":"grüße"}}';
const nowSeconds = 1_795_000_000;

const { webhooks } = new Stripe('sk_test_none');

/** By Stripe's own library, which knows nothing of ours. */
const signed = (options: { timestamp?: number; payload?: string; secret?: string } = {}) =>
  webhooks.generateTestHeaderString({ timestamp: nowSeconds, payload, secret, ...options });

const verify = (changes: Partial<Parameters<typeof verifySignature>[0]> = {}) =>
  verifySignature({
    header: signed(),
    rawBody: Buffer.from(payload),
    secret,
    receivedAt: new Date(nowSeconds * 1000),
    ...changes,
  });

const v1Of = (header: string) => header.slice(header.indexOf('v1='));

describe('verifySignature', () => {
  it('accepts what an independent library signed', async () => {
    expect(verify()).toEqual({ valid: true });
    const header = await webhooks.generateTestHeaderStringAsync({
      timestamp: nowSeconds,
      payload,
      secret,
    });
    expect(verify({ header })).toEqual({ valid: true });
  });

  it('takes the time of now when none is given', () => {
    const header = signed({ timestamp: Math.floor(Date.now() / 1000) });
    const request = { header, rawBody: Buffer.from(payload), secret };
    expect(verifySignature(request)).toEqual({ valid: true });
    expect(verifySignature({ ...request, header: signed({ timestamp: 1 }) }).valid).toBe(false);
  });

  it.each([
    [-301, false],
    [-300, true],
    [300, true],
    [301, false],
  ])('a timestamp %i seconds from now: accepted is %s', (offset, valid) => {
    const result = verify({ header: signed({ timestamp: nowSeconds + offset }) });
    expect(result.valid).toBe(valid);
    if (!result.valid) expect(result.reason).toContain('300 seconds');
  });

  it('refuses another body, even by one byte or by its white space', () => {
    for (const text of [`${payload} `, payload.replace('paid', 'paie'), '', payload.slice(0, -1)])
      expect(verify({ rawBody: Buffer.from(text) }).valid).toBe(false);
  });

  it('refuses a timestamp that was not the signed one', () => {
    const header = signed().replace(`t=${nowSeconds}`, `t=${nowSeconds + 1}`);
    expect(verify({ header }).valid).toBe(false);
  });

  it('refuses another secret, and the secret without its prefix', () => {
    for (const other of [`whsec_${'x'.repeat(43)}`, secret.replace('whsec_', '')])
      expect(verify({ secret: other }).valid).toBe(false);
  });

  it('throws on an empty secret, with which anybody could sign', () => {
    expect(() => verify({ secret: '' })).toThrow('empty');
  });

  it('accepts either of two signatures while a secret is rotated', () => {
    const other = v1Of(signed({ secret: `whsec_${'n'.repeat(43)}` }));
    const own = v1Of(signed());
    for (const pair of [`${other},${own}`, `${own},${other}`])
      expect(verify({ header: `t=${nowSeconds},${pair}` })).toEqual({ valid: true });
    expect(verify({ header: `t=${nowSeconds},${other},${other}` }).valid).toBe(false);
  });

  it('passes over parts of other schemes', () => {
    expect(verify({ header: `${signed()},v0=abc,v2=${v1Of(signed()).slice(3)}` }).valid).toBe(true);
    expect(verify({ header: signed().replace('v1=', 'v0=') }).valid).toBe(false);
  });

  const digest = v1Of(signed()).slice(3);
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
  ])('refuses the header %j', (header) => {
    expect(verify({ header })).toEqual({ valid: false, reason: expect.any(String) });
  });
});
