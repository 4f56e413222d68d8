import proto from '@temporalio/proto';
import { describe, expect, it } from 'vitest';
import { rawRequest } from '../../../support/servers/raw-http.ts';
import { errorOf, refusalOf } from '../../../support/service/answers.ts';
import { useService } from '../../../support/service/service.ts';
import { addStripe } from '../../../support/service/stripe-account.ts';
import { until } from '../../../support/until.ts';
import { forFile } from '../../../support/for-file.ts';

const service = await forFile(useService());
const gateway = 'stripe-that-cancels';
const stripe = await forFile(addStripe(service, gateway));
const { journey, token } = await service.anApplication();
const cancelled = await journey.finish('cancel');

const cancel = (id: string, body?: object) =>
  journey.request('POST', `/api/v1/payments/${id}/cancel`, body);

describe('POST /api/v1/payments/{payment_id}/cancel', () => {
  it('ends a payment before its payer goes to the gateway, and sends the event', async () => {
    const id = await journey.create();
    const answer = await cancel(id, { reason: 'Out of stock' });
    expect(answer).toMatchObject({
      status: 200,
      json: {
        status: 'cancelled',
        cancelled_by: 'application',
        cancellation_reason: 'Out of stock',
        checkout_url: null,
      },
    });
    expect((await cancel(id, { reason: 'Again' })).text).toBe(answer.text);
    // A purge does not reach a history.
    const history = await service.client.workflow.getHandle(id).fetchHistory();
    const texts = Buffer.from(
      proto.temporal.api.history.v1.History.encode(history).finish(),
    ).toString('latin1');
    expect(texts).toContain('"by":"application"');
    expect(texts).not.toMatch(/Out of stock|Again/);
    const { json } = await until('the webhook', () => service.receiver.of(id)[0]);
    expect(json).toMatchObject({ event: 'payment.cancelled', cancelled_by: 'application' });
    expect((await journey.checkout(id)).status).not.toBe(302);
  });

  it('closes a payment at its gateway, so that the payer there cannot pay', async () => {
    const id = await journey.atGateway({ gateway });
    expect(await cancel(id)).toMatchObject({
      status: 200,
      json: { status: 'cancelled', cancellation_reason: null },
    });
    const reference = stripe.referenceOf(id);
    stripe.pay(reference);
    expect(stripe.book.get(reference)).toMatchObject({ state: 'expired unpaid', charged: 0 });
  });

  it('lets a payment win that is paid, also before anybody has verified it', async () => {
    const id = await journey.atGateway();
    await journey.choose(id, 'pay_and_close');
    for (const answer of [await cancel(id), await cancel(id)]) {
      expect(refusalOf(answer)).toEqual([409, 'PAYMENT_NOT_CANCELLABLE']);
      expect(errorOf(answer).details).toEqual({ status: 'paid' });
    }
    expect((await journey.get(id)).json).toMatchObject({ status: 'paid', cancelled_by: null });
  });

  it('changes nothing while the gateway is silent', async () => {
    const id = await journey.atGateway({ gateway });
    stripe.refuse(stripe.referenceOf(id), { status: 500, type: 'api_error', code: 'internal' });
    expect(refusalOf(await cancel(id))).toEqual([502, 'GATEWAY_UNAVAILABLE']);
    expect((await journey.get(id)).json['status']).toBe('pending');
  });

  it('says that the payer cancelled where the payer did', async () => {
    expect(await cancel(cancelled)).toMatchObject({
      status: 200,
      json: { cancelled_by: 'payer', cancellation_reason: null },
    });
  });

  it('hides the payments of others, and checks the body', async () => {
    const other = await service.anApplication();
    const id = await other.journey.create();
    expect(refusalOf(await cancel(id))).toEqual([404, 'PAYMENT_NOT_FOUND']);
    for (const body of [{ reason: '' }, { reason: 'x'.repeat(256) }, { reason: 1 }, { why: 'x' }])
      expect((await cancel(id, body)).status).toBe(422);
  });

  it.each<[string, Record<string, string>]>([
    ['that is absent', {}],
    ['of length 0', { 'content-length': '0' }],
    ['of length 0 as JSON', { 'content-length': '0', 'content-type': 'application/json' }],
    ['in chunks', { 'transfer-encoding': 'chunked' }],
    ['in chunks as JSON', { 'transfer-encoding': 'chunked', 'content-type': 'application/json' }],
    [
      'in chunks as bytes',
      { 'transfer-encoding': 'chunked', 'content-type': 'application/octet-stream' },
    ],
  ])('takes an empty body %s', async (_, headers) => {
    const answer = await rawRequest(`${service.url}/api/v1/payments/${cancelled}/cancel`, {
      headers: { authorization: `Bearer ${token}`, ...headers },
      body: [],
    });
    expect(answer.status, answer.text).toBe(200);
  });

  it.each(['[]', '{"reason":null}'])('takes %s for a body without a reason', async (text) => {
    const answer = await journey.request('POST', `/api/v1/payments/${cancelled}/cancel`, text);
    expect(answer.status, answer.text).toBe(200);
  });
});
