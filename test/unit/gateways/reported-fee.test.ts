import { describe, expect, it } from 'vitest';
import type { ReportedFee } from '../../../contract/reported-fee.ts';
import type { GatewayAdapter, OpenedPayment } from '../../../gateways/gateway.ts';
import { aGatewayPayment } from '../../support/gateways/fixture.ts';
import { payping } from '../../support/gateways/payping.ts';
import { aProvider } from '../../support/gateways/provider.ts';
import { zarinpal } from '../../support/gateways/zarinpal.ts';
import { zibal } from '../../support/gateways/zibal.ts';

const at = { zarinpal: aProvider(zarinpal), zibal: aProvider(zibal), payping: aProvider(payping) };
const feeIn = async (verified: ReturnType<GatewayAdapter['verify']>) => {
  const status = await verified;
  expect(status).toMatchObject({ state: 'paid' });
  return status.state === 'paid' ? status.fee : undefined;
};
const merchant = (amount: number): ReportedFee => ({ amount, paidBy: 'merchant' });
const payer = (amount: number): ReportedFee => ({ amount, paidBy: 'payer' });
const nonsense = [null, undefined, -1, 1.5, '4200', {}, 2 ** 53] as const;

describe('zarinpal', () => {
  const { provider, adapter, opened } = at.zarinpal;
  const verify = async (told: object) => {
    const payment = await opened();
    provider().pay(payment.reference);
    provider().replyOnce('verify', { data: { code: 100, ref_id: 201, ...told } });
    return feeIn(adapter().verify(payment));
  };

  it('reports its fee and who bears it', async () => {
    expect(await verify({ fee: 4_200, fee_type: 'Merchant' })).toEqual(merchant(4_200));
    expect(await verify({ fee: 4_200, fee_type: 'Payer' })).toEqual(payer(4_200));
    expect(await verify({ fee: 0, fee_type: 'Merchant' })).toEqual(merchant(0));
  });

  it('tells it with an opening, too', async () => {
    const payment = aGatewayPayment(zarinpal.money);
    const data = { code: 100, authority: `S${'0'.repeat(35)}`, fee: 700, fee_type: 'Merchant' };
    provider().replyOnce('request', { data });
    expect(await adapter().open(payment)).toMatchObject({ result: 'opened', fee: merchant(700) });
  });

  it.each(nonsense)('is paid, and tells nothing, with the fee %s', async (fee) => {
    expect(await verify({ fee, fee_type: 'Merchant' })).toBeUndefined();
  });
  it.each(['Buyer', '', null, 7])('tells nothing where %s bears the fee', async (who) => {
    expect(await verify({ fee: 4_200, fee_type: who })).toBeUndefined();
  });
  it('tells nothing above the amount of the payment', async () => {
    const { amount } = aGatewayPayment(zarinpal.money);
    expect(await verify({ fee: amount, fee_type: 'Merchant' })).toEqual(merchant(amount));
    expect(await verify({ fee: amount + 1, fee_type: 'Merchant' })).toBeUndefined();
  });
});

describe('zibal', () => {
  const { provider, adapter, opened } = at.zibal;

  it('reports its wage by the inquiry, whose verification has none', async () => {
    const payment = await opened();
    provider().pay(payment.reference);
    provider().tellWage(5_000);
    expect(await feeIn(adapter().verify(payment))).toEqual(merchant(5_000));
    // Verified already.
    expect(await feeIn(adapter().verify(payment))).toEqual(merchant(5_000));
  });

  it.each(nonsense)('is paid, and tells nothing, with the wage %s', async (wage) => {
    const payment = await opened();
    provider().pay(payment.reference);
    provider().tellWage(wage);
    expect(await feeIn(adapter().verify(payment))).toBeUndefined();
  });
});

describe('payping', () => {
  const { provider, adapter, opened } = at.payping;
  const paid = async (): Promise<OpenedPayment> => {
    const payment = await opened();
    provider().pay(payment.reference);
    return payment;
  };

  it.each([
    ['the merchant', { businessWage: 120, payerWage: 0 }, merchant(1_200)],
    ['the payer', { businessWage: 0, payerWage: 120 }, payer(1_200)],
    ['both', { businessWage: 30, payerWage: 90 }, merchant(300)],
    ['nobody', { businessWage: 0, payerWage: 0 }, merchant(0)],
    ['nothing', {}, undefined],
    ['nonsense', { businessWage: '120', payerWage: -3 }, undefined],
  ])('tells in tomans what %s bears', async (_, wages, expected) => {
    const payment = await paid();
    provider().tellWages(wages);
    expect(await feeIn(adapter().verify(payment))).toEqual(expected);
  });

  it('tells the wage of its report where only that has one', async () => {
    const payment = await paid();
    await adapter().verify(payment);
    provider().tellWages({ wage: 50 });
    expect(await feeIn(adapter().inquire(payment))).toEqual(merchant(500));
  });
});
