import { describe, expect, it } from 'vitest';
import type { AttemptResult } from '../../../../contract/attempt.ts';
import { eventId } from '../../../../contract/ids.ts';
import { createDeliveries, type Consequence } from '../../../../postgres/webhooks/deliveries.ts';
import { holdLock } from '../../../support/data/hold-lock.ts';
import { minuteMs } from '../../../../contract/time.ts';
import { withOutcome, startRecords } from '../../../support/data/records.ts';
import { forFile } from '../../../support/for-file.ts';

const records = await forFile(startRecords());
const deliveries = createDeliveries(records.sql);

const at = (minutes: number) => new Date(Date.UTC(2030, 0, 1, 0, minutes));
const refused: AttemptResult = {
  durationMs: 12,
  responseStatus: 500,
  errorClass: 'http_status',
  error: 'The receiver answered 500',
  responseBody: 'no',
  responseTruncated: true,
};
const accepted: AttemptResult = { ...refused, responseStatus: 204, errorClass: null, error: null };
const exhausted: Consequence = { status: 'exhausted', run: 'the run' };
const replayStart = () => ({ from: ['exhausted'], trigger: 'admin', now: new Date() }) as const;
const retryAt = (minutes: number): Consequence => ({
  status: 'pending',
  nextAttemptAt: at(minutes),
});

const begin = (id: string, number: number, { round = 1, minutes = number } = {}) =>
  deliveries.beginAttempt(eventId(id), {
    number,
    round,
    scheduledAt: at(minutes),
    startedAt: at(minutes),
  });
const complete = (id: string, number: number, result: AttemptResult, consequence: Consequence) =>
  deliveries.completeAttempt(eventId(id), number, { result, consequence, completedAt: at(number) });

/** The delivery with its attempts. */
const getRows = (id: string) => records.sql`
  select to_jsonb(d) as delivery,
    (select json_agg(t order by t.number) from attempts t where t.event_id = d.event_id) as attempts
  from deliveries d where d.payment_id = ${id}`;

describe('deliveries.get', () => {
  it('returns the exact event body and the newest secrets first', async () => {
    await records.sql`
      insert into webhook_secrets (application, ciphertext, retires_at) values
        ('shop', 'gone', now() - interval '1 second'), ('quiet', 'foreign', null),
        ('shop', 'older', now() + interval '1 hour'), ('shop', 'newer', null)`;
    const payment = await records.ended('paid');
    expect(await deliveries.get(eventId(payment.id))).toMatchObject({
      status: 'pending',
      round: 1,
      exhaustedByRun: null,
      application: 'shop',
      webhookUrl: 'https://shop.example/webhooks',
      secrets: ['newer', 'older'],
      attempts: [],
      highestNumber: 0,
      event: { kind: 'payment.paid' },
    });
    const { body } = withOutcome(payment, 'paid', payment.updatedAt).event;
    const delivery = await deliveries.get(eventId(payment.id));
    expect(delivery?.event.body.toString()).toBe(body);
  });

  it('returns undefined for a payment that has not ended', async () => {
    expect(await deliveries.get(eventId((await records.sent()).id))).toBeUndefined();
  });
});

describe('an attempt', () => {
  it('is written before the POST, and completed after it together with the delivery', async () => {
    const { id } = await records.ended('failed');
    await begin(id, 1);
    expect(await deliveries.get(eventId(id))).toMatchObject({
      attempts: [{ number: 1, completed: false, durationMs: null, scheduledAt: at(1) }],
      highestNumber: 1,
    });
    await complete(id, 1, refused, retryAt(7));
    expect(await getRows(id)).toMatchObject([
      {
        delivery: {
          status: 'pending',
          next_attempt_at: '2030-01-01T00:07:00+00:00',
          error_class: 'http_status',
        },
        attempts: [
          {
            number: 1,
            round: 1,
            duration_ms: 12,
            completed_at: '2030-01-01T00:01:00+00:00',
            response_status: 500,
            error_class: 'http_status',
            error: refused.error,
            response_body: 'no',
            response_truncated: true,
          },
        ],
      },
    ]);
    await begin(id, 2);
    await complete(id, 2, accepted, { status: 'delivered' });
    expect(await getRows(id)).toMatchObject([
      {
        delivery: { status: 'delivered', next_attempt_at: null, error_class: null },
        attempts: [{}, { number: 2 }],
      },
    ]);
  });

  it('starts again under its number after an interruption', async () => {
    const { id } = await records.ended('failed');
    await begin(id, 1, { minutes: 1 });
    await begin(id, 1, { minutes: 9 });
    const delivery = await deliveries.get(eventId(id));
    const restarted = { number: 1, scheduledAt: at(9), startedAt: at(9) };
    expect(delivery?.attempts).toMatchObject([restarted]);
  });

  it('does not change once it is complete', async () => {
    const { id } = await records.ended('failed');
    await begin(id, 1);
    await complete(id, 1, refused, retryAt(7));
    const before = await getRows(id);
    await begin(id, 1, { minutes: 9 });
    await complete(id, 1, accepted, { status: 'delivered' });
    await complete(id, 1, refused, exhausted);
    await complete(id, 1, refused, retryAt(99));
    expect(await getRows(id)).toEqual(before);
  });

  it('does not change the attempts of another payment', async () => {
    const [one, other] = [await records.ended('failed'), await records.ended('failed')];
    for (const { id } of [one, other]) await begin(id, 1);
    const before = await getRows(other.id);
    expect(await complete(one.id, 1, accepted, { status: 'delivered' })).toBe(true);
    expect(await getRows(other.id)).toEqual(before);
  });

  it('is completed once when two results arrive at the same time', async () => {
    const { id } = await records.ended('failed');
    await begin(id, 1);
    const held = await holdLock(
      records.sql,
      (tx) => tx`select from attempts where event_id = ${eventId(id)} for update`,
    );
    const both = Promise.all([
      complete(id, 1, accepted, { status: 'delivered' }),
      complete(id, 1, refused, retryAt(7)),
    ]);
    await held.blocked('both', { count: 2 });
    await held.release();
    await both;
    const [row] = await getRows(id);
    const outcome = row?.['attempts'][0].response_status === 204 ? 'delivered' : 'pending';
    expect(row?.['delivery'].status).toBe(outcome);
  });

  it('is recorded without changing a delivery that is done', async () => {
    const { id } = await records.ended('failed');
    await begin(id, 1);
    await begin(id, 2);
    await complete(id, 1, accepted, { status: 'delivered' });
    await complete(id, 2, refused, exhausted);
    expect(await getRows(id)).toMatchObject([
      { delivery: { status: 'delivered', exhausted_by_run: null }, attempts: [{}, { number: 2 }] },
    ]);
    expect(await deliveries.get(eventId(id))).toMatchObject({
      attempts: [{}, { completed: true }],
    });
  });
});

