import { describe, expect, it } from 'vitest';
import { startMollie } from '../../fakes/mollie.ts';
import { useService } from '../../support/service/service.ts';
import { skipAllTime } from '../../support/service/skip-time.ts';
import { sweepNow } from '../../support/service/sweep-now.ts';
import { until } from '../../support/until.ts';
import { forFile } from '../../support/for-file.ts';

const service = await forFile(useService());
const gateway = 'mollie-that-reports';
const mollie = await forFile(startMollie());
const credentials = { apiKey: 'test_0123456789abcdef', baseUrl: mollie.url };
await service.addGateway({ slug: gateway, driver: 'mollie', kind: 'sandbox', credentials });
const { journey } = await service.anApplication();

const sent = async () => {
  const id = await journey.atGateway({ gateway });
  const [reference = ''] = [...mollie.book].find(([, { paymentId }]) => paymentId === id) ?? [];
  return { id, reference };
};
/** As Mollie posts it: the id of the payment in a form, and no signature. */
const report = (reference: string, url = mollie.reportUrl(reference) ?? '') =>
  journey.call('POST', url, { body: new URLSearchParams({ id: reference }) });
const statusOf = async (id: string) => (await journey.get(id)).json['status'];
const ended = (id: string) => until('the webhook', () => service.receiver.of(id)[0]);
const countReads = (reference: string) =>
  mollie.calls.filter(({ method, path }) => method === 'GET' && path.endsWith(reference)).length;
/** A payment that a report has ended. */
const paid = async () => {
  const payment = await sent();
  mollie.pay(payment.reference);
  expect(await report(payment.reference)).toMatchObject({ status: 200 });
  await ended(payment.id);
  return payment;
};

describe('a report of Mollie', () => {
  it('has an address of its own for each payment, and is only a hint', async () => {
    const { id, reference } = await sent();
    const url = mollie.reportUrl(reference);
    expect(url).toMatch(new RegExp(`/api/v1/payments/${id}/reports/[\\w-]{20,}$`));
    expect(url).not.toBe(mollie.reportUrl((await sent()).reference));
    expect(await report(reference)).toMatchObject({ status: 200 });
    await until('Mollie is asked', () => countReads(reference) > 0);
    expect(await statusOf(id)).toBe('pending');
  });

  it('ends a payment that is paid at once, without a return of the payer', async () => {
    const { id, reference } = await paid();
    expect((await ended(id)).headers['x-service-event']).toBe('payment.paid');
    expect((await journey.get(id)).json).toMatchObject({
      ...{ status: 'paid', tracking_code: reference, amount: 1250, card_pan_masked: null },
    });
  });

  it('shows that the money is reserved, and ends the payment when it is captured', async () => {
    const { id, reference } = await sent();
    mollie.move(reference, 'authorized');
    await report(reference);
    await until('it is processing', async () => (await statusOf(id)) === 'processing');
    expect(service.receiver.of(id)).toEqual([]);
    mollie.move(reference, 'open');
    mollie.pay(reference);
    await report(reference);
    await ended(id);
    expect(await statusOf(id)).toBe('paid');
  });

  it('tells of a failure and of a payer who cancelled', async () => {
    const [declined, cancelled] = [await sent(), await sent()];
    mollie.failWith({ failureReason: 'insufficient_funds', failureMessage: 'No.' });
    mollie.move(declined.reference, 'failed');
    await report(declined.reference);
    await ended(declined.id);
    mollie.failWith(null);
    expect((await journey.get(declined.id)).json).toMatchObject({
      ...{ status: 'failed', failure_code: 'insufficient_funds' },
    });
    mollie.move(cancelled.reference, 'canceled');
    await report(cancelled.reference);
    await ended(cancelled.id);
    expect(await statusOf(cancelled.id)).toBe('cancelled');
  });

  it('leads to a chargeback, and to its reversal', async () => {
    const { id, reference } = await paid();
    const sums = async () => {
      const { json } = await journey.get(id);
      return [json['status'], json['amount_disputed'], json['refundable']].join();
    };
    const chargeback = mollie.chargeBack(reference, 1_000);
    expect(await report(reference)).toMatchObject({ status: 200 });
    await sweepNow(service.client);
    await until('it is held', async () => (await sums()) === 'paid,1000,250');
    const disputes = async () =>
      (await journey.request('GET', `/api/v1/payments/${id}/disputes`)).json['data'];
    expect(await disputes()).toMatchObject([
      { status: 'lost', amount: 1_000, amount_held: 1_000, reason: 'AC01', respond_by: null },
    ]);
    chargeback.reversedAt = new Date();
    await report(reference);
    await sweepNow(service.client);
    await until('it is free', async () => (await sums()) === 'paid,0,1250');
    expect(await disputes()).toMatchObject([{ status: 'won', amount_held: 0 }]);
  });

  it('leads to a refund that was made at the dashboard', async () => {
    const { id, reference } = await paid();
    mollie.refundAtDashboard(reference, 300);
    await report(reference);
    const { json } = await until('it is there', async () => {
      const payment = await journey.get(id);
      return payment.json['amount_refunded'] !== 0 && payment;
    });
    expect(json).toMatchObject({ status: 'paid', amount_refunded: 300, refundable: 950 });
  });

  it('that is forged is not found, and nobody asks Mollie', async () => {
    const [{ id, reference }, other] = [await sent(), await sent()];
    mollie.pay(reference);
    const reads = countReads(reference);
    const url = mollie.reportUrl(reference) ?? '';
    const theirs = (mollie.reportUrl(other.reference) ?? '').split('/').at(-1) ?? '';
    for (const forged of [
      url.replace(/[^/]+$/, theirs),
      url.slice(0, -1),
      `${url}x`,
      url.replace(id, 'PAY_unknown'),
    ])
      expect(await report(reference, forged), forged).toMatchObject({ status: 404 });
    expect(countReads(reference)).toBe(reads);
    expect(await statusOf(id)).toBe('pending');
  });
});

describe('a deadline at Mollie', () => {
  it('cancels the payment there, so that nobody can pay it', async () => {
    const { id, reference } = await sent();
    await skipAllTime(service.client, id);
    await ended(id);
    expect(await statusOf(id)).toBe('expired');
    expect(mollie.book.get(reference)).toMatchObject({ state: 'canceled' });
  });

  it('leaves a payment open that nobody can cancel, until Mollie ends it', async () => {
    const { id, reference } = await sent();
    mollie.fix(reference);
    await skipAllTime(service.client, id);
    const tries = () => mollie.calls.filter(({ method }) => method === 'DELETE');
    await until('it is tried', () => tries().some(({ path }) => path.endsWith(reference)));
    await until('it is open', async () => (await statusOf(id)) === 'processing');
    expect(service.receiver.of(id)).toEqual([]);
    mollie.move(reference, 'expired');
    await report(reference);
    await ended(id);
    expect(await statusOf(id)).toBe('expired');
  });

  it('gives money back that came after all', async () => {
    const { id, reference } = await sent();
    await journey.request('POST', `/api/v1/payments/${id}/cancel`);
    await ended(id);
    mollie.move(reference, 'open');
    mollie.pay(reference);
    await report(reference);
    await until('it is back', () => mollie.of(reference)[0]);
    expect(mollie.of(reference)).toMatchObject([{ amount: 1_250, state: 'refunded' }]);
    await until('it is recorded', async () => {
      const [late] = await service.sql`select result from late_payments where payment_id = ${id}`;
      return late?.['result'] === 'reversed';
    });
    expect(await statusOf(id)).toBe('cancelled');
  });
});
