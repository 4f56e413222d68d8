import { beforeEach, describe, expect, it } from 'vitest';
import { eventId, newPaymentId } from '../../../contract/ids.ts';
import { limits } from '../../../contract/limits.ts';
import { createReplays } from '../../../postgres/webhooks/replays.ts';
import { manyPayments, writeDeliveries } from '../../support/data/payments.ts';
import { refusalOf } from '../../support/service/answers.ts';
import { answered, type Journey } from '../../support/service/journey.ts';
import { startService } from '../../support/service/service.ts';
import { until } from '../../support/until.ts';
import { forFile } from '../../support/for-file.ts';

const service = await forFile(startService());
beforeEach(() => service.receiver.behave(() => 204));

const getEvent = async (journey: Journey, id: string) => {
  const { json } = await journey.request('GET', `/api/v1/events/${eventId(id)}`);
  return json as {
    delivery?: { status: string; round: number; attempts_left: number };
    attempts: { number: number; round: number; trigger: string }[];
  };
};
const becomes = (journey: Journey, id: string, status: string, round = 1) =>
  until(`${id} is ${status} in round ${round}`, async () => {
    const { delivery } = await getEvent(journey, id);
    return delivery?.status === status && delivery.round === round;
  });
const replay = (journey: Journey, id: string) =>
  answered(() => journey.request('POST', `/api/v1/events/${eventId(id)}/replay`));
const numbersOf = (id: string) =>
  service.receiver.of(id).map(({ headers }) => Number(headers['x-service-delivery-attempt']));
/** As if the round had begun longer ago than repeated requests count as one. */
const ageRound = (id: string) => service.sql`
  update deliveries set round_began_at = round_began_at - interval '11 seconds' where payment_id = ${id}`;

/** As if the round and its attempts had begun just now, however slow the machine was. */
const makeRoundNew = async (id: string) => {
  await service.sql`update deliveries set round_began_at = now() where payment_id = ${id}`;
  await service.sql`update attempts set started_at = now() where event_id = ${eventId(id)}`;
};

const deliveredPayment = async (journey: Journey) => {
  const id = await journey.finish('pay');
  await becomes(journey, id, 'delivered');
  return id;
};
/** Payments whose workflows Temporal has forgotten, each with an event of this status. */
const oldPayments = async (application: string, status: string, count = 1) => {
  const payments = manyPayments(count, () => ({ id: newPaymentId(), application }));
  await writeDeliveries(service.sql, payments, () => ({ status }));
  return payments.map(({ id = '' }) => id);
};

