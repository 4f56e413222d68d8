import { expect, it } from 'vitest';
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

it('holds a chargeback against refunds until it is won', async () => {
  const id = await journey.atGateway({ gateway });
  const reference = stripe.referenceOf(id);
  stripe.pay(reference);
  await journey.verify(id);
  const dispute = stripe.dispute(reference, 'needs_response', { amount: 1000 });
  const notify = async (type: string) => {
    const body = JSON.stringify({
      id: 'evt_1',
      livemode: false,
      type: `charge.dispute.${type}`,
      data: { object: dispute },
    });
    const path = `/api/v1/gateways/${gateway}/notifications`;
    const answer = await journey.call('POST', path, { body, headers: signed(body) });
    expect(answer.status).toBe(200);
    await sweepNow(service.client);
  };
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
  const told = async () => {
    const { json } = await journey.request('GET', `/api/v1/payments/${id}/disputes`);
    return json['data'];
  };
  expect(await told()).toMatchObject([
    { payment_id: id, gateway, status: 'needs_response', amount: 1000, amount_held: 1000 },
  ]);
  dispute.status = 'won';
  await notify('closed');
  await until('it is free', async () => (await sums()) === 'paid,0,1250');
  expect(await told()).toMatchObject([{ payment_id: id, status: 'won', amount_held: 0 }]);
});
