import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Journey } from '../../support/journey.ts';
import { createJourney } from '../../support/journey.ts';
import type { Service } from '../../support/service.ts';
import { startService } from '../../support/service.ts';
import type { StripeAccount } from '../../support/stripe-account.ts';
import { addStripe } from '../../support/stripe-account.ts';
import { until } from '../../support/until.ts';

let service: Service;
let stripe: StripeAccount;
let journey: Journey;
beforeAll(async () => {
  service = await startService();
  stripe = await addStripe(service);
  journey = createJourney(service, (await service.anApplication()).token);
});
afterAll(async () => {
  await service?.stop();
  await stripe?.stop();
});

const sent = async () => {
  const id = await journey.atGateway({ gateway: 'stripe' });
  const reference = stripe.referenceOf(id);
  // Stripe sends who has not paid to the cancel link.
  const { url } = stripe.back(reference);
  expect(url).toContain('cancelled');
  return { id, reference, cancel: () => journey.call('GET', url) };
};
const statusOf = async (id: string) => (await journey.get(id)).json['status'];

describe('a payer who comes back by Stripe’s cancel link', () => {
  it('has cancelled: the session is closed at Stripe, and the payment is cancelled', async () => {
    const { id, reference, cancel } = await sent();
    const back = await cancel();
    expect(back.status).toBe(303);
    expect(back.headers.get('location')).toContain('status=cancelled');
    expect(await statusOf(id)).toBe('cancelled');
    const webhook = await until('the webhook', () => service.receiver.of(id)[0]);
    expect(webhook.headers['x-service-event']).toBe('payment.cancelled');
    // Nobody can pay any more.
    stripe.pay(reference);
    expect(stripe.book.get(reference)).toMatchObject({ state: 'expired unpaid', charged: 0 });
    expect((await cancel()).headers.get('location')).toContain('status=cancelled');
  });

  it('FS-17: has paid, where another window did so meanwhile', async () => {
    const { id, reference, cancel } = await sent();
    stripe.pay(reference);
    expect((await cancel()).headers.get('location')).toContain('status=paid');
    expect(await statusOf(id)).toBe('paid');
  });

  it('FS-17: has not cancelled while Stripe refuses to close it: it is read again', async () => {
    const { id, reference, cancel } = await sent();
    stripe.refuse(`${reference}/expire`, {
      status: 400,
      type: 'invalid_request_error',
      code: 'no',
    });
    expect((await cancel()).headers.get('location')).toContain('status=processing');
    expect(await statusOf(id)).toBe('processing');
    const asked = stripe.calls.filter(({ path }) => path.includes(`${reference}?`));
    expect(asked).toHaveLength(2);
    stripe.pay(reference);
    await until('it is paid', async () => (await journey.verify(id)).json['status'] === 'paid');
  });
});
