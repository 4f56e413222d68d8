import { describe, expect, it, onTestFinished } from 'vitest';
import { createPayments } from '../../../../postgres/payments/payments.ts';
import { aPayment } from '../../../support/data/payments.ts';
import { forFile } from '../../../support/for-file.ts';
import { expectPage, expectRedirect, originOnly } from '../../../support/service/payer-page.ts';
import { useService } from '../../../support/service/service.ts';
import { addStripe } from '../../../support/service/stripe-account.ts';
import { until } from '../../../support/until.ts';

const service = await forFile(useService());
const { journey, application } = await service.anApplication();

const stripeOf = async (gateway: string) => {
  const stripe = await addStripe(service, gateway);
  onTestFinished(() => stripe.stop());
  return stripe;
};

describe('checkout', () => {
  it('redirects to the gateway while the payment is pending, repeatedly', async () => {
    const id = await journey.create();
    for (let time = 0; time < 2; time += 1) {
      const answer = await journey.checkout(id);
      expect(answer.status).toBe(302);
      expectRedirect(answer, `${service.url}/api/v1/sandbox/${id}`, originOnly);
    }
  });

  it('redirects to the callback URL with its parameters after the payment has ended', async () => {
    const id = await journey.create({
      callback_url: 'http://127.0.0.1:9/other?kept=1',
      order_id: 'a b&status=paid#ü',
    });
    await journey.checkout(id);
    await journey.choose(id, 'cancel');
    await journey.comeBack(id);
    const answer = await journey.checkout(id);
    expect(answer.status).toBe(303);
    const url = new URL(answer.headers.get('location') ?? '');
    expect(`${url.origin}${url.pathname}`).toBe('http://127.0.0.1:9/other');
    expect([...url.searchParams]).toEqual([
      ['kept', '1'],
      ['payment_id', id],
      ['order_id', 'a b&status=paid#ü'],
      ['status', 'cancelled'],
    ]);
  });

  it('shows a reloading page with 503 while the gateway fails', async () => {
    const gateway = 'stripe-that-fails';
    const stripe = await stripeOf(gateway);
    for (let time = 0; time < 20; time += 1) stripe.fail('error', /sessions$/);
    // A program waits for the 10 s that the API's description names.
    const answer = await journey.checkout(await journey.create({ gateway }));
    expect(answer.status).toBe(503);
    expectPage(answer);
    expect(answer.headers.get('refresh')).toBe('3');
  });

  it('shows a browser a page that reloads while the gateway takes long', async () => {
    const gateway = 'stripe-that-is-slow';
    const stripe = await stripeOf(gateway);
    stripe.fail('slow', /sessions$/);
    const path = `/api/v1/payments/${await journey.create({ gateway })}/checkout`;
    const answer = await journey.call('GET', path, { headers: { accept: 'text/html' } });
    expect(answer.status).toBe(202);
    expectPage(answer);
    expect(answer.headers.get('refresh')).toBe('3');
  });

  it('tells Stripe whom the payer pays', async () => {
    const gateway = 'stripe-that-is-told';
    const stripe = await stripeOf(gateway);
    const shop = await service.anApplication();
    await service.sql`
      update applications set display_name = 'The Shop' where slug = ${shop.application}`;
    const id = await shop.journey.create({ gateway });
    const opening = () => stripe.calls.find(({ form }) => form?.get('client_reference_id') === id);
    const call = await until('the opening', async () => opening());
    expect(call.form?.get('branding_settings[display_name]')).toBe('The Shop');
  });

  it('starts the workflow of a payment whose API process has not done it for a second', async () => {
    const payment = aPayment({ application });
    await createPayments(service.sql).insert(payment, null);
    expect((await journey.checkout(payment.id)).status).toBe(302);
    expect(Date.now() - payment.createdAt.getTime()).toBeGreaterThanOrEqual(1_000);
  });
});
