import { expect, it } from 'vitest';
import { verify } from '../../../client/src/webhooks.ts';
import { DisputeEventBody } from '../../../contract/dispute-event-schema.ts';
import type { KnownDispute } from '../../../contract/dispute.ts';
import { createDisputes } from '../../../postgres/disputes.ts';
import { createWorkflowCalls } from '../../../temporal/workflow-calls.ts';
import type { Received } from '../../support/service/receiver.ts';
import { useService } from '../../support/service/service.ts';
import { addStripe, signed } from '../../support/service/stripe-account.ts';
import { sweepNow } from '../../support/service/sweep-now.ts';
import { until } from '../../support/until.ts';
import { forFile } from '../../support/for-file.ts';

const service = await forFile(useService());
const gateway = 'stripe-whose-disputes-have-events';
const stripe = await forFile(addStripe(service, gateway));
const workflows = createWorkflowCalls(service.client);

const aPaidPayment = async (disputeEvents: boolean) => {
  const { application, secret, journey } = await service.anApplication();
  await service.sql`
    update applications set dispute_events = ${disputeEvents} where slug = ${application}`;
  const id = await journey.atGateway({ gateway });
  stripe.pay(stripe.referenceOf(id));
  await journey.verify(id);
  await until('the event of the payment', () => service.receiver.of(id).length === 1);
  return { id, application, secret, journey };
};
/** Stripe reports a dispute, and the next sweep asks about it. */
const report = async (
  { journey }: { journey: Awaited<ReturnType<typeof aPaidPayment>>['journey'] },
  dispute: object,
) => {
  const type = 'charge.dispute.updated';
  const body = JSON.stringify({ id: 'evt_1', livemode: false, type, data: { object: dispute } });
  const path = `/api/v1/gateways/${gateway}/notifications`;
  const answer = await journey.call('POST', path, { body, headers: signed(body) });
  expect(answer.status).toBe(200);
  await sweepNow(service.client);
};
const postsOf = (id: string): Received[] =>
  service.receiver.of(id).filter(({ json }) => 'dispute_id' in json);
const closes = ({ headers }: Received) =>
  service.client.workflow
    .getHandle(`DISPUTE_EVENT_${String(headers['x-service-event-id'])}`)
    .result();
const inShort = ({ json }: Received) =>
  ['event', 'sequence', 'stage', 'status', 'amount_held', 'amount_disputed']
    .map((name) => String(json[name]))
    .join(' ');

it('each change of a dispute sends one signed event, also after the end', async () => {
  const payment = await aPaidPayment(true);
  const dispute = stripe.dispute(stripe.referenceOf(payment.id), 'warning_needs_response');
  const expected = ['dispute.opened 1 inquiry needs_response 0 0'];
  const changes = [
    ['needs_response', 'dispute.updated 2 chargeback needs_response 1250 1250'],
    ['won', 'dispute.closed 3 chargeback won 0 0'],
    ['needs_response', 'dispute.updated 4 chargeback needs_response 1250 1250'],
    ['lost', 'dispute.closed 5 chargeback lost 1250 1250'],
  ] as const;
  const arrives = () =>
    until(expected.at(-1) ?? '', () => postsOf(payment.id).length === expected.length);
  await report(payment, dispute);
  await arrives();
  for (const [status, event] of changes) {
    dispute.status = status;
    expected.push(event);
    await report(payment, dispute);
    await arrives();
    // It changes nothing.
    await report(payment, dispute);
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
  await report(payment, stripe.dispute(stripe.referenceOf(payment.id), 'needs_response'));
  await until('the dispute is recorded', async () => {
    const { json } = await payment.journey.get(payment.id);
    return json['amount_disputed'] === 1250;
  });
  const { json } = await payment.journey.request('GET', `/api/v1/events?payment_id=${payment.id}`);
  expect(json['data']).toHaveLength(1);
});

it('an event whose worker died before it began the delivery is sent by a sweep, once', async () => {
  const { id, application, journey } = await aPaidPayment(true);
  const disputes = createDisputes(service.sql);
  const told: KnownDispute = {
    gatewayReference: `dp_${id}`,
    ...({ stage: 'chargeback', status: 'lost', amount: 1250, currency: 'EUR' } as const),
    ...{ reason: 'fraudulent', networkReason: null, respondBy: null, openedAt: new Date() },
  };
  // As the worker does. A sweep does not take the look, because it is not due.
  await service.sql`insert into dispute_looks (payment_id) values (${id})`;
  const [disputeEventId = ''] =
    (await disputes.recordLook({ id, number: 1 }, [told], new Date())) ?? [];
  await service.sql`
    update deliveries set next_attempt_at = now() - interval '6 minutes'
    where event_id = ${disputeEventId}`;
  await sweepNow(service.client);
  const post = await until('it is sent', () => postsOf(id)[0]);
  expect(inShort(post)).toBe('dispute.closed 1 chargeback lost 1250 1250');
  await closes(post);
  const { json } = await journey.get(id);
  const start = { id, application, orderId: String(json['order_id']), disputeEventId };
  await Promise.all([workflows.restart(start), workflows.restart(start)]);
  await closes(post);
  expect(postsOf(id)).toHaveLength(1);
});

it('an event that nobody accepted is replayed with its bytes', async () => {
  const payment = await aPaidPayment(true);
  await report(payment, stripe.dispute(stripe.referenceOf(payment.id), 'needs_response'));
  const first = await until('it is sent', () => postsOf(payment.id)[0]);
  await closes(first);
  const eventId = String(first.headers['x-service-event-id']);
  await service.sql`
    update deliveries set status = 'exhausted', exhausted_by_run = 'r' where event_id = ${eventId}`;
  const path = `/api/v1/events/${eventId}/replay`;
  expect((await payment.journey.request('POST', path)).status).toBe(202);
  const again = await until('it is sent again', () => postsOf(payment.id)[1]);
  expect(again.body.equals(first.body)).toBe(true);
  expect(again.headers['x-service-event-id']).toBe(eventId);
  await closes(again);
});
