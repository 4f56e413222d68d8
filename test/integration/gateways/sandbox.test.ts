import { describe, expect, it } from 'vitest';
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

  it('confirms the amount of the opening, not that of the verification', async () => {
    const payment = await open();
    await choose(payment, 'paid');
    expect(await gateway.verify({ ...payment, amount: 1, currency: 'USD' })).toEqual(paid);
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
    expect(await expire({ ...expired, reference: 'SBXunknown' })).toBe(false);
  });

  it('either expires or is paid when both happen at once', async () => {
    for (let count = 0; count < 10; count += 1) {
      const payment = await open();
      const [expired, chosen] = await Promise.all([expire(payment), choose(payment, 'paid')]);
      expect(expired).toBe(!chosen);
      expect((await gateway.verify(payment)).state).toBe(chosen ? 'paid' : 'expired');
    }
  });
});
