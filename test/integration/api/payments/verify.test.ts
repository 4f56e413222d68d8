import { describe, expect, it } from 'vitest';
import { useService } from '../../../support/service/service.ts';
import { forFile } from '../../../support/for-file.ts';

const service = await forFile(useService());

const aJourney = async () => (await service.anApplication()).journey;

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
});
