import { expect, it } from 'vitest';
import type { AnyRequest } from '../../../../api/http/route.ts';
import { verifyPaymentHandler } from '../../../../api/payments/verify.ts';
import { PaymentError } from '../../../../contract/errors.ts';
import type { VerificationResult } from '../../../../contract/status.ts';
import { aCaller } from '../../../support/caller.ts';
import { aPayment } from '../../../support/records.ts';

/** Verifies within the 3 seconds after a result; the gateway must not be asked. */
const verifyAfter = async (result: VerificationResult) => {
  const payment = { ...aPayment(), sent: true };
  const handle = verifyPaymentHandler({
    publicBaseUrl: 'https://pay.example',
    payments: { get: async () => payment },
    verifier: { lastAnswer: () => result, settle: () => expect.unreachable() },
  });
  const request: Pick<AnyRequest, 'caller' | 'params' | 'refuse'> = {
    caller: aCaller(),
    params: { payment_id: payment.id },
    refuse: (code) => new PaymentError(code),
  };
  return handle(request as AnyRequest); // The fields that the handler reads.
};

it('returns the recorded payment right after a verification', async () => {
  const { status, body } = await verifyAfter({ kind: 'waiting' });
  expect(status).toBe(200);
  expect(JSON.parse(String(body))).toMatchObject({ status: 'pending' });
});

it('answers 502 again right after the gateway gave no answer', async () => {
  await expect(verifyAfter({ kind: 'unknown' })).rejects.toMatchObject({
    code: 'GATEWAY_UNAVAILABLE',
  });
});
