import { expect, it } from 'vitest';
import type { AnyRequest } from '../../../../api/http/route.ts';
import type { Deps } from '../../../../api/payer/return.ts';
import { returnHandler } from '../../../../api/payer/return.ts';
import { newPaymentId } from '../../../../contract/ids.ts';
import type { PayerPayment } from '../../../../postgres/payments.ts';

const aPayment = (): PayerPayment => ({
  id: newPaymentId(),
  application: 'shop',
  test: true,
  orderId: 'o-1',
  status: 'pending',
  amount: 1250,
  currency: 'EUR',
  gateway: 'sandbox',
  driver: 'sandbox',
  description: null,
  callbackUrl: 'https://shop.example/return',
  metadata: '{}',
  trackingCode: null,
  cardPanMasked: null,
  paidAt: null,
  failureCode: null,
  expiresAt: new Date(Date.now() + 9e5),
  createdAt: new Date(),
  updatedAt: new Date(),
  sent: true,
  inOutbox: false,
  traceId: null,
});

const unavailable = () => Promise.reject(new Error('unavailable'));

interface Options extends Pick<Deps['verifier'], 'settle'> {
  /** Reads of the record that succeed before the database fails. */
  reads: number;
  lastAnswer?: Deps['verifier']['lastAnswer'];
  startLate?: Deps['startLate'];
}

/** A payer returns. */
const returned = (payment: PayerPayment, options: Options) => {
  const { reads, settle, lastAnswer = () => undefined, startLate = unavailable } = options;
  let left = reads;
  const handle = returnHandler({
    payments: { getForPayer: async () => ((left -= 1) >= 0 ? payment : unavailable()) },
    verifier: { settle, lastAnswer },
    startLate,
    logger: { info() {}, warn() {} },
  });
  const request: Pick<AnyRequest, 'params' | 'search' | 'disconnectSignal'> = {
    params: { payment_id: payment.id },
    search: () => new URLSearchParams(),
    disconnectSignal: () => new AbortController().signal,
  };
  return handle(request as AnyRequest); // The fields that the handler reads.
};

it.each([
  { title: 'processing when the database fails, too', reads: 1, status: 'processing' },
  { title: 'the recorded status', reads: 2, status: 'paid' },
])('redirects to the shop when the verification fails: $title', async ({ reads, status }) => {
  const payment = aPayment();
  const settle = async () => {
    if (status === 'paid') payment.status = 'paid';
    return unavailable();
  };
  const result = await returned(payment, { reads, settle });
  expect(result.status).toBe(303);
  const callback = new URL(result.headers?.['location'] ?? '');
  expect(callback.origin + callback.pathname).toBe(payment.callbackUrl);
  expect(callback.searchParams.get('status')).toBe(status);
});

it('does not verify again when the last answer is recent and covers a return', async () => {
  const { headers } = await returned(aPayment(), {
    reads: 2,
    settle: () => expect.unreachable(),
    lastAnswer: (_, request) => (request.returned ? { kind: 'waiting' } : undefined),
  });
  expect(headers?.['location']).toContain('status=processing');
});

it.each([
  { status: 'expired', isSearched: true },
  { status: 'paid', isSearched: false },
  { status: 'cancelled', isSearched: false },
] as const)(
  'starts a late-payment search if the return finds the payment $status: $isSearched',
  async ({ status, isSearched }) => {
    const payment = aPayment();
    const searched: string[] = [];
    const { headers } = await returned(payment, {
      reads: 1,
      settle: async () => ({ kind: 'ended', status }),
      startLate: async (id) => void searched.push(id),
    });
    expect(headers?.['location']).toContain(`status=${status}`);
    expect(searched).toEqual(isSearched ? [payment.id] : []);
  },
);