describe('POST /api/v1/events/{event_id}/replay', () => {
  it('delivers a delivered event again, each time that it is asked to', async () => {
    const { journey } = await service.anApplication();
    const id = await deliveredPayment(journey);
    for (const round of [2, 3, 4]) {
      const answer = await replay(journey, id);
      expect(answer.status, answer.text).toBe(202);
      expect(answer.json).toMatchObject({
        event_id: eventId(id),
        delivery: { status: 'pending', round, attempts_left: 6 },
        links: { replay: null },
      });
      await becomes(journey, id, 'delivered', round);
      await ageRound(id);
    }
    expect(numbersOf(id)).toEqual([1, 2, 3, 4]);
    expect(new Set(service.receiver.of(id).map(({ body }) => body.toString())).size).toBe(1);
    const { attempts } = await getEvent(journey, id);
    const { length } = attempts.filter(({ trigger }) => trigger === 'application');
    expect([attempts[0]?.trigger, length]).toEqual(['schedule', 3]);
    // The audit log is the admins'.
    const subject = `payment:${id}`;
    expect(await service.sql`select from audit_log where subject = ${subject}`).toEqual([]);
  });

  it.each(['exhausted', 'delivered'])(
    'begins one round when twenty ask at once for an event that is %s and whose history is gone',
    async (status) => {
      const { journey, application } = await service.anApplication();
      const [id = ''] = await oldPayments(application, status);
      const answers = await Promise.all(Array.from({ length: 20 }, () => replay(journey, id)));
      expect(answers.map((answer) => answer.status)).toEqual(Array<number>(20).fill(202));
      await becomes(journey, id, 'delivered', 2);
      await makeRoundNew(id);
      // One more, when all is over.
      expect((await replay(journey, id)).json['delivery']).toMatchObject({ round: 2 });
      expect(numbersOf(id)).toHaveLength(1);
    },
  );

  it('makes the next attempt of a failing event now, once when twenty ask at once', async () => {
    const { journey } = await service.anApplication();
    service.receiver.behave(() => 500);
    const id = await journey.finish('pay');
    const failed = (attempts: number) =>
      until(`${attempts} have failed`, async () => {
        const { delivery } = await getEvent(journey, id);
        return delivery?.attempts_left === 6 - attempts;
      });
    await failed(1);
    await makeRoundNew(id);
    expect((await replay(journey, id)).json['delivery']).toMatchObject({ attempts_left: 5 });
    await service.sql`
      update attempts set started_at = started_at - interval '11 seconds'
      where event_id = ${eventId(id)}`;
    const answers = await Promise.all(Array.from({ length: 20 }, () => replay(journey, id)));
    expect(answers.map(({ status }) => status)).toEqual(Array<number>(20).fill(202));
    for (const { json } of answers)
      expect(json['delivery']).toMatchObject({ status: 'pending', round: 1 });
    await failed(2);
    await makeRoundNew(id);
    const { json } = await replay(journey, id);
    expect(json['delivery']).toMatchObject({ round: 1, attempts_left: 4 });
    expect(json['links']).toMatchObject({ replay: expect.stringMatching(/\/replay$/) });
    expect(numbersOf(id)).toEqual([1, 2]);
    const { attempts } = await getEvent(journey, id);
    expect(attempts.map(({ round, trigger }) => [round, trigger])).toEqual([
      [1, 'schedule'],
      [1, 'schedule'],
    ]);
  });

  it('answers 409 for an event without a delivery, and without a webhook URL', async () => {
    const quiet = await service.anApplication({ webhookUrl: null });
    const none = await quiet.journey.finish('pay');
    await becomes(quiet.journey, none, 'none');
    expect(refusalOf(await replay(quiet.journey, none))).toEqual([409, 'REPLAY_NOT_POSSIBLE']);
    const { journey, application } = await service.anApplication();
    const id = await deliveredPayment(journey);
    await service.sql`update applications set webhook_url = null where slug = ${application}`;
    expect(refusalOf(await replay(journey, id))).toEqual([409, 'REPLAY_NOT_POSSIBLE']);
    const body = { from: '2020-01-01', to: '2020-01-02' };
    const many = await journey.request('POST', '/api/v1/replays', body);
    expect(refusalOf(many)).toEqual([409, 'REPLAY_NOT_POSSIBLE']);
  });
});

