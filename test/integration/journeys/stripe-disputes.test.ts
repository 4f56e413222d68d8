import { expect, it } from 'vitest';
import { verify } from '../../../client/src/webhooks.ts';
import { DisputeEventBody } from '../../../contract/dispute-event-schema.ts';
import { createAdminDisputes } from '../../../postgres/admin/disputes.ts';
import { createWorkflowCalls } from '../../../temporal/workflow-calls.ts';
import { aDispute, recordDisputes } from '../../support/data/disputes.ts';
import type { Received } from '../../support/service/receiver.ts';
import { refund } from '../../support/service/refunds.ts';
import { useService } from '../../support/service/service.ts';
import { addStripe } from '../../support/service/stripe-account.ts';
import { sweepNow } from '../../support/service/sweep-now.ts';
import { until } from '../../support/until.ts';
import { forFile } from '../../support/for-file.ts';

const service = await forFile(useService());
const gateway = 'stripe-that-disputes';
const stripe = await forFile(addStripe(service, gateway));
const { journey } = await service.anApplication();

/** Stripe tells of an object, and the next sweep asks about it. */
const tell = async (type: string, object: object) => {
  await stripe.tell(journey, type, object);
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
  const { id, reference } = await stripe.paid(journey);
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
  const { id, reference } = await stripe.sent(journey);
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

const workflows = createWorkflowCalls(service.client);

const aPaidPayment = async (disputeEvents: boolean) => {
  const made = await service.anApplication();
  await service.sql`
    update applications set dispute_events = ${disputeEvents} where slug = ${made.application}`;
  const payment = await stripe.paid(made.journey);
  await until('the event of the payment', () => service.receiver.of(payment.id).length === 1);
  return { ...made, ...payment };
};
const report = (dispute: object) => tell('charge.dispute.updated', dispute);
const postsOf = (id: string): Received[] =>
  service.receiver.of(id).filter(({ json }) => 'dispute_id' in json);
const closes = ({ headers }: Received) =>
  service.client.workflow.getHandle(`EVENT_${String(headers['x-service-event-id'])}`).result();
const inShort = ({ json }: Received) =>
  ['event', 'sequence', 'stage', 'status', 'amount_held', 'amount_disputed']
    .map((name) => String(json[name]))
    .join(' ');

it('each change of a dispute sends one signed event, also after the end', async () => {
  const payment = await aPaidPayment(true);
  const dispute = stripe.dispute(payment.reference, 'warning_needs_response');
  const expected = ['dispute.opened 1 inquiry needs_response 0 0'];
  const changes = [
    ['needs_response', 'dispute.updated 2 chargeback needs_response 1250 1250'],
    ['won', 'dispute.closed 3 chargeback won 0 0'],
    ['needs_response', 'dispute.updated 4 chargeback needs_response 1250 1250'],
    ['lost', 'dispute.closed 5 chargeback lost 1250 1250'],
  ] as const;
  const arrives = () =>
    until(expected.at(-1) ?? '', () => postsOf(payment.id).length === expected.length);
  await report(dispute);
  await arrives();
  for (const [status, event] of changes) {
    dispute.status = status;
    expected.push(event);
    await report(dispute);
    await arrives();
    // It changes nothing.
    await report(dispute);
  }
  const posts = postsOf(payment.id);
  expect(posts.map(inShort)).toEqual(expected);
  for (const { body, headers, json } of posts) {
    const signature = headers['x-service-signature'];
    expect(await verify({ body, signature, secret: payment.secret })).toEqual(json);
    // The schema lists every member, in its order.
    expect(Object.keys(DisputeEventBody.parse(json))).toEqual(Object.keys(json));
    expect(headers['x-service-event']).toBe(json['event']);
  }
  expect((await payment.journey.get(payment.id)).json['status']).toBe('paid');
  await Promise.all(posts.map(closes));
});

it('an application whose events of disputes are off gets none', async () => {
  const payment = await aPaidPayment(false);
  await report(stripe.dispute(payment.reference, 'needs_response'));
  await until('the dispute is recorded', async () => {
    const { json } = await payment.journey.get(payment.id);
    return json['amount_disputed'] === 1250;
  });
  const { json } = await payment.journey.request('GET', `/api/v1/events?payment_id=${payment.id}`);
  expect(json['data']).toHaveLength(1);
});

it('an event whose worker died before it began the delivery is sent by a sweep, once', async () => {
  const payment = await aPaidPayment(true);
  const { id, application } = payment;
  const lost = aDispute({ status: 'lost', amount: 1250 });
  const [ownEventId = ''] = await recordDisputes(service.sql, id, [lost]);
  await service.sql`
    update deliveries set next_attempt_at = now() - interval '6 minutes'
    where event_id = ${ownEventId}`;
  await sweepNow(service.client);
  const post = await until('it is sent', () => postsOf(id)[0]);
  expect(inShort(post)).toBe('dispute.closed 1 chargeback lost 1250 1250');
  await closes(post);
  const { json } = await payment.journey.get(id);
  const start = { id, application, orderId: String(json['order_id']), ownEventId };
  await Promise.all([workflows.restart(start), workflows.restart(start)]);
  await closes(post);
  expect(postsOf(id)).toHaveLength(1);
});
