import { describe, expect, it } from 'vitest';
import { checkoutHandler } from '../../../../api/payer/checkout.ts';
import { returnHandler } from '../../../../api/payer/return.ts';
import type { PayerPayment } from '../../../../postgres/payments/payments.ts';
import { aPayerPayment, aPayerRequest } from '../../../support/data/payer-requests.ts';

const never = () => new Promise<never>(() => {});
const browser = 'text/html,application/xhtml+xml,*/*;q=0.8';
const program = '*/*';
const base = 'https://pay.example';

/** The handlers of a payment that no worker works on. */
const waitingFor = (changes: Partial<PayerPayment> = {}) => {
  const payment = { ...aPayerPayment({ isUnstarted: true, ...changes }), redirect: null };
  let verified = 0;
  let read: () => Promise<typeof payment> = async () => payment;
  const payments = {
    getForPayer: async () => read(),
    sendToGateway: async () => [await read()],
    recordLostCheckout: async () => {},
    recordReturnProof: async () => {},
  };
  const now = () => new Date();
  const checkout = checkoutHandler({ payments, starter: { startNow: never }, now });
  const comeBack = returnHandler({
    ...{ payments, now, searchLate: never, budget: { take: () => 0 }, publicBaseUrl: base },
    async verify() {
      verified += 1;
      return never();
    },
    logger: { info() {}, warn() {} },
  });
  const requested = (accept: string, query?: string) => aPayerRequest(payment.id, query, accept);
  return {
    payment,
    checkout: (accept: string) => checkout(requested(accept)),
    comeBack: (accept: string, query?: string) => comeBack(requested(accept, query)),
    verified: () => verified,
    losePostgres: () => (read = never),
  };
};

/** The answer, or `none` if it takes longer than a payer's patience. */
const within = async <T>(answer: Promise<T>, ms = 30_000): Promise<T | 'none'> =>
  Promise.race([
    answer,
    new Promise<'none'>((resolve) => void setTimeout(resolve, ms, 'none').unref()),
  ]);

const ends = (ms: number) => `waits_until=${Date.now() + ms}`;

describe('a payer who waits for a worker that hangs', () => {
  it('sees a page that reloads after the return, which goes on meanwhile', async () => {
    const { comeBack, payment, verified } = waitingFor();
    const redirect = await within(comeBack(browser, 'Authority=A%261&Status=OK'));
    if (redirect === 'none') throw new Error('no answer');
    expect(redirect.status).toBe(303);
    const { origin, pathname, search, searchParams } = new URL(
      redirect.headers?.['location'] ?? '',
    );
    expect(origin + pathname).toBe(`${base}/api/v1/payments/${payment.id}/return`);
    expect([...searchParams.keys()]).toEqual(['waits_until']);
    const reload = () => within(comeBack(browser, search));
    expect(await reload()).toMatchObject({ status: 202, headers: { refresh: '1' } });
    payment.status = 'paid';
    expect(await reload()).toMatchObject({
      status: 303,
      headers: { location: expect.stringContaining('status=paid') },
    });
    // A page that waits asks nobody.
    expect(verified()).toBe(1);
  });

  it.each([
    { title: 'when the wait is over', status: 'pending', query: ends(-1) },
    { title: 'when the gateway does not know yet', status: 'processing', query: ends(9_000) },
  ] as const)('continues to the shop $title', async ({ status, query }) => {
    const { comeBack } = waitingFor({ status });
    expect(await within(comeBack(browser, query))).toMatchObject({
      status: 303,
      headers: { location: expect.stringContaining('status=processing') },
    });
  });

  it('is verified by a link that somebody else has made', async () => {
    const made = ['9999999999999', 'x', '', '-1'].map(async (end) => {
      const { comeBack, verified } = waitingFor();
      await within(comeBack(browser, `waits_until=${end}`));
      return [end, verified()];
    });
    for (const [end, verified] of await Promise.all(made)) expect(verified, `${end}`).toBe(1);
  });

  it('sees the page also while Postgres hangs', async () => {
    const { checkout, comeBack, losePostgres } = waitingFor();
    losePostgres();
    expect(await within(checkout(browser))).toMatchObject({ status: 202 });
    expect(await within(comeBack(browser))).toMatchObject({ status: 303 });
    expect(await within(comeBack(browser, ends(9_000)))).toMatchObject({ status: 202 });
  });
});

it('a program waits for the answer itself', async () => {
  const { checkout, comeBack } = waitingFor();
  const answers = Promise.all([within(checkout(program), 1_500), within(comeBack(program), 1_500)]);
  expect(await answers).toEqual(['none', 'none']);
});
