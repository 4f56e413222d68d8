import { WorkflowNotFoundError } from '@temporalio/client';
import { describe, expect, it } from 'vitest';
import { eventId } from '../../../contract/ids.ts';
import { latePaymentWorkflowId } from '../../../temporal/start-options.ts';
import { forFile } from '../../support/for-file.ts';
import type { Answer } from '../../support/service/journey.ts';
import { useService } from '../../support/service/service.ts';
import { skipTime } from '../../support/service/skip-time.ts';
import { sweepNow } from '../../support/service/sweep-now.ts';
import { until } from '../../support/until.ts';

const service = await forFile(useService());
const { journey } = await service.anApplication();

const times = 2;
const create = (sandbox: object, fields: object = {}) =>
  journey.create({ order_id: 'played', sandbox, ...fields });
const createMany = (sandbox: object, fields: object = {}) =>
  Promise.all(Array.from({ length: times }, () => create(sandbox, fields)));
const statusOf = async (id: string) => (await journey.get(id)).json['status'];

/** The end of a payment as an application sees it. */
const endOf = async (id: string) => {
  const { json: payment } = await journey.get(id);
  const event = await until(`the event of ${id} is delivered`, async () => {
    const { json } = await journey.request('GET', `/api/v1/events/${eventId(id)}`);
    const { status } = (json['delivery'] ?? {}) as { status?: string };
    return status === 'delivered' && json;
  });
  const { status, failure_code, card_pan_masked } = payment;
  const attempts = (event['attempts'] as object[]).length;
  return { status, failure_code, card_pan_masked, event: event['event'], attempts };
};
/** Waits until all have ended, and returns their ends; all that are the same as one. */
const endsOf = async (ids: readonly string[]) => {
  await until('all have ended', async () => {
    const rows = await service.sql`
        select from payments where id = any(${ids}) and status in ('pending', 'processing')`;
    return rows.length === 0;
  });
  const ends = await Promise.all(ids.map(endOf));
  return [...new Set(ends.map((end) => JSON.stringify(end)))].map((end): unknown =>
    JSON.parse(end),
  );
};
const allEnd = (end: object) => [
  { card_pan_masked: null, failure_code: null, attempts: 1, ...end },
];
const card = '502229******1234';
const paid = { status: 'paid', event: 'payment.paid', card_pan_masked: card };
const failed = (failure_code: string) => ({
  status: 'failed',
  event: 'payment.failed',
  failure_code,
});

/** As if the payers had been sent to the gateway minutes ago, and the sweeper ran now. */
const sweepLater = async (ids: readonly string[]) => {
  await service.sql`
    update payments set checkout_at = now() - interval '3 minutes',
      inquired_at = inquired_at - interval '3 minutes'
    where id = any(${ids}) and checkout_at is not null`;
  await sweepNow(service.client);
};
const sent = (ids: readonly string[]) =>
  until('every payer is at the gateway', async () => {
    const rows = await service.sql`
      select from payments where id = any(${ids}) and checkout_at is not null`;
    return rows.length === ids.length;
  });

