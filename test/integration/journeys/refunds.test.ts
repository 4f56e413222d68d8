import { describe, expect, it } from 'vitest';
import { createGateways } from '../../../postgres/gateways/gateways.ts';
import { createWorkflowCalls } from '../../../temporal/workflow-calls.ts';
import { createAdminRefunds } from '../../../postgres/admin/refunds.ts';
import { tokenIdOf } from '../../../postgres/applications/tokens.ts';
import { operationsOn } from '../../support/service/admin-operations.ts';
import { createSandboxRefunds } from '../../../postgres/sandbox/refunds.ts';
import { refusalOf } from '../../support/service/answers.ts';
import { createJourney, type Journey } from '../../support/service/journey.ts';
import { getRefund, newKey, refund, refundBecomes } from '../../support/service/refunds.ts';
import { useOwnApi } from '../../support/service/service.ts';
import { skipTime } from '../../support/service/skip-time.ts';
import { until } from '../../support/until.ts';
import { forFile } from '../../support/for-file.ts';

const service = await forFile(useOwnApi());
const books = createSandboxRefunds(service.sql);

/** An application whose receiver knows the events of refunds. */
const anApplication = async () => {
  const made = await service.anApplication();
  await service.sql`update applications set refund_events = true where slug = ${made.application}`;
  return { ...made, journey: createJourney(service, made.token) };
};
const paidPayment = async (journey: Journey): Promise<string> => {
  const id = await journey.finish('pay');
  await until(`${id} is paid`, async () => (await journey.get(id)).json['status'] === 'paid');
  return id;
};
const sumsOf = async (journey: Journey, id: string) => {
  const { json } = await journey.get(id);
  const { status, amount_refunded, amount_refund_pending, refundable } = json;
  return [status, amount_refunded, amount_refund_pending, refundable];
};
/** The sum that the sandbox itself has given back. */
const givenBack = async (paymentId: string) => {
  const [row] = await service.sql<{ reference: string }[]>`
    select reference from sandbox_payments where payment_id = ${paymentId}`;
  const found = await books.list(row?.reference ?? '');
  return found
    .filter(({ state }) => state !== 'failed')
    .reduce((sum, { amount }) => sum + amount, 0);
};
const eventsOf = async (journey: Journey, paymentId: string) => {
  const { json } = await journey.request('GET', `/api/v1/events?payment_id=${paymentId}&order=asc`);
  const data = json['data'] as { event: string; delivery: { status: string } }[];
  return data.map(({ event, delivery }) => `${event} ${delivery.status}`);
};
const eventsBecome = (journey: Journey, paymentId: string, events: string[]) =>
  until(`the events of ${paymentId} are ${events.join()}`, async () => {
    const found = await eventsOf(journey, paymentId);
    return JSON.stringify(found) === JSON.stringify(['payment.paid delivered', ...events]);
  });

