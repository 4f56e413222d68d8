import { describe, expect, it } from 'vitest';
import type { Answer } from '../../../support/service/journey.ts';
import { createJourney } from '../../../support/service/journey.ts';
import { startService } from '../../../support/service/service.ts';
import { until } from '../../../support/until.ts';
import { forFile } from '../../../support/for-file.ts';

const service = await forFile(startService({ ownTemporal: true }));

const aJourney = async () => createJourney(service, (await service.anApplication()).token);
const codeOf = ({ json }: Answer) => (json['error'] as { code: string }).code;

describe('POST /api/v1/payments/{payment_id}/verify', () => {
  it('returns the recorded payment if the payer was not sent to the gateway', async () => {
    const journey = await aJourney();
    const id = await journey.create();
    const answer = await journey.verify(id);
    expect(answer).toMatchObject({ status: 200, json: { status: 'pending' } });
    expect(answer.text).toBe((await journey.get(id)).text);
  });

  it('returns the payment as pending while the payer has not paid', async () => {
    const journey = await aJourney();
    const id = await journey.atGateway();
    expect(await journey.verify(id)).toMatchObject({ status: 200, json: { status: 'pending' } });
  });

  it('returns paid, now and later, if the payer paid and closed the browser', async () => {
    const journey = await aJourney();
    const id = await journey.atGateway();
    await journey.choose(id, 'pay_and_close');
    const paid = await journey.verify(id);
    expect(paid).toMatchObject({ status: 200, json: { status: 'paid', checkout_url: null } });
    expect(paid.json['paid_at']).toMatch(/\+00:00$/);
    expect(paid.json['tracking_code']).toEqual(expect.any(String));
    expect((await journey.verify(id)).text).toBe(paid.text);
    expect((await journey.get(id)).text).toBe(paid.text);
  });

  it('returns paid although the workflow of the payment is lost', async () => {
    const journey = await aJourney();
    const id = await journey.atGateway();
    await journey.choose(id, 'pay_and_close');
    await service.client.workflow.getHandle(id).terminate('a test');
    expect(await journey.verify(id)).toMatchObject({ status: 200, json: { status: 'paid' } });
  });

  it('answers 404 for a payment of another application, and for an unknown one', async () => {
    const id = await (await aJourney()).create();
    const other = await aJourney();
    for (const unknown of [id, 'PAY_01J00000000000000000000000', 'x']) {
      const answer = await other.verify(unknown);
      expect([answer.status, codeOf(answer)]).toEqual([404, 'PAYMENT_NOT_FOUND']);
    }
  });

  it('answers 503 after 10 seconds if no worker answers; reads still work', async () => {
    const journey = await aJourney();
    const id = await journey.atGateway();
    await service.worker.stop();
    const startedAt = performance.now();
    const answer = await journey.verify(id);
    expect([answer.status, codeOf(answer)]).toEqual([503, 'SERVICE_UNAVAILABLE']);
    expect(answer.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
    expect(performance.now() - startedAt).toBeGreaterThan(8_000);
    expect(await journey.get(id)).toMatchObject({ status: 200 });
    expect(codeOf(answer)).toBe('SERVICE_UNAVAILABLE');
    await service.worker.start();
  });

  it('answers 503 while Temporal is down; creates, reads and lists work, and checkout shows a page', async () => {
    const journey = await aJourney();
    const id = await journey.atGateway();
    await service.engine.stop();
    const answer = await journey.verify(id);
    expect([answer.status, codeOf(answer)]).toEqual([503, 'SERVICE_UNAVAILABLE']);
    expect(answer.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
    const created = await journey.create();
    expect(await journey.get(created)).toMatchObject({ status: 200, json: { status: 'pending' } });
    const list = await journey.request('GET', '/api/v1/payments');
    expect(list).toMatchObject({ status: 200, json: { data: [{ payment_id: created }, {}] } });
    expect(await journey.request('GET', '/api/v1/me')).toMatchObject({ status: 200 });
    const checkout = await journey.checkout(created);
    expect(checkout.status).toBe(503);
    expect(checkout.text).toMatch(/^<!doctype html>/);
    expect(checkout.headers.get('refresh')).toBe('3');
    await service.engine.start();
    const isBack = async () => (await journey.verify(id)).status === 200;
    await until('verify works again', isBack);
  });
});
