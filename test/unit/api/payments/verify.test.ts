import { expect, it } from 'vitest';
import type { AnyRequest } from '../../../../api/http/route.ts';
import { verifyPaymentHandler } from '../../../../api/payments/verify.ts';
import { PaymentError } from '../../../../contract/errors.ts';
import type { VerificationResult } from '../../../../contract/status.ts';
import { aCaller } from '../../../support/caller.ts';
import { aPayment } from '../../../support/records.ts';

/** Verifies a payment whose workflow returns this result. */
const verifyWith = async (result: VerificationResult) => {
  const payment = { ...aPayment(), sent: true };
  const handle = verifyPaymentHandler({
    publicBaseUrl: 'https://pay.example',
    payments: { get: async () => payment },
    verify: async () => result,
  });
  const request: Pick<AnyRequest, 'caller' | 'params' | 'refuse' | 'disconnectSignal'> = {
    caller: aCaller(),
    params: { payment_id: payment.id },
    refuse: (code) => new PaymentError(code),
    disconnectSignal: () => new AbortController().signal,
  };
  return handle(request as AnyRequest); // The fields that the handler reads.
};

it('returns the recorded payment after a verification without an outcome', async () => {
  const { status, body } = await verifyWith({ kind: 'waiting' });
  expect(status).toBe(200);
  expect(JSON.parse(String(body))).toMatchObject({ status: 'pending' });
});

it('answers 502 when the gateway gave no answer', async () => {
  await expect(verifyWith({ kind: 'unknown' })).rejects.toMatchObject({
    code: 'GATEWAY_UNAVAILABLE',
  });
});