describe('a refund', () => {
  it('gives everything back, and tells the application with a signed event', async () => {
    const { journey, token } = await anApplication();
    const id = await paidPayment(journey);
    const created = await refund(journey, id, { reference: 'return-1' });
    expect(created.status, created.text).toBe(201);
    expect(created.json).toMatchObject({
      payment_id: id,
      status: 'pending',
      stage: 'reserved',
      amount: 1250,
      requested_by: 'application',
    });
    const refundId = String(created.json['refund_id']);
    expect(created.headers.get('location')).toMatch(new RegExp(`/api/v1/refunds/${refundId}$`));
    const ended = await refundBecomes(journey, refundId, 'succeeded');
    expect(ended).toMatchObject({ stage: null, failure_code: null, reference: 'return-1' });
    expect(await sumsOf(journey, id)).toEqual(['paid', 1250, 0, 0]);
    expect(await givenBack(id)).toBe(1250);
    await eventsBecome(journey, id, ['refund.succeeded delivered']);
    const bodies = service.receiver.of(id).map(({ body }) => JSON.parse(body.toString()) as object);
    expect(bodies.find((body) => 'refund_id' in body)).toMatchObject({
      event: 'refund.succeeded',
      refund_id: refundId,
      sequence: 2,
      status: 'succeeded',
      amount: 1250,
      payment_amount: 1250,
      amount_refunded: 1250,
    });
    const shown = await operationsOn(service.sql).refunds.get(refundId);
    expect(shown).toMatchObject({ token: tokenIdOf(token), askedBy: null });
    // The event can be delivered before the workflow that began its delivery ends.
    await service.client.workflow.getHandle(refundId).result();
  });

  it('sends no event to an application whose events of refunds are off', async () => {
    const { journey } = await service.anApplication();
    const id = await paidPayment(journey);
    const { json } = await refund(journey, id);
    await refundBecomes(journey, String(json['refund_id']), 'succeeded');
    expect(await eventsOf(journey, id)).toHaveLength(1);
  });

  it('is made once for a key, whatever has become of it since', async () => {
    const { journey } = await anApplication();
    const id = await paidPayment(journey);
    const key = newKey();
    const [first, second] = await Promise.all([
      refund(journey, id, { amount: 100 }, key),
      refund(journey, id, { amount: 100 }, key),
    ]);
    await refundBecomes(journey, String(first.json['refund_id']), 'succeeded');
    const third = await refund(journey, id, { amount: 100 }, key);
    expect([second.text, third.text]).toEqual([first.text, first.text]);
    expect(third.headers.get('idempotent-replayed')).toBe('true');
    expect(await sumsOf(journey, id)).toEqual(['paid', 100, 0, 1150]);
    for (const [payment, body] of [
      [id, { amount: 101 }],
      [await paidPayment(journey), { amount: 100 }],
    ] as const)
      expect(refusalOf(await refund(journey, payment, body, key))).toEqual([
        422,
        'IDEMPOTENCY_KEY_REUSED',
      ]);
    // Equal parts with keys of their own are several refunds.
    await refund(journey, id, { amount: 100 });
    await until('both went back', async () => (await givenBack(id)) === 200);
  });

  it('is made once for a key that many send at once for everything that is left', async () => {
    const { journey } = await anApplication();
    const id = await paidPayment(journey);
    const key = newKey();
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => refund(journey, id, {}, key)),
    );
    expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
    expect(answers[0]?.status, answers[0]?.text).toBe(201);
  });

  it.each([
    ['answer_lost', 'succeeded', null],
    ['request_lost', 'succeeded', null],
    ['pending', 'succeeded', null],
    ['waiting_for_balance', 'succeeded', null],
    ['failed', 'failed', 'gateway_refused'],
    ['refused', 'failed', 'insufficient_balance'],
    ['whole_only', 'failed', 'not_refundable'],
  ])('ends as the sandbox is asked to play it: %s', async (outcome, status, failureCode) => {
    const { journey } = await anApplication();
    const id = await paidPayment(journey);
    const { json } = await refund(journey, id, { amount: 500, sandbox: { outcome } });
    const refundId = String(json['refund_id']);
    if (outcome.endsWith('_lost')) {
      await until('the gateway was told', async () => {
        const found = await getRefund(journey, refundId);
        return found.json['stage'] === 'sent';
      });
      await skipTime(service.client, refundId, '2m');
    }
    const ended = await refundBecomes(journey, refundId, status);
    expect(ended['failure_code']).toBe(failureCode);
    const given = status === 'succeeded' ? 500 : 0;
    expect(await sumsOf(journey, id)).toEqual(['paid', given, 0, 1250 - given]);
    expect(await givenBack(id)).toBe(given);
    await eventsBecome(journey, id, [`refund.${status} delivered`]);
  });

  it('fails by itself after it succeeded by a plan that returns the money', async () => {
    const { journey } = await anApplication();
    const id = await paidPayment(journey);
    const sandbox = { outcome: 'returned', after_seconds: 2 };
    const { json } = await refund(journey, id, { amount: 500, sandbox });
    const failed = await refundBecomes(journey, String(json['refund_id']), 'failed');
    expect(failed).toMatchObject({ failure_code: 'returned_by_bank' });
    expect(failed['succeeded_at']).not.toBeNull();
    await eventsBecome(journey, id, ['refund.succeeded delivered', 'refund.failed delivered']);
  });
});