describe.concurrent('a payer who is played ends each of two payments in the same way', () => {
  it.each<[object, object]>([
    [{ outcome: 'paid' }, paid],
    [{ outcome: 'failed', failure_code: 'insufficient_funds' }, failed('insufficient_funds')],
    [{ outcome: 'failed' }, failed('card_declined')],
    [{ outcome: 'cancelled' }, { status: 'cancelled', event: 'payment.cancelled' }],
    [{ outcome: 'other_amount' }, failed('amount_mismatch')],
  ])('%j', async (plan, end) => {
    expect(await endsOf(await createMany(plan))).toEqual(allEnd(end));
  });

  it('paid, and the browser is closed: the sweeper finds the money', async () => {
    const ids = await createMany({ outcome: 'paid', returns: false });
    await sent(ids);
    await sweepLater(ids);
    expect(await endsOf(ids)).toEqual(allEnd(paid));
  });

  it('abandoned: expired at the deadline, or when the gateway lets it expire', async () => {
    const end = { status: 'expired', event: 'payment.expired' };
    const ids = await createMany({ outcome: 'abandoned' });
    await sent(ids);
    for (const id of ids) await skipTime(service.client, id, '14h');
    expect(await endsOf(ids)).toEqual(allEnd(end));

    const early = await createMany({ outcome: 'abandoned', after_seconds: 1 });
    await sent(early);
    await until('the gateway has let them expire', async () => {
      const rows = await service.sql`
        select from sandbox_payments where payment_id = any(${early}) and acts_at <= now()`;
      return rows.length === times;
    });
    await sweepLater(early);
    expect(await endsOf(early)).toEqual(allEnd(end));
  });

  it('paid_late: expired, and the money goes back', async () => {
    const ids = await createMany({ outcome: 'paid_late' }, { expires_in: 60 });
    await sent(ids);
    for (const id of ids) await skipTime(service.client, id, '2m');
    expect(await endsOf(ids)).toEqual(allEnd({ status: 'expired', event: 'payment.expired' }));
    // The engine's clock was ahead, and the searches wait until ours is there, too.
    // On a slow machine one has ended already.
    for (const id of ids)
      await skipTime(service.client, latePaymentWorkflowId(id), '2m').catch(() => {});
    const results = await until('every late payment is resolved', async () => {
      const rows = await service.sql<{ result: string }[]>`
        select result from late_payments where payment_id = any(${ids}) and result is not null`;
      return rows.length === times && rows;
    });
    expect(new Set(results.map(({ result }) => result))).toEqual(new Set(['returns']));
  });

  it('already_verified: processing, then paid', async () => {
    const ids = await createMany({ outcome: 'already_verified' });
    for (const id of ids)
      await until('it is processing', async () => (await statusOf(id)) === 'processing');
    await sweepLater(ids);
    expect(await endsOf(ids)).toEqual(allEnd(paid));
  });

  it('silent: processing while the gateway does not answer, then paid', async () => {
    const ids = await createMany({ outcome: 'silent', after_seconds: 600 });
    for (const id of ids)
      await until('it is processing', async () => (await statusOf(id)) === 'processing');
    await sweepLater(ids);
    expect(await statusOf(ids[0] ?? '')).toBe('processing');
    // As if the ten minutes had passed.
    await service.sql`
      update sandbox_payments set silent_until = now() where payment_id = any(${ids})`;
    await sweepLater(ids);
    expect(await endsOf(ids)).toEqual(allEnd(paid));
  });
});

describe('a dispute that is played', () => {
  const disputeOf = async (id: string) => {
    const { json } = await journey.request('GET', `/api/v1/payments/${id}/disputes`);
    const [found] = json['data'] as Record<string, unknown>[];
    return found && [found['stage'], found['status'], found['amount_held']].join(' ');
  };
  /** As if so many seconds had passed at the gateway, and the sweeper looked now. */
  const lookLater = async (id: string) => {
    await service.sql`update dispute_looks set due_at = now() where payment_id = ${id}`;
    await sweepNow(service.client);
  };

  it.each([
    ['dispute_won', 'chargeback needs_response 1250', 'chargeback won 0'],
    ['dispute_lost', 'chargeback needs_response 1250', 'chargeback lost 1250'],
    ['inquiry_closed', 'inquiry needs_response 0', 'inquiry closed 0'],
  ])('%s: the payment is paid, then disputed, and then it ends', async (outcome, open, ended) => {
    const id = await create({ outcome, after_seconds: 3_600 });
    expect(await endsOf([id])).toEqual(allEnd(paid));
    await lookLater(id);
    await until(open, async () => (await disputeOf(id)) === open);
    const [look] = await service.sql<{ minutes: number }[]>`
      select round(extract(epoch from due_at - now()) / 60)::int as minutes from dispute_looks
      where payment_id = ${id}`;
    expect(look).toEqual({ minutes: 60 });
    await service.sql`update sandbox_payments set dispute_seconds = 0 where payment_id = ${id}`;
    await lookLater(id);
    await until(ended, async () => (await disputeOf(id)) === ended);
    expect(await statusOf(id)).toBe('paid');
  });

  it('is heard of without a notification, and no other payment is looked at', async () => {
    const [id, other] = [
      await create({ outcome: 'dispute_won' }),
      await create({ outcome: 'paid' }),
    ];
    expect(await endsOf([id, other])).toEqual(allEnd(paid));
    await until('a sweep looks', async () => {
      await sweepNow(service.client);
      return (await disputeOf(id)) === 'chargeback won 0';
    });
    expect(await service.sql`select from dispute_looks where payment_id = ${other}`).toEqual([]);
  });
});

