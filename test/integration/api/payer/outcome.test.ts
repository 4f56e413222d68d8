import { expect, it } from 'vitest';
import { forFile } from '../../../support/for-file.ts';
import { elementTexts, expectPage } from '../../../support/service/payer-page.ts';
import { useService } from '../../../support/service/service.ts';

const service = await forFile(useService());
const { journey } = await service.anApplication();

const outcomeOf = async (id: string) => {
  const answer = await journey.call('GET', `/api/v1/payments/${id}/outcome`);
  expect(answer.status).toBe(200);
  expectPage(answer);
  const [, address = ''] = /<a class="button" href="([^"]*)"/.exec(answer.text) ?? [];
  return {
    texts: elementTexts(answer.text, 'p'),
    address: address.replaceAll('&amp;', '&'),
    answer,
  };
};

it('tells a payer of suspected fraud of a declined card, and the application the code', async () => {
  const id = await journey.finish('refuse', { failure_code: 'suspected_fraud' });
  const { json } = await journey.get(id);
  const reason = 'The card issuer declined the payment.';
  expect(json).toMatchObject({
    failure_code: 'suspected_fraud',
    failure_reason: reason,
    next_step: 'call_bank',
  });
  const { texts, address, answer } = await outcomeOf(id);
  expect(texts).toContain(reason);
  expect(answer.text).not.toMatch(/fraud|security/i);
  expect(address).toContain(`payment_id=${id}&order_id=order-1&status=failed`);
});

it('asks nobody to pay again for an order that another payment has paid', async () => {
  const id = await journey.finish('refuse', { failure_code: 'expired_card' });
  await journey.finish('pay');
  const { texts } = await outcomeOf(id);
  expect(texts.join(' ')).toContain('The order was paid by another payment');
  expect(texts.join(' ')).not.toContain('again');
});

it('leads a payer who can still pay to the gateway', async () => {
  const id = await journey.create();
  const { address } = await outcomeOf(id);
  expect(address).toBe(`${service.url}/api/v1/payments/${id}/checkout`);
});

it('says that money which came after the end is on its way, or that nobody knows', async () => {
  const id = await journey.finish('cancel');
  await service.sql`insert into late_payments (payment_id, found_at) values (${id}, now())`;
  expect((await outcomeOf(id)).texts.join(' ')).toContain('Your money is on its way back to you.');
  await service.sql`update late_payments set result = 'by_hand', resolved_at = now() where payment_id = ${id}`;
  expect((await outcomeOf(id)).texts.join(' ')).toContain('not certain yet where your money is');
});