describe('POST /api/v1/payments/{payment_id}/refunds', () => {
  it('reserves one of 50 refunds of 60 % that come at once through three processes', async () => {
    const { journey, token, application } = await anApplication();
    const id = await paidPayment(journey);
    const journeys = [
      journey,
      createJourney(await service.anotherApi(), token),
      createJourney(await service.anotherApi(), token),
    ];
    const [row] = await service.sql<{ reference: string }[]>`
      select reference from sandbox_payments where payment_id = ${id}`;
    const [answers] = await Promise.all([
      Promise.all(
        Array.from({ length: 50 }, (_, n) =>
          refund(journeys[n % 3] ?? journey, id, { amount: 750 }),
        ),
      ),
      books.makeAtDashboard(row?.reference ?? '', 500),
    ]);
    const made = answers.filter(({ status }) => status === 201);
    expect(made).toHaveLength(1);
    const refused = answers.filter(({ status }) => status !== 201);
    expect(new Set(refused.map((answer) => refusalOf(answer).join(' ')))).toEqual(
      new Set(['422 REFUND_EXCEEDS_PAYMENT']),
    );
    const error = refused[0]?.json['error'] as { details?: object } | undefined;
    expect(error?.details).toMatchObject({ amount: 1250 });
    await refundBecomes(journey, String(made[0]?.json['refund_id']), 'succeeded');
    expect(await givenBack(id)).toBe(1250);
    // The one of the dashboard may have come after the gateway was asked.
    const start = {
      refundId: String(made[0]?.json['refund_id']),
      id,
      application,
      orderId: 'order-1',
    };
    await createWorkflowCalls(service.client).recheck(start);
    await until('both are recorded', async () => {
      const sums = await sumsOf(journey, id);
      return sums.join() === 'paid,1250,0,0';
    });
  });

  it('makes one of 20 refunds of the rest that come at once, and says to the others that nothing is left', async () => {
    const { journey } = await anApplication();
    const id = await paidPayment(journey);
    expect((await refund(journey, id, { amount: 250 })).status).toBe(201);
    const answers = await Promise.all(Array.from({ length: 20 }, () => refund(journey, id)));
    const made = answers.filter(({ status }) => status === 201);
    expect(made.map(({ json }) => json['amount'])).toEqual([1000]);
    for (const answer of answers.filter(({ status }) => status !== 201))
      expect(answer.json['error'], answer.text).toMatchObject({
        code: 'REFUND_EXCEEDS_PAYMENT',
        details: { amount: 1250, refundable: 0 },
      });
    await refundBecomes(journey, String(made[0]?.json['refund_id']), 'succeeded');
    for (const body of [{}, { amount: 1 }, { refundable_amount: 1250 }]) {
      const later = await refund(journey, id, body);
      expect(refusalOf(later)).toEqual([422, 'REFUND_EXCEEDS_PAYMENT']);
      expect(later.json['error']).toMatchObject({
        details: {
          amount: 1250,
          amount_refunded: 1250,
          amount_refund_pending: 0,
          amount_disputed: 0,
          refundable: 0,
        },
      });
    }
  });

  it('refuses what cannot be refunded, with the reason', async () => {
    const { journey } = await anApplication();
    const paid = await paidPayment(journey);
    const open = await journey.create();
    const cases: [object, string, number, string][] = [
      [{}, open, 422, 'PAYMENT_NOT_REFUNDABLE'],
      [{}, 'PAY_01K9Z5W6X7Y8ZABCDEFGHJKMNP', 404, 'PAYMENT_NOT_FOUND'],
      [{ amount: 1251 }, paid, 422, 'REFUND_EXCEEDS_PAYMENT'],
      [{ amount: 0 }, paid, 422, 'VALIDATION_FAILED'],
      [{ amount: -1 }, paid, 422, 'VALIDATION_FAILED'],
      [{ amount: null }, paid, 422, 'VALIDATION_FAILED'],
      [{ amount: 5, refundable_amount: null }, paid, 422, 'VALIDATION_FAILED'],
      [{ amount: 5, unknown: 1 }, paid, 422, 'VALIDATION_FAILED'],
      [{ amount: 5, refundable_amount: 1249 }, paid, 409, 'REFUNDABLE_AMOUNT_CHANGED'],
    ];
    for (const [body, id, status, code] of cases)
      expect(refusalOf(await refund(journey, id, body)), code).toEqual([status, code]);
    const without = await journey.request('POST', `/api/v1/payments/${paid}/refunds`, {});
    expect(refusalOf(without)).toEqual([400, 'IDEMPOTENCY_KEY_REQUIRED']);
    expect(await sumsOf(journey, paid)).toEqual(['paid', 0, 0, 1250]);
  });

  it('refuses what the gateway or the account cannot do, and a second one where it takes one at a time', async () => {
    const { journey } = await anApplication();
    const id = await paidPayment(journey);
    const accounts = createGateways(service.sql);
    await accounts.insert({
      slug: 'one-by-one',
      driver: 'zibal',
      kind: 'sandbox',
      credentials: null,
    });
    await service.sql.begin(async (tx) => {
      // Triggers keep the gateway of a payment.
      await tx`set local session_replication_role = replica`;
      await tx`update payments set gateway = 'one-by-one' where id = ${id}`;
    });
    const wanted = { amount: 100 };
    const without = await refund(journey, id, wanted);
    expect(refusalOf(without)).toEqual([422, 'REFUND_NOT_SUPPORTED']);
    await service.sql`update gateways set refund_credentials = 'sealed' where slug = 'one-by-one'`;
    await service.sql`update payments set amount_refund_pending = 100 where id = ${id}`;
    const second = await refund(journey, id, wanted);
    expect(refusalOf(second)).toEqual([409, 'REFUND_IN_PROGRESS']);
    expect(second.json['error']).toMatchObject({
      details: { amount_refunded: 0, amount_refund_pending: 100, refundable: 1150 },
    });
  });

  it('refuses more than an application may refund in a day', async () => {
    const { journey, application } = await anApplication();
    const { setLimit } = createAdminRefunds(service.sql);
    await setLimit(application, 'USD', 1_000);
    const id = await paidPayment(journey);
    const none = await refund(journey, id, { amount: 1 });
    expect(refusalOf(none)).toEqual([403, 'REFUND_NOT_ALLOWED']);
    expect(none.json['error']).toMatchObject({ details: { limit: 0, used: 0 } });
    expect(none.text).toContain('none in EUR');
    await setLimit(application, 'EUR', 1_000);
    expect((await refund(journey, id, { amount: 600 })).status).toBe(201);
    const over = await refund(journey, id, { amount: 401 });
    expect(refusalOf(over)).toEqual([403, 'REFUND_NOT_ALLOWED']);
    expect(over.json['error']).toMatchObject({ details: { limit: 1_000, used: 600 } });
    // A repeat gets the refund itself, although that has used the limit up.
    const [key, wanted] = [newKey(), { amount: 400 }];
    const same = Array.from({ length: 5 }, () => refund(journey, id, wanted, key));
    const statuses = (await Promise.all(same)).map(({ status }) => status);
    expect(statuses).toEqual(Array(5).fill(201));
  });

  it('lists them to their own application alone', async () => {
    const [{ journey }, other] = [await anApplication(), await anApplication()];
    await refund(journey, await paidPayment(journey));
    expect((await other.journey.request('GET', '/api/v1/refunds')).json['data']).toEqual([]);
  });
});

