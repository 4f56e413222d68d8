import { describe, expect, it } from 'vitest';
import { checkAll } from '../../../chaos/checks.ts';
import type { ShownPayment } from '../../../chaos/service-records.ts';
import { aRun, endedAs, type Run } from '../../support/chaos/a-run.ts';

describe('an order with several payments', () => {
  /** Another payment of the order, with what the API shows of it. */
  const withAnother = (
    { evidence, payment, shown }: Run,
    { refunded = 0, ...inApi }: Partial<ShownPayment> & { refunded?: number } = {},
  ) => {
    const id = 'PAY_2';
    evidence.payments.push({ ...payment, id, order: 'order-1.2' });
    evidence.records.shown.set(id, { ...shown, payment_id: id, ...inApi });
    evidence.records.sums.set(id, { refunded, pending: 0 });
  };
  const ofTheOrder = ({ find }: Run) => find().filter((text) => /order|refused/.test(text));
  const twice = '2 of its payments are paid and not given back';

  it.each([
    [true, { refunded: 0 }],
    [true, { refunded: 49_999 }],
    [false, { refunded: 50_000 }],
    [false, endedAs('expired')],
  ])('is paid twice: %s, by another payment that is %j', async (isFound, inApi) => {
    const run = await aRun();
    withAnother(run, inApi);
    expect(run.find().includes(twice)).toBe(isFound);
  });

  it.each(['zarinpal', 'stripe'])('loses at %s only if another one is paid', async (slug) => {
    const run = await aRun(slug, {}, endedAs('failed', 'order_already_paid'));
    run.payment.refund = undefined;
    run.entry.verified = 0;
    const alone = 'it lost its order, and no other payment has paid that';
    expect(ofTheOrder(run)).toEqual([alone]);
    withAnother(run, { status: 'expired' });
    expect(ofTheOrder(run)).toContain(alone);
    withAnother(run, { status: 'paid', failure_code: null });
    expect(ofTheOrder(run)).not.toContain(alone);
  });

  it('has the money of the second returned, and the search for it recorded', async () => {
    const run = await aRun('stripe', {}, endedAs('failed', 'order_already_paid'));
    withAnother(run, { status: 'paid', failure_code: null });
    run.entry.reversed = 0;
    expect(run.find()).toContainEqual(expect.stringMatching(/^the payer's money is not back/));
    run.entry.reversed = 1;
    expect(run.find()).toContain('its late payment is recorded as nothing, and must be reversed');
    run.evidence.records.latePayments.set(run.id, 'reversed');
    expect(run.find().filter((text) => /late payment|money is not back/.test(text))).toEqual([]);
  });

  it('must not have verified the second', async () => {
    const run = await aRun('zarinpal', {}, endedAs('failed', 'order_already_paid'));
    withAnother(run, { status: 'paid', failure_code: null });
    expect(run.find()).toContainEqual(expect.stringMatching(/^the payer's money is not back/));
  });

  it('refuses a create only if the named payment has paid it', async () => {
    const run = await aRun();
    const refuse = (paidBy: string) => {
      const { payment, evidence } = run;
      const refused = [{ ...payment, order: 'order-1.2', paidBy }];
      return checkAll({ ...evidence, refused }).map(({ text }) => text);
    };
    expect(refuse(run.id)).toEqual([]);
    expect(refuse('PAY_9')).toEqual([
      'it was refused because of PAY_9, which has not paid its order',
    ]);
    run.shown.status = 'expired';
    expect(refuse(run.id)).toContain(
      `it was refused because of ${run.id}, which has not paid its order`,
    );
  });
});
