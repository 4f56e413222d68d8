import { expect, it } from 'vitest';
import type { Deps } from '../../../../api/payments/handlers.ts';
import { createPaymentHandlers } from '../../../../api/payments/handlers.ts';
import type { RequestOf } from '../../../../api/http/route.ts';
import type { Routes } from '../../../../api/routes.ts';
import type { ErrorCode } from '../../../../contract/errors.ts';
import { PaymentError } from '../../../../contract/errors.ts';
import type { VerificationResult } from '../../../../contract/status.ts';
import { aCaller } from '../../../support/caller.ts';
import { aPayment } from '../../../support/records.ts';

/** A verify within the quiet time after an answer; the gateway may not be asked. */
const verifyAfter = async (standing: VerificationResult) => {
  const payment = { ...aPayment(), sent: true };
  const deps = {
    publicBaseUrl: 'https://pay.example',
    payments: { get: async () => payment },
    verifier: { lastAnswer: () => standing, settle: expect.unreachable },
  };
  // No other part of the service is asked, and nothing else of a request is read.
  const { verifyPayment } = createPaymentHandlers(deps as unknown as Deps);
  const request = {
    caller: aCaller(),
    params: { payment_id: payment.id },
    refuse: (code: ErrorCode) => new PaymentError(code),
  };
  return verifyPayment(request as unknown as RequestOf<Routes['verifyPayment']>);
};

it('answers a verify from the record right after the gateway said something', async () => {
  const { status, body } = await verifyAfter({ kind: 'waiting' });
  expect(status).toBe(200);
  expect(JSON.parse(String(body))).toMatchObject({ status: 'pending' });
});

it('answers a verify 502 again right after the gateway said nothing', async () => {
  await expect(verifyAfter({ kind: 'unknown' })).rejects.toMatchObject({
    code: 'GATEWAY_UNAVAILABLE',
  });
});
