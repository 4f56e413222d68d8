import { describe, expect, it } from 'vitest';
import type { Payment } from '../../../../contract/payment.ts';
import { createVerifier } from '../../../../api/payments/verifier.ts';
import type { VerifyRequest } from '../../../../temporal/messages.ts';
import {
  type WorkflowCalls,
  TemporalUnavailable,
  type VerifyStart,
} from '../../../../temporal/workflow-calls.ts';
import { aPayment } from '../../../support/data/payments.ts';

const aStart = (fields: Partial<Payment> = {}): Payment & VerifyStart => ({
  ...aPayment(fields),
  verifyWindow: 1,
});

const verifyWith = (verify: WorkflowCalls['verify']) => createVerifier({ workflows: { verify } });

describe('the verifier', () => {
  it.each([
    ['pending', false, false],
    ['pending', true, true],
    ['processing', false, true],
    ['processing', true, true],
  ] as const)(
    'sends for a payment that is %s (returned: %s) the request of a return: %s',
    async (status, returned, expected) => {
      const requests: VerifyRequest[] = [];
      const verify = verifyWith(async (_, request) => {
        requests.push(request);
        return { kind: 'waiting' };
      });
      await verify(aStart({ status }), { returned });
      expect(requests).toEqual([{ returned: expected }]);
    },
  );

  it('rejects with SERVICE_UNAVAILABLE if Temporal or its workers do not answer', async () => {
    const verify = verifyWith(() => Promise.reject(new TemporalUnavailable('away')));
    await expect(verify(aStart(), { returned: false })).rejects.toMatchObject({
      code: 'SERVICE_UNAVAILABLE',
    });
  });

  it('rejects with a fault of our own', async () => {
    const verify = verifyWith(() => Promise.reject(new TypeError('x is undefined')));
    await expect(verify(aStart(), { returned: false })).rejects.toThrow(TypeError);
  });

  it('rejects as aborted if the client has hung up', async () => {
    const client = new AbortController();
    const verify = verifyWith(async () => {
      client.abort();
      throw new TemporalUnavailable('Call cancelled');
    });
    await expect(verify(aStart(), { returned: false }, client.signal)).rejects.toThrow('aborted');
  });
});