describe('a round', () => {
  it('starts once when several admins replay an exhausted delivery at the same time', async () => {
    const { id } = await records.ended('failed');
    for (const number of [1, 2, 3, 4, 5, 6]) {
      await begin(id, number);
      await complete(id, number, refused, number === 6 ? exhausted : retryAt(number));
    }
    expect(await deliveries.get(eventId(id))).toMatchObject({
      status: 'exhausted',
      exhaustedByRun: 'the run',
    });
    const now = new Date(Date.now() + minuteMs);
    const results = await Promise.all(
      [1, 2, 3].map(() => deliveries.replay(eventId(id), { ...replayStart(), now })),
    );
    expect(results.filter(Boolean)).toHaveLength(1);
    // The new round has no attempts yet, and attempt numbers continue.
    expect(await deliveries.get(eventId(id))).toMatchObject({
      status: 'pending',
      round: 2,
      exhaustedByRun: null,
      attempts: [],
      highestNumber: 6,
    });
    await begin(id, 7, { round: 2 });
    const [row] = await records.sql`
      select trigger from attempts where event_id = ${eventId(id)} and number = 7`;
    expect(row?.['trigger']).toBe('admin');
  });

  it('does not start for a delivery that has another status than expected', async () => {
    const pending = await records.ended('paid');
    const delivered = await records.ended('paid');
    await begin(delivered.id, 1);
    await complete(delivered.id, 1, accepted, { status: 'delivered' });
    const none = await records.ended('paid', { application: 'quiet' });
    for (const { id } of [pending, delivered, none]) {
      const before = await getRows(id);
      expect(await deliveries.replay(eventId(id), replayStart())).toBeUndefined();
      expect(await getRows(id)).toEqual(before);
    }
  });
});

describe('the next attempt of a failing delivery', () => {
  const failing = async () => {
    const { id } = await records.ended('failed');
    await begin(id, 1);
    await complete(id, 1, refused, retryAt(1));
    return id;
  };
  const start = () => ({ ...replayStart(), from: ['pending'] as const });
  const replay = (id: string) => deliveries.replay(eventId(id), start());
  /** As if the last attempt had begun longer ago than repeated requests count as one. */
  const ageAttempts = (id: string) => records.sql`
    update attempts set started_at = now() - interval '11 seconds' where event_id = ${eventId(id)}`;

  it('is due at once when asked for, in the same round, until it is completed', async () => {
    const id = await failing();
    await ageAttempts(id);
    const results = await Promise.all([1, 2, 3].map(() => replay(id)));
    expect(results.filter(Boolean)).toMatchObject([{ id }]);
    // Another process may have a clock that is behind.
    const now = new Date(Date.now() - 1_000);
    expect(await deliveries.replay(eventId(id), { ...start(), now })).toBeUndefined();
    const [row] = await records.sql`
      select round, trigger, at_once as "atOnce", next_attempt_at <= now() as "isDue"
      from deliveries where payment_id = ${id}`;
    expect(row).toEqual({ round: 1, trigger: 'schedule', atOnce: true, isDue: true });
    await begin(id, 2);
    await complete(id, 2, refused, retryAt(2));
    expect(await deliveries.get(eventId(id))).toMatchObject({ atOnce: false, highestNumber: 2 });
  });

  it('stays as it is within ten seconds after an attempt, and while one is due', async () => {
    const id = await failing();
    expect(await replay(id)).toBeUndefined();
    const fresh = await records.ended('failed');
    expect(await replay(fresh.id)).toBeUndefined();
  });
});

it('a delivery has a due time exactly while it is pending', async () => {
  const { id } = await records.ended('paid');
  const violation = { constraint_name: 'deliveries__due' };
  await expect(
    records.sql`update deliveries set next_attempt_at = null where payment_id = ${id}`,
  ).rejects.toMatchObject(violation);
  await expect(
    records.sql`update deliveries set status = 'exhausted' where payment_id = ${id}`,
  ).rejects.toMatchObject(violation);
  const [row] = await records.sql`
    select convalidated as checked from pg_constraint where conname = 'deliveries__due'`;
  expect(row).toEqual({ checked: true });
});
