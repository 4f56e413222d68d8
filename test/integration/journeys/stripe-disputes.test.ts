import { expect, it } from 'vitest';
import { createAdminDisputes } from '../../../postgres/admin-disputes.ts';
import { refund } from '../../support/service/refunds.ts';
import { useService } from '../../support/service/service.ts';
import { addStripe, signed } from '../../support/service/stripe-account.ts';
import { sweepNow } from '../../support/service/sweep-now.ts';
import { until } from '../../support/until.ts';
import { forFile } from '../../support/for-file.ts';

const service = await forFile(useService());
const gateway = 'stripe-that-disputes';
const stripe = await forFile(addStripe(service, gateway));
const { journey } = await service.anApplication();

/** Stripe's notification about an object. */
const tell = async (type: string, object: object) => {
  const body = JSON.stringify({ id: 'evt_1', livemode: false, type, data: { object } });
  const path = `/api/v1/gateways/${gateway}/notifications`;
  const answer = await journey.call('POST', path, { body, headers: signed(body) });
  expect(answer.status).toBe(200);
  await sweepNow(service.client);
};
const disputesOf = async (shop: typeof journey, id: string) =>
  (await shop.request('GET', `/api/v1/payments/${id}/disputes`)).json['data'] as object[];
const lateMoneyIs = (id: string, result: string) =>
  until(`the late money is ${result}`, async () => {
    const rows = await service.sql`
      select from late_payments where payment_id = ${id} and result = ${result}`;
    return rows.length === 1;
  });

it('holds a chargeback against refunds until it is won', async () => {
  const id = await journey.atGateway({ gateway });
  const reference = stripe.referenceOf(id);
  stripe.pay(reference);
  await journey.verify(id);
  const dispute = stripe.dispute(reference, 'needs_response', { amount: 1000 });
  const notify = (type: string) => tell(`charge.dispute.${type}`, dispute);
  const sums = async () => {
    const { json } = await journey.get(id);
    return [json['status'], json['amount_disputed'], json['refundable']].join();
  };
  await notify('created');
  await until('it is held', async () => (await sums()) === 'paid,1000,250');
  const refused = await refund(journey, id, { amount: 251 });
  expect(refused).toMatchObject({
    status: 422,
    json: { error: { code: 'REFUND_EXCEEDS_PAYMENT', details: { amount_disputed: 1000 } } },
  });
  const told = () => disputesOf(journey, id);
  expect(await told()).toMatchObject([
    { payment_id: id, gateway, status: 'needs_response', amount: 1000, amount_held: 1000 },
  ]);
  dispute.status = 'won';
  await notify('closed');
  await until('it is free', async () => (await sums()) === 'paid,0,1250');
  expect(await told()).toMatchObject([{ payment_id: id, status: 'won', amount_held: 0 }]);
});

it('tells of a dispute of money that went back because another payment had paid the order', async () => {
  const { journey: shop } = await service.anApplication({ ordersPaidOnce: true });
  const order = { gateway, order_id: 'paid-twice' };
  const [winner, loser] = [await shop.atGateway(order), await shop.atGateway(order)];
  for (const id of [winner, loser]) stripe.pay(stripe.referenceOf(id));
  await shop.verify(winner);
  await shop.verify(loser);
  await lateMoneyIs(loser, 'reversed');
  await tell(
    'charge.dispute.created',
    stripe.dispute(stripe.referenceOf(loser), 'needs_response', { amount: 1000 }),
  );
  await until('it is told', async () => (await disputesOf(shop, loser)).length === 1);
  expect(await disputesOf(shop, loser)).toMatchObject([
    { status: 'needs_response', amount_held: 1000, respond_by: expect.any(String) as string },
  ]);
  const everyone = await createAdminDisputes(service.sql).listToAnswer(true, 100);
  expect(everyone.map(({ paymentId }) => paymentId)).toContain(loser);
  // The payment is not paid, so there is nothing that its application could find or give back.
  expect((await shop.get(loser)).json).toMatchObject({
    ...{ status: 'failed', failure_code: 'order_already_paid', tracking_code: null },
    ...{ amount_disputed: 1000, refundable: 0 },
  });
});

it('follows what the dashboard does with the money of a cancelled payment', async () => {
  const id = await journey.atGateway({ gateway });
  const reference = stripe.referenceOf(id);
  await journey.request('POST', `/api/v1/payments/${id}/cancel`);
  stripe.move(reference, 'open unpaid');
  stripe.pay(reference);
  const disputed = { status: 400, type: 'invalid_request_error', code: 'charge_disputed' };
  stripe.refuse('/v1/refunds', disputed);
  await tell('checkout.session.completed', { id: reference });
  await lateMoneyIs(id, 'by_hand');
  const refunded = stripe.add(reference, { amount: 1250 });
  await tell('refund.created', stripe.shown(refunded));
  await lateMoneyIs(id, 'reversed');
  refunded.state = 'failed';
  await tell('refund.failed', stripe.shown(refunded));
  await lateMoneyIs(id, 'by_hand');
  const moved = await service.sql`
    select kind, amount from movements where payment_id = ${id} order by recorded_at`;
  expect(moved).toEqual([
    { kind: 'late_payment', amount: 1250 },
    { kind: 'late_reversal', amount: -1250 },
  ]);
  expect((await journey.get(id)).json).toMatchObject({ status: 'cancelled', amount_refunded: 0 });
});
