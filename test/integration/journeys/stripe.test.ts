import { describe, expect, it } from 'vitest';
import { useService } from '../../support/service/service.ts';
import { skipAllTime } from '../../support/service/skip-time.ts';
import { addStripe, type Notice } from '../../support/service/stripe-account.ts';
import { until } from '../../support/until.ts';
import { forFile } from '../../support/for-file.ts';

const service = await forFile(useService());
const gateway = 'stripe-that-notifies';
const stripe = await forFile(addStripe(service, gateway));
const journey = (await service.anApplication()).journey;

const sent = () => stripe.sent(journey);
const notify = (reference: string, notice?: Notice) => stripe.notify(journey, reference, notice);
const statusOf = async (id: string) => (await journey.get(id)).json['status'];
const ended = (id: string) => until('the webhook', () => service.receiver.of(id)[0]);
const countReads = (reference: string) =>
  stripe.calls.filter(({ path }) => path.includes(`${reference}?`)).length;
const eventsOf = async (id: string) => {
  const [row] = await service.sql<{ count: number }[]>`
    select count(*) from events where payment_id = ${id}`;
  return row?.count;
};

describe('a notification of the gateway', () => {
  it('is only a hint: the outcome comes from the gateway’s own API', async () => {
    const { id, reference } = await sent();
    expect(await notify(reference)).toMatchObject({ status: 200 });
    await until('Stripe is asked', () => countReads(reference) > 0);
    expect(await statusOf(id)).toBe('pending');
    stripe.pay(reference);
    await notify(reference);
    expect((await ended(id)).headers['x-service-event']).toBe('payment.paid');
    const trackingCode = stripe.book.get(reference)?.trackingCode;
    expect((await journey.get(id)).json).toMatchObject({
      status: 'paid',
      tracking_code: trackingCode,
    });
  });

  it('changes nothing after the end, whatever its type', async () => {
    const { id, reference } = await sent();
    stripe.pay(reference);
    await notify(reference);
    await ended(id);
    const before = (await journey.get(id)).text;
    const asked = countReads(reference);
    for (const type of ['completed', 'expired', 'async_payment_failed'])
      expect(await notify(reference, { type })).toMatchObject({ status: 200 });
    expect((await journey.get(id)).text).toBe(before);
    expect(countReads(reference)).toBe(asked);
    expect(await eventsOf(id)).toBe(1);
    // The payment is paid, so no late-payment workflow starts.
    const handle = service.client.workflow.getHandle(`LATE_${id}`);
    await expect(handle.describe()).rejects.toThrow(/not found/i);
  });

  it('ends a payment that failed late, and one that expired at the gateway', async () => {
    const [slow, gone] = [await sent(), await sent()];
    stripe.move(slow.reference, 'complete unpaid processing');
    await notify(slow.reference);
    await until('it is processing', async () => (await statusOf(slow.id)) === 'processing');
    stripe.failWith({ code: 'card_declined', decline_code: 'insufficient_funds', message: 'No.' });
    stripe.move(slow.reference, 'complete unpaid requires_payment_method');
    await notify(slow.reference, { type: 'async_payment_failed' });
    await ended(slow.id);
    expect((await journey.get(slow.id)).json).toMatchObject({
      status: 'failed',
      failure_code: 'insufficient_funds',
    });
    stripe.failWith(null);
    stripe.move(gone.reference, 'expired unpaid');
    await notify(gone.reference, { type: 'expired' });
    await ended(gone.id);
    expect(await statusOf(gone.id)).toBe('expired');
  });

  it.each([
    [
      'called off',
      'cancelled',
      (id: string) => journey.request('POST', `/api/v1/payments/${id}/cancel`),
    ],
    ['closed at its deadline', 'expired', (id: string) => skipAllTime(service.client, id)],
  ])('that comes while the payment is %s has its money reversed', async (_, status, end) => {
    const { id, reference } = await sent();
    const path = `/${reference}/expire`;
    const release = stripe.hold(new RegExp(path));
    const ending = end(id);
    await until('Stripe closes it', () => stripe.calls.some((call) => call.path.endsWith(path)));
    const entry = stripe.book.get(reference)!; // Its payer was sent there.
    Object.assign(entry, { state: 'complete paid succeeded', charged: 1 });
    expect(await notify(reference)).toMatchObject({ status: 200 });
    release();
    await ending;
    await ended(id);
    expect(await statusOf(id)).toBe(status);
    await until('the money is back', () => entry.reversed === 1);
    const [late] = await until('it is recorded', async () => {
      const rows = await service.sql`
        select result, reversals from late_payments where payment_id = ${id} and result is not null`;
      return rows.length > 0 && rows;
    });
    expect(late).toEqual({ result: 'reversed', reversals: 1 });
    expect(await eventsOf(id)).toBe(1);
  });

  it('starts a lost workflow again', async () => {
    const { id, reference } = await sent();
    await service.client.workflow.getHandle(id).terminate('a test');
    stripe.pay(reference);
    expect(await notify(reference)).toMatchObject({ status: 200 });
    await ended(id);
    expect(await statusOf(id)).toBe('paid');
  });
});

