import { expect, it } from 'vitest';
import { createGatewayBudget } from '../../../../api/payer/gateway-budget.ts';
import { returnHandler, type Deps } from '../../../../api/payer/return.ts';
import type { PayerPayment } from '../../../../postgres/payments/payments.ts';
import { aPayerPayment, aPayerRequest } from '../../../support/data/payer-requests.ts';

const unavailable = () => Promise.reject(new Error('unavailable'));

interface Options extends Pick<Deps, 'verify'> {
  /** Reads of the record that succeed before the database fails. */
  reads: number;
  searchLate?: Deps['searchLate'];
  budget?: Deps['budget'];
  onLostCheckout?: () => void;
}

/** A payer returns. */
const returned = (payment: PayerPayment, options: Options) => {
  const { reads, verify, searchLate = unavailable, budget = { take: () => 0 } } = options;
  let left = reads;
  const handle = returnHandler({
    payments: {
      getForPayer: async () => ((left -= 1) >= 0 ? payment : unavailable()),
      recordLostCheckout: async () => options.onLostCheckout?.(),
      recordReturnProof: unavailable,
    },
    verify,
    searchLate,
    budget,
    publicBaseUrl: 'http://127.0.0.1:1',
    now: () => new Date(),
    logger: { info() {}, warn() {} },
  });
  return handle(aPayerRequest(payment.id));
};

it.each([
  { title: 'processing when the database fails, too', reads: 1, status: 'processing' },
  { title: 'the recorded status', reads: 2, status: 'paid' },
])('redirects to the shop when the verification fails: $title', async ({ reads, status }) => {
  const payment = aPayerPayment();
  const verify = async () => {
    if (status === 'paid') payment.status = 'paid';
    return unavailable();
  };
  const result = await returned(payment, { reads, verify });
  expect(result.status).toBe(303);
  const callback = new URL(result.headers?.['location'] ?? '');
  expect(callback.origin + callback.pathname).toBe(payment.callbackUrl);
  expect(callback.searchParams.get('status')).toBe(status);
});

it.each([
  { status: 'expired', isSearched: true },
  { status: 'paid', isSearched: false },
  { status: 'cancelled', isSearched: false },
] as const)(
  'starts a late-payment search if the return finds the payment $status: $isSearched',
  async ({ status, isSearched }) => {
    const payment = aPayerPayment();
    const searched: string[] = [];
    const { headers } = await returned(payment, {
      reads: 1,
      verify: async () => ({ kind: 'ended', status }),
      searchLate: async ({ id }) => void searched.push(id),
    });
    expect(headers?.['location']).toContain(`status=${status}`);
    expect(searched).toEqual(isSearched ? [payment.id] : []);
  },
);

it('verifies a payment without a recorded checkout, and records the checkout', async () => {
  let recorded = 0;
  const { headers } = await returned(aPayerPayment({ payerSent: false }), {
    reads: 1,
    verify: async () => ({ kind: 'ended', status: 'paid' }),
    onLostCheckout: () => (recorded += 1),
  });
  expect(headers?.['location']).toContain('status=paid');
  expect(recorded).toBe(1);
});

it('does not verify when the budget of the gateway is used up', async () => {
  const { headers } = await returned(aPayerPayment(), {
    reads: 1,
    budget: { take: () => undefined },
    verify: () => Promise.reject(new Error('It verifies')),
  });
  expect(headers?.['location']).toContain('status=processing');
});

it('asks about every payer who has paid while one link is opened 300 times a second', async () => {
  const asked = new Set<string>();
  let nowMs = Date.now();
  const budget = createGatewayBudget({ now: () => nowMs, logger: { warn() {} } });
  const open = (payment: PayerPayment) =>
    returned(payment, {
      reads: 2,
      budget,
      verify: async ({ id }) => {
        asked.add(id);
        return { kind: 'waiting' };
      },
    });
  const link = aPayerPayment();
  const payers = Array.from({ length: 20 }, () => aPayerPayment());
  for (const [second, payer] of payers.entries()) {
    nowMs += 1_000;
    const verifyWindow = Math.floor(second / 3);
    await Promise.all(Array.from({ length: 300 }, () => open({ ...link, verifyWindow })));
    await open({ ...payer, verifyWindow });
  }
  expect([...asked]).toEqual(expect.arrayContaining(payers.map(({ id }) => id)));
});