describe('POST /api/v1/refunds/{refund_id}/cancel', () => {
  it('does not call off what the gateway was told', async () => {
    const { journey } = await anApplication();
    const id = await paidPayment(journey);
    const { json } = await refund(journey, id, { amount: 500 });
    const refundId = String(json['refund_id']);
    await refundBecomes(journey, refundId, 'succeeded');
    const cancel = await journey.request('POST', `/api/v1/refunds/${refundId}/cancel`);
    expect(refusalOf(cancel)).toEqual([409, 'REFUND_NOT_CANCELLABLE']);
    expect(await givenBack(id)).toBe(500);
  });

  it('ends a refund whose workflow was never started', async () => {
    const { journey } = await anApplication();
    const id = await paidPayment(journey);
    const { json } = await refund(journey, id, { amount: 500, sandbox: { outcome: 'pending' } });
    await refundBecomes(journey, String(json['refund_id']), 'succeeded');
    // As the API writes it just before it dies.
    const refundId = String(json['refund_id']).replace(/.$/, (last) => (last === 'X' ? 'Y' : 'X'));
    await service.sql`
      insert into refunds (id, payment_id, application, test, order_id, status, stage, amount, currency, method,
        requested_by, metadata, created_at, updated_at, due_at)
      select ${refundId}, payment_id, application, test, order_id, 'pending', 'reserved', 250, currency, method,
        requested_by, metadata, now(), now(), now() from refunds where id = ${String(json['refund_id'])}`;
    const answer = await journey.request('POST', `/api/v1/refunds/${refundId}/cancel`);
    expect(answer.status, answer.text).toBe(200);
    expect(answer.json).toMatchObject({ status: 'failed', failure_code: 'cancelled' });
    expect(await sumsOf(journey, id)).toEqual(['paid', 500, 0, 750]);
  });
});
