import { describe, expect, it } from 'vitest';
import { useService } from '../../support/service/service.ts';
import { skipAllTime } from '../../support/service/skip-time.ts';
import { addStripe, noticeOf } from '../../support/service/stripe-account.ts';
import { until } from '../../support/until.ts';
import { forFile } from '../../support/for-file.ts';

const service = await forFile(useService());
const gateway = 'stripe-of-lost-checkouts';
const stripe = await forFile(addStripe(service, gateway));
const journey = (await service.anApplication()).journey;

/** The restored backup is from before the checkout. A superuser's replica role fires no trigger. */
const loseCheckout = (id: string) =>
  service.sql.begin(async (tx) => {
    await tx`set local session_replication_role = replica`;
    await tx`update payments set checkout_at = null where id = ${id}`;
  });

/** A payment whose payer was sent to Stripe's page, of which Postgres knows no more. */
const sent = async () => {
  const id = await journey.atGateway({ gateway });
  await loseCheckout(id);
  return { id, reference: stripe.referenceOf(id) };
};
const statusOf = async (id: string) => (await journey.get(id)).json['status'];
const notify = (reference: string, type?: string) =>
  journey.call(
    'POST',
    `/api/v1/gateways/${gateway}/notifications`,
    noticeOf(reference, type === undefined ? {} : { type }),
  );

/** The ways to learn that a payer may have been at the gateway. */
const signs: [string, (payment: { id: string; reference: string }) => Promise<unknown>][] = [
  ['a return', ({ id }) => journey.comeBack(id)],
  ['a verify', ({ id }) => journey.verify(id)],
  ['a notification', ({ reference }) => notify(reference)],
];

describe('a payment whose recorded checkout is lost', () => {
  it.each(signs)('ends paid after %s', async (_, give) => {
    const payment = await sent();
    stripe.pay(payment.reference);
    await give(payment);
    await until('it is paid', async () => (await statusOf(payment.id)) === 'paid');
    const [row] = await service.sql`select checkout_at from payments where id = ${payment.id}`;
    expect(row?.['checkout_at']).toBeInstanceOf(Date);
  });

  it('ends paid at its deadline', async () => {
    const { id, reference } = await sent();
    stripe.pay(reference);
    await skipAllTime(service.client, id);
    await until('the webhook', () => service.receiver.of(id)[0]);
    expect(await statusOf(id)).toBe('paid');
    expect(service.receiver.of(id)).toHaveLength(1);
  });

  it.each(signs)('has late money reversed after %s', async (_, give) => {
    const payment = await sent();
    await skipAllTime(service.client, payment.id);
    await until('the webhook', () => service.receiver.of(payment.id)[0]);
    const entry = stripe.book.get(payment.reference)!; // Its payer was sent there.
    Object.assign(entry, { state: 'complete paid succeeded', charged: 1 });
    await give(payment);
    await until('the money is returned', () => entry.reversed === 1);
    await service.client.workflow.getHandle(`LATE_${payment.id}`).result();
    expect(await statusOf(payment.id)).toBe('expired');
  });

  it('expires, and nobody can pay it at the gateway any more', async () => {
    const { id, reference } = await sent();
    await skipAllTime(service.client, id);
    await until('the webhook', () => service.receiver.of(id)[0]);
    expect(await statusOf(id)).toBe('expired');
    expect(stripe.book.get(reference)?.state).toBe('expired unpaid');
  });
});

it('our own call that expires a session comes back as a notification that starts no search for late money', async () => {
  const id = await journey.atGateway({ gateway });
  const reference = stripe.referenceOf(id);
  await skipAllTime(service.client, id);
  await until('the webhook', () => service.receiver.of(id)[0]);
  const asked = stripe.calls.length;
  expect(await notify(reference, 'expired')).toMatchObject({ status: 200 });
  await expect(service.client.workflow.getHandle(`LATE_${id}`).describe()).rejects.toThrow(
    /not found/i,
  );
  expect(stripe.calls.length).toBe(asked);
  // Other news still starts one.
  expect(await notify(reference)).toMatchObject({ status: 200 });
  await service.client.workflow.getHandle(`LATE_${id}`).result();
});
