import { describe, expect, it } from 'vitest';
import { answered } from '../../../support/service/journey.ts';
import { useService } from '../../../support/service/service.ts';
import { forFile } from '../../../support/for-file.ts';

const service = await forFile(useService());

const { journey } = await service.anApplication();

describe('POST /api/v1/payments/{payment_id}/verify', () => {
  it('returns the payment as pending until the payer has paid', async () => {
    const id = await journey.create();
    const recorded = await journey.verify(id);
    expect(recorded).toMatchObject({ status: 200, json: { status: 'pending' } });
    expect(recorded.text).toBe((await journey.get(id)).text);
    await answered(() => journey.checkout(id));
    expect(await journey.verify(id)).toMatchObject({ status: 200, json: { status: 'pending' } });
  });

  it('returns paid, now and later, if the payer paid and closed the browser', async () => {
    // Another payment: requests within three seconds share one question to the gateway.
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
    const id = await journey.atGateway();
    await journey.choose(id, 'pay_and_close');
    await service.client.workflow.getHandle(id).terminate('a test');
    expect(await journey.verify(id)).toMatchObject({ status: 200, json: { status: 'paid' } });
  });
});
