import { expect, it } from 'vitest';
import type { Deps } from '../../../../api/payer/handlers.ts';
import { createPayerHandlers } from '../../../../api/payer/handlers.ts';
import type { AnyRequest } from '../../../../api/http/route.ts';
import { newPaymentId } from '../../../../contract/ids.ts';
import type { PayerPayment } from '../../../../postgres/payments.ts';

const aPayment = (): PayerPayment => ({
  ...{ id: newPaymentId(), application: 'shop', test: true, orderId: 'o-1', status: 'pending' },
  ...{ amount: 1250, currency: 'EUR', gateway: 'sandbox', driver: 'sandbox', description: null },
  ...{ callbackUrl: 'https://shop.example/return', metadata: '{}', trackingCode: null },
  ...{
    cardPanMasked: null,
    paidAt: null,
    failureCode: null,
    expiresAt: new Date(Date.now() + 9e5),
  },
  ...{ createdAt: new Date(), updatedAt: new Date(), sent: true, inOutbox: false, traceId: null },
});

const refuse = () => Promise.reject(new Error('away'));

interface Given extends Pick<Deps, 'verify'> {
  reads: number;
  recheckLatePayment?: Deps['recheckLatePayment'];
}

/** A payer comes back, and the record can be read as often as this says. */
const comeBack = (payment: PayerPayment, given: Given) => {
  const { reads, verify, recheckLatePayment = refuse } = given;
  let left = reads;
  const { returnFromGateway } = createPayerHandlers({
    payments: {
      getForPayer: async () => ((left -= 1) >= 0 ? payment : refuse()),
      isOpened: refuse,
      sendToGateway: refuse,
    },
    verify,
    starter: { startNow: refuse },
    recheckLatePayment,
    now: () => new Date(),
    logger: { info() {}, warn() {} },
  });
  const request: Pick<AnyRequest, 'params' | 'search' | 'disconnectSignal'> = {
    params: { payment_id: payment.id },
    search: () => new URLSearchParams(),
    disconnectSignal: () => new AbortController().signal,
  };
  return returnFromGateway(request as AnyRequest); // All that a return looks at.
};

it.each([
  { what: 'is away', reads: 1, status: 'processing' },
  { what: 'says so', reads: 2, status: 'paid' },
])('goes on to the shop when nothing could be settled: the record $what', async (given) => {
  const payment = aPayment();
  const verify = async () => {
    if (given.status === 'paid') payment.status = 'paid';
    return refuse();
  };
  const { status, headers } = await comeBack(payment, { reads: given.reads, verify });
  expect(status).toBe(303);
  const callback = new URL(headers?.['location'] ?? '');
  expect(callback.origin + callback.pathname).toBe(payment.callbackUrl);
  expect(callback.searchParams.get('status')).toBe(given.status);
});

it.each([
  { status: 'expired', isLate: true },
  { status: 'paid', isLate: false },
  { status: 'cancelled', isLate: false },
] as const)(
  'has late money looked for where this return finds it $status: $isLate',
  async (given) => {
    const payment = aPayment();
    const searched: string[] = [];
    const { headers } = await comeBack(payment, {
      reads: 1,
      verify: async () => ({ kind: 'ended', status: given.status }),
      recheckLatePayment: async (id) => void searched.push(id),
    });
    expect(headers?.['location']).toContain(`status=${given.status}`);
    expect(searched).toEqual(given.isLate ? [payment.id] : []);
  },
);