it('acts after its seconds, and not before', async () => {
  const id = await create({ outcome: 'paid', after_seconds: 2 });
  expect(await endsOf([id])).toEqual(allEnd(paid));
  const [row] = await service.sql<{ seconds: number }[]>`
    select extract(epoch from paid_at - created_at)::float8 as seconds from payments where id = ${id}`;
  expect(row?.seconds).toBeGreaterThanOrEqual(2);
  // Without its plan the sweeper would find it after two minutes.
  expect(row?.seconds).toBeLessThan(115);
});

it('is over when a person has paid before its time', async () => {
  const id = await create({ outcome: 'paid_late' }, { expires_in: 60 });
  await sent([id]);
  await journey.choose(id, 'pay');
  await journey.comeBack(id);
  expect(await endsOf([id])).toEqual(allEnd(paid));
  await service.client.workflow.getHandle(id).result();
  await expect(
    service.client.workflow.getHandle(latePaymentWorkflowId(id)).describe(),
  ).rejects.toThrow(WorkflowNotFoundError);
});

const problemsOf = ({ json }: Answer) =>
  (json['error'] as { details: { fields: unknown } }).details.fields;

it.each([
  [{}, 'sandbox.outcome', 'invalid_value'],
  [{ outcome: 'lost' }, 'sandbox.outcome', 'invalid_value'],
  [{ outcome: 'paid', failure_code: 'invalid_card' }, 'sandbox.failure_code', 'exclusive'],
  [{ outcome: 'failed', failure_code: 'lost' }, 'sandbox.failure_code', 'invalid_value'],
  [{ outcome: 'paid', after_seconds: 1_800 }, 'sandbox.after_seconds', 'too_big'],
  [{ outcome: 'paid_late', after_seconds: 3_601 }, 'sandbox.after_seconds', 'too_big'],
  [{ outcome: 'silent' }, 'sandbox.after_seconds', 'too_small'],
  [{ outcome: 'paid', returns: 'no' }, 'sandbox.returns', 'invalid_type'],
  [{ outcome: 'paid', amount: 1 }, 'sandbox.amount', 'unknown_field'],
  ['paid', 'sandbox', 'invalid_type'],
])('answers 422 to the plan %j', async (sandbox, path, rule) => {
  const answer = await journey.request('POST', '/api/v1/payments', {
    order_id: 'order-1',
    amount: 1250,
    currency: 'EUR',
    sandbox,
  });
  expect(answer.status, answer.text).toBe(422);
  expect(problemsOf(answer)).toContainEqual(expect.objectContaining({ path, rule }));
});

it('answers 422 where the gateway is not the built-in sandbox, in either mode', async () => {
  await service.sql`
    insert into gateways (slug, driver, kind) values ('plans-trial', 'zarinpal', 'sandbox'),
      ('plans-real', 'zarinpal', 'live')`;
  for (const slug of ['plans-trial', 'plans-real']) await service.allowGateway(slug);
  const live = (await service.anApplication({ mode: 'live' })).journey;
  const body = { order_id: 'o', amount: 10_000, currency: 'IRR', sandbox: { outcome: 'paid' } };
  for (const [by, gateway] of [
    [journey, 'plans-trial'],
    [live, 'plans-real'],
  ] as const) {
    const answer = await by.request('POST', '/api/v1/payments', { ...body, gateway });
    expect(answer.status, answer.text).toBe(422);
    expect(problemsOf(answer)).toMatchObject([{ path: 'sandbox', rule: 'sandbox_only' }]);
  }
});

it('is part of the request that an Idempotency-Key stands for, and is not shown to the payer', async () => {
  const createKeyed = (sandbox?: object) =>
    journey.request(
      'POST',
      '/api/v1/payments',
      { order_id: 'o', amount: 1250, currency: 'EUR', ...(sandbox && { sandbox }) },
      { 'idempotency-key': 'plan-1' },
    );
  const plan = { outcome: 'abandoned' };
  const one = await createKeyed(plan);
  expect((await createKeyed(plan)).text).toBe(one.text);
  expect((await createKeyed()).status).toBe(422);
  const rows = await service.sql`
    select from sandbox_payments s where not exists (select from payments p where p.id = s.payment_id)`;
  expect(rows).toHaveLength(0);
  expect(one.text).not.toContain('abandoned');
  const id = String(one.json['payment_id']);
  await sent([id]);
  expect((await journey.call('GET', `/api/v1/sandbox/${id}`)).text).not.toContain('abandoned');
});
