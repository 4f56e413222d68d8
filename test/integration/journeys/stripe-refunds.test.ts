import { expect, it } from 'vitest';
import { refund, refundBecomes } from '../../support/service/refunds.ts';
import { useService } from '../../support/service/service.ts';
import { addStripe } from '../../support/service/stripe-account.ts';
import { until } from '../../support/until.ts';
import { forFile } from '../../support/for-file.ts';

const service = await forFile(useService());
const gateway = 'stripe-that-refunds';
const stripe = await forFile(addStripe(service, gateway));
const { journey } = await service.anApplication();

const paidPayment = () => stripe.paid(journey);
const notify = (object: object, type: string) => stripe.tell(journey, type, object);
const sumsOf = async (id: string) => {
  const { json } = await journey.get(id);
  return [json['status'], json['amount_refunded'], json['amount_refund_pending']];
};

it('refunds at Stripe, and follows what becomes of it', async () => {
  const { id } = await paidPayment();
  stripe.refundsAre('pending');
  const { json } = await refund(journey, id, { amount: 500 });
  const refundId = String(json['refund_id']);
  const made = await until('the refund', () =>
    stripe.refunds.find((entry) => entry.refundId === refundId),
  );
  await until('it is accepted', async () => {
    const found = await journey.request('GET', `/api/v1/refunds/${refundId}`);
    return found.json['stage'] === 'accepted';
  });
  expect(await sumsOf(id)).toEqual(['paid', 0, 500]);
  made.state = 'succeeded';
  await notify(stripe.shown(made), 'refund.updated');
  await refundBecomes(journey, refundId, 'succeeded');
  // The bank sends the money back.
  Object.assign(made, { state: 'failed', reason: 'expired_or_canceled_card' });
  await notify(stripe.shown(made), 'refund.failed');
  const failed = await refundBecomes(journey, refundId, 'failed');
  expect(failed['failure_code']).toBe('returned_by_bank');
  expect(await sumsOf(id)).toEqual(['paid', 0, 0]);
  stripe.refundsAre();
});

it('learns from a notification what its own lost answer would have said', async () => {
  const { id } = await paidPayment();
  stripe.fail('lost', /^\/v1\/refunds$/);
  const { json } = await refund(journey, id, { amount: 500 });
  const refundId = String(json['refund_id']);
  const ours = () => stripe.refunds.filter((entry) => entry.refundId === refundId);
  const [made] = await until('the refund', () => ours().length > 0 && ours());
  // Long before the next try.
  await notify(stripe.shown(made!), 'refund.created');
  await refundBecomes(journey, refundId, 'succeeded');
  expect(ours()).toHaveLength(1);
  expect(await sumsOf(id)).toEqual(['paid', 500, 0]);
});

it('records a refund that was made in the dashboard', async () => {
  const { id, reference } = await paidPayment();
  const made = stripe.shown(stripe.refundAtDashboard(reference, 300));
  await Promise.all([notify(made, 'refund.created'), notify(made, 'refund.updated')]);
  await until('it is recorded', async () => (await sumsOf(id)).join() === 'paid,300,0');
  const list = await journey.request('GET', `/api/v1/payments/${id}/refunds`);
  expect(list.json['data']).toMatchObject([{ requested_by: 'gateway', amount: 300 }]);
});