describe('POST /api/v1/replays', () => {
  const today = () => {
    const date = new Date().toISOString().slice(0, 10);
    return { from: date, to: date };
  };
  const start = (journey: Journey, fields: object = {}) =>
    journey.request('POST', '/api/v1/replays', { ...today(), ...fields });
  const get = (journey: Journey, id: unknown) =>
    journey.request('GET', `/api/v1/replays/${String(id)}`);
  const ended = (journey: Journey, id: unknown) =>
    until('the replay has ended', async () => {
      const { json } = await get(journey, id);
      return json['status'] !== 'running' && json;
    });

  it('counts, and replays the exhausted events of a time, oldest first', async () => {
    const { journey, application } = await service.anApplication();
    const exhausted: string[] = [];
    for (let one = 0; one < 4; one += 1)
      exhausted.push(...(await oldPayments(application, 'exhausted')));
    const [delivered = ''] = await oldPayments(application, 'delivered');
    const plan = await start(journey, { dry_run: true });
    expect([plan.status, plan.json]).toEqual([200, { matched: 4 }]);
    expect((await start(journey, { delivery: 'delivered', dry_run: true })).json).toEqual({
      matched: 1,
    });

    const created = await start(journey);
    expect(created.status, created.text).toBe(202);
    const id = created.json['replay_id'];
    expect(created.headers.get('location')).toBe(`${service.url}/api/v1/replays/${String(id)}`);
    expect(created.json).toMatchObject({ status: 'running', matched: 4, begun: 0 });
    expect(await ended(journey, id)).toMatchObject({ status: 'done', begun: 4, refused: 0 });
    for (const each of exhausted) await becomes(journey, each, 'delivered', 2);
    const results = await createReplays(service.sql).listResults(String(id), {
      after: 0,
      limit: 9,
    });
    expect(results.map(({ number, begun, paymentId }) => [number, begun, paymentId])).toEqual(
      exhausted.map((each, index) => [index + 1, true, each]),
    );
    expect(exhausted.map((each) => numbersOf(each).length)).toEqual([1, 1, 1, 1]);
    expect(numbersOf(delivered)).toEqual([]);
  });

  it('runs once at a time, stops when asked to, and survives the kill of its worker', async () => {
    const { journey, application } = await service.anApplication();
    const ids = await oldPayments(application, 'delivered', 300);
    const created = await start(journey, { delivery: 'delivered' });
    const id = created.json['replay_id'];
    const twin = await start(journey, { delivery: 'delivered' });
    expect(refusalOf(twin)).toEqual([409, 'REPLAY_NOT_POSSIBLE']);
    expect(twin.json).toMatchObject({ error: { details: { replay_id: id } } });
    const begun = (least: number) =>
      until(`${least} have begun`, async () => {
        const { json } = await get(journey, id);
        return Number(json['begun']) >= least && Number(json['begun']);
      });
    await begun(5);
    await service.worker.kill();
    const before = await begun(5);
    await service.worker.start();
    // The worker that begins it again knows where it was.
    await begun(before + 5);
    const stopped = await journey.request('POST', `/api/v1/replays/${String(id)}/stop`);
    expect(stopped.status).toBe(202);
    const result = await ended(journey, id);
    expect(result['status']).toBe('stopped');
    expect(Number(result['begun'])).toBeLessThan(ids.length);
    const rounds = await service.sql<{ round: number; count: number }[]>`
      select round, count(*)::int from deliveries
      where application = ${application} group by round order by round`;
    expect(rounds.map(({ round }) => round)).toEqual([1, 2]);
    // The kill may have come between a round and its count.
    const uncounted = rounds[1]!.count - Number(result['begun']);
    expect([0, 1]).toContain(uncounted);
  });

  it('shares the pace of the worker with those of all applications, and payments go on', async () => {
    const replayers = await Promise.all(Array.from({ length: 10 }, () => service.anApplication()));
    const ids: string[] = [];
    for (const { application } of replayers)
      ids.push(...(await oldPayments(application, 'exhausted', 4)));
    const { journey } = await service.anApplication();
    const started = await Promise.all(replayers.map((each) => start(each.journey)));
    await deliveredPayment(journey);
    for (const [index, { json }] of started.entries())
      expect(await ended(replayers[index]!.journey, json['replay_id'])).toMatchObject({ begun: 4 });
    const [row] = await service.sql<{ seconds: number }[]>`
      select extract(epoch from max(round_began_at) - min(round_began_at))::float8 as seconds
      from deliveries where payment_id = any(${ids})`;
    expect(row?.seconds).toBeGreaterThan((ids.length - 1) / limits.workerReplaysPerSecond - 0.1);
  });

  it.each([
    [{ to: '2020-01-01' }, 'to', 'too_small'],
    [{ from: '2020-01-01' }, 'to', 'too_big'],
    [{ from: 'yesterday' }, 'from', 'time'],
    [{ from: 5 }, 'from', 'invalid_type'],
    [{ delivery: 'pending' }, 'delivery', 'invalid_value'],
    [{ dry_run: 'yes' }, 'dry_run', 'invalid_type'],
    [{ rate: 100 }, 'rate', 'unknown_field'],
  ])('answers 422 to %j', async (fields, path, rule) => {
    const { journey } = await service.anApplication();
    const answer = await start(journey, fields);
    expect(answer.status, answer.text).toBe(422);
    const { details } = answer.json['error'] as { details: { fields: unknown } };
    expect(details.fields).toMatchObject([{ path, rule }]);
  });
});
