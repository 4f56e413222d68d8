import { randomBytes } from 'node:crypto';
import { beforeEach, expect, it } from 'vitest';
import { eventId } from '../../../contract/ids.ts';
import { forFile } from '../../support/for-file.ts';
import { useService } from '../../support/service/service.ts';
import { until } from '../../support/until.ts';

const service = await forFile(useService());
beforeEach(() => service.receiver.behave(() => 204));

const aTraceparent = () =>
  `00-${randomBytes(16).toString('hex')}-${randomBytes(8).toString('hex')}-01`;
const payment = {
  order_id: 'order-1',
  amount: 1250,
  currency: 'EUR',
  sandbox: { outcome: 'paid' },
};

/** Creates a payment that is paid by its plan, and waits for its webhook. */
const aPaidPayment = async (headers: Record<string, string>) => {
  const made = await service.anApplication();
  await service.sql`update applications set refund_events = true where slug = ${made.application}`;
  const created = await made.journey.request('POST', '/api/v1/payments', payment, headers);
  expect(created.status, created.text).toBe(201);
  const id = String(created.json['payment_id']);
  await until('the webhook', () => service.receiver.of(id)[0]);
  return { ...made, id };
};

/** The `traceparent` of the webhooks of a payment and its refunds, by event. */
const tracesOf = (id: string) =>
  service.receiver
    .of(id)
    .map(({ headers }) => [headers['x-service-event'], headers['traceparent']]);

it('a webhook has the trace of the create request, and so has its replay', async () => {
  const traceparent = aTraceparent();
  const { id, journey } = await aPaidPayment({ traceparent });
  expect(tracesOf(id)).toEqual([['payment.paid', traceparent]]);

  await service.sql`
    update deliveries set round_began_at = now() - interval '1 minute' where payment_id = ${id}`;
  const replay = `/api/v1/events/${eventId(id)}/replay`;
  await until('the replay begins', async () => {
    const headers = { traceparent: aTraceparent() };
    return (await journey.request('POST', replay, undefined, headers)).status === 202;
  });
  await until('the second webhook', () => service.receiver.of(id)[1]);
  const sent = ['payment.paid', traceparent];
  expect(tracesOf(id)).toEqual([sent, sent]);
});

it('the events of a refund have the trace of the request for the refund', async () => {
  const { id, journey } = await aPaidPayment({ traceparent: aTraceparent() });
  const refunds = `/api/v1/payments/${id}/refunds`;
  const traceparent = aTraceparent();
  for (const headers of [{ traceparent }, {}])
    await journey.request(
      'POST',
      refunds,
      { amount: 100 },
      { ...headers, 'idempotency-key': aTraceparent() },
    );
  const found = await until('the events of both', () => {
    const traces = tracesOf(id).filter(([event]) => event === 'refund.succeeded');
    return traces.length === 2 && traces;
  });
  expect(found.map(([, trace]) => trace)).toEqual(expect.arrayContaining([traceparent, undefined]));
});

it('a sample has the trace of the request for it', async () => {
  const { journey } = await service.anApplication();
  const traceparent = aTraceparent();
  const headers = { traceparent };
  const { json } = await journey.request('POST', '/api/v1/webhook/test', {}, headers);
  const { payment_id } = json['sent'] as { payment_id: string };
  expect(tracesOf(payment_id)).toEqual([['payment.paid', traceparent]]);
});

it('a trace that is not valid is ignored, and so are state and baggage', async () => {
  const { id } = await aPaidPayment({
    traceparent: `ff${aTraceparent().slice(2)}`,
    tracestate: 'vendor=1',
    baggage: 'user=1',
  });
  const [webhook] = service.receiver.of(id);
  for (const name of ['traceparent', 'tracestate', 'baggage'])
    expect(webhook?.headers).not.toHaveProperty(name);
});