/** A payment whose payer presses the cancel link on Stripe's page. */
const sentAndCancelled = async () => {
  const { id, reference } = await sent();
  const { url } = stripe.back(reference);
  // Stripe sends a payer who has not paid to the cancel link.
  expect(url).toContain('cancelled');
  return { id, reference, cancel: () => journey.call('GET', url) };
};

describe('a payer who comes back by Stripe’s cancel link', () => {
  it('cancels the payment, and nobody can pay at Stripe any more', async () => {
    const { id, reference, cancel } = await sentAndCancelled();
    const back = await cancel();
    expect(back.status).toBe(303);
    expect(back.headers.get('location')).toContain('status=cancelled');
    expect(await statusOf(id)).toBe('cancelled');
    const webhook = await ended(id);
    expect(webhook.headers['x-service-event']).toBe('payment.cancelled');
    stripe.pay(reference);
    expect(stripe.book.get(reference)).toMatchObject({ state: 'expired unpaid', charged: 0 });
    expect((await cancel()).headers.get('location')).toContain('status=cancelled');
  });
});

/** The restored backup is from before the checkout. A superuser's replica role fires no trigger. */
const loseCheckout = (id: string) =>
  service.sql.begin(async (tx) => {
    await tx`set local session_replication_role = replica`;
    await tx`update payments set checkout_at = null where id = ${id}`;
  });

/** A payment whose payer was sent to Stripe's page, of which Postgres knows no more. */
const sentUnrecorded = async () => {
  const payment = await sent();
  await loseCheckout(payment.id);
  return payment;
};
/** The ways to learn that a payer may have been at the gateway. */
const signs: [string, (payment: { id: string; reference: string }) => Promise<unknown>][] = [
  ['a return', ({ id }) => journey.comeBack(id)],
  ['a verify', ({ id }) => journey.verify(id)],
  ['a notification', ({ reference }) => notify(reference)],
];

describe('a payment whose recorded checkout is lost', () => {
  it.each(signs)('ends paid after %s', async (_, give) => {
    const payment = await sentUnrecorded();
    stripe.pay(payment.reference);
    await give(payment);
    await until('it is paid', async () => (await statusOf(payment.id)) === 'paid');
    const [row] = await service.sql`select checkout_at from payments where id = ${payment.id}`;
    expect(row?.['checkout_at']).toBeInstanceOf(Date);
  });

  it.each(signs)('has late money reversed after %s', async (_, give) => {
    const payment = await sentUnrecorded();
    await skipAllTime(service.client, payment.id);
    await ended(payment.id);
    const entry = stripe.book.get(payment.reference)!; // Its payer was sent there.
    Object.assign(entry, { state: 'complete paid succeeded', charged: 1 });
    await give(payment);
    await until('the money is returned', () => entry.reversed === 1);
    await service.client.workflow.getHandle(`LATE_${payment.id}`).result();
    expect(await statusOf(payment.id)).toBe('expired');
  });
});

it('our own call that expires a session comes back as a notification that starts no search for late money', async () => {
  const { id, reference } = await sent();
  await skipAllTime(service.client, id);
  await ended(id);
  const asked = stripe.calls.length;
  expect(await notify(reference, { type: 'expired' })).toMatchObject({ status: 200 });
  await expect(service.client.workflow.getHandle(`LATE_${id}`).describe()).rejects.toThrow(
    /not found/i,
  );
  expect(stripe.calls.length).toBe(asked);
  // Other news still starts one.
  expect(await notify(reference)).toMatchObject({ status: 200 });
  await service.client.workflow.getHandle(`LATE_${id}`).result();
});
