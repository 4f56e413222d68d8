import { describe, expect, it } from 'vitest';
import { GatewayUnavailable } from '../../../gateways/errors.ts';
import type { GatewayPayment, OpenedPayment } from '../../../gateways/gateway.ts';
import { createSandboxPayments } from '../../../postgres/sandbox-payments.ts';
import { createSandboxRefunds } from '../../../postgres/sandbox-refunds.ts';
import { aDatabase } from '../../support/data/database.ts';
import { adapterOf, aGatewayPayment } from '../../support/gateways/fixture.ts';
import { forFile } from '../../support/for-file.ts';

const database = await forFile(aDatabase());
const page = createSandboxPayments(database.sql);
const account = { kind: 'sandbox', credentials: {} } as const;
const refunds = createSandboxRefunds(database.sql);
const tools = {
  sandboxPayments: page,
  sandboxRefunds: refunds,
  publicBaseUrl: 'https://pay.example',
};
const gateway = adapterOf('sandbox', account, { tools });

const aPayment = (): GatewayPayment => aGatewayPayment({ amount: 1250, currency: 'EUR' });
const open = async (): Promise<OpenedPayment> => {
  const payment = aPayment();
  const opening = await gateway.open(payment);
  if (opening.result !== 'opened') throw new Error(`${opening.code}: ${opening.message}`);
  return { ...payment, reference: opening.reference };
};
const choose = async (payment: GatewayPayment, state: 'paid' | 'refused' | 'cancelled') => {
  const refusal = state === 'refused' ? 'invalid_card' : null;
  return (await page.choose(payment.id, { state, refusal }))?.isFirstChoice;
};
const expire = (payment: OpenedPayment) => gateway.expire?.(payment);
const paid = {
  state: 'paid',
  amount: 1250,
  currency: 'EUR',
  trackingCode: expect.stringMatching(/^\d{12,}$/),
  cardPanMasked: '502229******1234',
};

describe('the sandbox gateway', () => {
  it('opens a payment once, with one reference and one page', async () => {
    const payment = aPayment();
    const [first, second] = [await gateway.open(payment), await gateway.open(payment)];
    expect(second).toEqual(first);
    expect(first).toMatchObject({
      redirect: { method: 'GET', url: `https://pay.example/api/v1/sandbox/${payment.id}` },
    });
    const openings = await Promise.all(Array.from({ length: 10 }, () => gateway.open(payment)));
    expect(new Set(openings.map((opening) => JSON.stringify(opening))).size).toBe(1);
    expect(await gateway.open(aPayment())).not.toMatchObject({
      reference: Reflect.get(first, 'reference'),
    });
  });

  it('returns waiting before the payer decides', async () => {
    const payment = await open();
    expect(await gateway.inquire(payment)).toEqual({ state: 'waiting' });
    expect(await gateway.verify(payment)).toEqual({ state: 'waiting' });
  });

  it('verifies a paid payment, and returns the same status again', async () => {
    const payment = await open();
    await choose(payment, 'paid');
    const first = await gateway.verify(payment);
    expect(first).toEqual(paid);
    expect(await gateway.verify(payment)).toEqual(first);
    expect(await gateway.inquire(payment)).toEqual(first);
  });

  it('confirms the amount of the opening, not that of the verification', async () => {
    const payment = await open();
    await choose(payment, 'paid');
    expect(await gateway.verify({ ...payment, amount: 1, currency: 'USD' })).toEqual(paid);
  });

  it('changes nothing by an inquiry', async () => {
    const payment = await open();
    await choose(payment, 'paid');
    const before = await page.get(payment.reference);
    for (let count = 0; count < 3; count += 1)
      expect(await gateway.inquire(payment)).toEqual({ state: 'processing' });
    expect(await page.get(payment.reference)).toEqual(before);
    expect(before?.state).toBe('paid');
  });

  it('returns the payer’s refusal or cancel', async () => {
    const [refused, cancelled] = [await open(), await open()];
    await choose(refused, 'refused');
    await choose(cancelled, 'cancelled');
    for (const call of [gateway.verify, gateway.inquire]) {
      expect(await call(refused)).toMatchObject({ state: 'failed', failureCode: 'invalid_card' });
      expect(await call(cancelled)).toEqual({ state: 'cancelled' });
    }
  });

  it('expires an open payment, which cannot be paid after it', async () => {
    const payment = await open();
    expect(await expire(payment)).toBe(true);
    expect(await choose(payment, 'paid')).toBe(false);
    expect(await gateway.verify(payment)).toEqual({ state: 'expired' });
    expect(await gateway.inquire(payment)).toEqual({ state: 'expired' });
  });

  it('does not expire a payment that is paid, verified, refused, cancelled or expired', async () => {
    const verified = await open();
    await choose(verified, 'paid');
    await gateway.verify(verified);
    const expired = await open();
    await expire(expired);
    const others = ['paid', 'refused', 'cancelled'] as const;
    const chosen = await Promise.all(
      others.map(async (state) => {
        const payment = await open();
        await choose(payment, state);
        return payment;
      }),
    );
    for (const payment of [verified, expired, ...chosen]) {
      const before = await gateway.inquire(payment);
      expect(await expire(payment)).toBe(false);
      expect(await gateway.inquire(payment)).toEqual(before);
    }
  });

  it('either expires or is paid when both happen at once', async () => {
    for (let count = 0; count < 10; count += 1) {
      const payment = await open();
      const [expired, chosen] = await Promise.all([expire(payment), choose(payment, 'paid')]);
      expect(expired).toBe(!chosen);
      expect((await gateway.verify(payment)).state).toBe(chosen ? 'paid' : 'expired');
    }
  });

  it('throws for an unknown reference', async () => {
    const payment = { ...(await open()), reference: 'SBXunknown' };
    await expect(gateway.verify(payment)).rejects.toThrow(GatewayUnavailable);
    await expect(gateway.inquire(payment)).rejects.toThrow(GatewayUnavailable);
    expect(await expire(payment)).toBe(false);
  });
});
