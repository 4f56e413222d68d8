import { expect, it } from 'vitest';
import type { AnyRequest } from '../../../../api/http/route.ts';
import { verifyPaymentHandler } from '../../../../api/payments/verify.ts';
import { PaymentError } from '../../../../contract/errors.ts';
import type { VerificationResult } from '../../../../contract/status.ts';
import { aCaller } from '../../../support/data/a-caller.ts';
import type { StoredPayment } from '../../../../postgres/payments/payments.ts';
import { aPayment } from '../../../support/data/payments.ts';

/** Verifies a payment whose workflow returns this result. */
const verifyWith = async (
  result: VerificationResult,
  fields: Partial<StoredPayment> = {},
  calls: string[] = [],
) => {
  const account = { driver: 'sandbox', hasRefundCredentials: false };
  const progress = { opened: true, payerSent: true, verifyWindow: 1 };
  const payment = { ...aPayment(), ...account, ...progress, ...fields };
  const handle = verifyPaymentHandler({
    publicBaseUrl: 'https://pay.example',
    payments: {
      get: async () => payment,
      recordLostCheckout: async () => void calls.push('record the checkout'),
    },
    verify: async () => {
      calls.push('verify');
      return result;
    },
    searchLate: async () => void calls.push('search'),
    now: () => new Date(),
  });
  const request: Pick<AnyRequest, 'caller' | 'params' | 'refuse' | 'disconnectSignal'> = {
    caller: aCaller(),
    params: { payment_id: payment.id },
    refuse: (code) => new PaymentError(code),
    disconnectSignal: () => new AbortController().signal,
  };
  return handle(request as AnyRequest); // The fields that the handler reads.
};

it('answers 502 when the gateway gave no answer', async () => {
  await expect(verifyWith({ kind: 'unknown' })).rejects.toMatchObject({
    code: 'GATEWAY_UNAVAILABLE',
  });
});

it.each<[string, Partial<StoredPayment>, string[]]>([
  ['is not open at its gateway yet', { opened: false, payerSent: false }, []],
  ['is open, and no checkout is recorded', { payerSent: false }, ['record the checkout', 'verify']],
  ['has ended', { status: 'expired' }, []],
  [
    'has ended, and no checkout is recorded',
    { status: 'expired', payerSent: false },
    ['record the checkout', 'search'],
  ],
])('a verify of a payment that %s does this: %j', async (_, fields, expected) => {
  const calls: string[] = [];
  expect((await verifyWith({ kind: 'waiting' }, fields, calls)).status).toBe(200);
  expect(calls).toEqual(expected);
});
