import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { eventId } from '../../../../contract/ids.ts';
import { listed, paginationOf, problemsOf, refusalOf } from '../../../support/service/answers.ts';
import { waitForFirstAttempt } from '../../../support/service/first-attempt.ts';
import type { Answer, Journey } from '../../../support/service/journey.ts';
import { useService } from '../../../support/service/service.ts';
import { until } from '../../../support/until.ts';
import { forFile } from '../../../support/for-file.ts';

const service = await forFile(useService());
const { journey, secret } = await service.anApplication();

const getEvent = (paymentId: string, by = journey) =>
  by.request('GET', `/api/v1/events/${eventId(paymentId)}`);
const list = (query: string, by = journey) => by.request('GET', `/api/v1/events${query}`);
const idsOf = (answer: Answer) => listed(answer, 'payment_id').map(String);
const delivered = (paymentId: string, by = journey) =>
  until('the event is delivered', async () => {
    const { json } = await getEvent(paymentId, by);
    const { status } = (json['delivery'] ?? {}) as { status?: string };
    return status === 'delivered' && json;
  });

describe('GET /api/v1/events/{event_id}', () => {
  it('shows the payload byte for byte, so that the signature of its webhook verifies', async () => {
    // Number literals and the order of keys would not survive parsing.
    const body =
      '{"order_id":"bytes","amount":1250,"currency":"EUR","metadata":{"z":1.50,"a":1e3,"\\u00e9":"é"}}';
    const created = await journey.request('POST', '/api/v1/payments', body);
    const id = String(created.json['payment_id']);
    await journey.checkout(id);
    await journey.choose(id, 'pay');
    await journey.comeBack(id);
    await delivered(id);

    const { text } = await getEvent(id);
    const [, payload = ''] = /"payload":(.*),"attempts":\[/.exec(text) ?? [];
    const [webhook] = service.receiver.of(id);
    expect(payload).toBe(webhook?.body.toString());
    expect(payload).toContain('"metadata":{"z":1.50,"a":1e3,');
    const signature = String(webhook?.headers['x-service-signature']);
    const [, t = '', v1 = ''] = /^t=(\d+),v1=([0-9a-f]+)$/.exec(signature) ?? [];
    const digest = createHmac('sha256', secret).update(`${t}.${payload}`);
    expect(digest.digest('hex')).toBe(v1);
  });

  it('shows an accepted attempt without its response body', async () => {
    service.receiver.behave((_, res) => {
      res.end('thank you');
      return undefined;
    });
    const id = await journey.finish('pay');
    const json = await delivered(id);
    service.receiver.behave(() => 204);
    expect(json).toMatchObject({
      event_id: eventId(id),
      event: 'payment.paid',
      payment_id: id,
      order_id: 'order-1',
      test: true,
      delivery: { status: 'delivered', round: 1, attempts_left: 0, next_attempt_at: null },
      links: {
        payment: `${service.url}/api/v1/payments/${id}`,
        replay: `${service.url}/api/v1/events/${eventId(id)}/replay`,
      },
      payload: { event: 'payment.paid', payment_id: id },
      attempts: [
        {
          number: 1,
          round: 1,
          trigger: 'schedule',
          response_status: 200,
          error: null,
          response_body: null,
          response_truncated: false,
        },
      ],
    });
  });

  it('shows a failed attempt with the start of its response body, and nothing else of it', async () => {
    service.receiver.behave((_, res) => {
      res.writeHead(500, { 'x-secret-header': 'hidden' }).end('a'.repeat(4_096) + 'beyond');
      return undefined;
    });
    const id = await journey.finish('pay');
    await waitForFirstAttempt(service.sql, id);
    service.receiver.behave(() => 204);
    const { json, text } = await getEvent(id);
    expect(json).toMatchObject({
      delivery: { status: 'pending', round: 1, attempts_left: 5, delivered_at: null },
      links: { replay: `${service.url}/api/v1/events/${eventId(id)}/replay` },
      attempts: [{ number: 1, response_status: 500, error: 'http_status' }],
    });
    const [attempt] = json['attempts'] as { response_body: string; response_truncated: boolean }[];
    expect(attempt?.response_body).toBe('a'.repeat(4_096));
    expect(attempt?.response_truncated).toBe(true);
    expect(text).not.toContain('hidden');
    expect(text).not.toContain('127.0.0.1:9/webhook');
  });

  it.each([
    ['has a loopback address', 'https://127.0.0.1/hook?key=hidden', 'blocked'],
    ['does not listen', 'http://127.0.0.1:1/hook?key=hidden', 'connect'],
    ['does not exist', 'https://receiver.invalid/hook?key=hidden', 'dns'],
  ])('names only the class of the failure where the receiver %s', async (_, url) => {
    const { journey: theirs } = await service.anApplication({ webhookUrl: url });
    const id = await theirs.finish('pay');
    await waitForFirstAttempt(service.sql, id);
    const { json, text } = await getEvent(id, theirs);
    const [attempt] = json['attempts'] as Record<string, unknown>[];
    expect(attempt).toMatchObject({ response_status: null, response_body: null });
    expect(attempt?.['error']).toMatch(/^[a-z_]+$/);
    for (const hidden of ['hidden', '/hook', 'ECONN', ':443', ':1/'])
      expect(text, hidden).not.toContain(hidden);
  });

  it('answers 404 for an unknown event, a malformed id, another application and another mode', async () => {
    const id = await journey.finish('pay');
    await delivered(id);
    const foreign = (await service.anApplication()).journey;
    const notFound = async (by: Journey, path: string, method = 'GET') =>
      expect(refusalOf(await by.request(method, path))).toEqual([404, 'EVENT_NOT_FOUND']);
    await notFound(foreign, `/api/v1/events/${eventId(id)}`);
    await notFound(foreign, `/api/v1/events/${eventId(id)}/replay`, 'POST');
    await notFound(journey, `/api/v1/events/${eventId('PAY_X')}`);
    await notFound(journey, `/api/v1/events/${eventId(id).toUpperCase()}`);
    await notFound(journey, `/api/v1/events/${id}`);
    expect(idsOf(await list('', foreign))).toEqual([]);
    expect(refusalOf(await list(`?payment_id=${id}`, foreign))).toEqual([404, 'PAYMENT_NOT_FOUND']);

    await service.sql`update deliveries set test = false where payment_id = ${id}`;
    await notFound(journey, `/api/v1/events/${eventId(id)}`);
    expect(idsOf(await list(`?payment_id=${id}`))).toEqual([]);
  });
});

describe('GET /api/v1/events', () => {
  it('filters by kind, delivery, payment, order and time, newest first', async () => {
    const { journey: by } = await service.anApplication();
    const paid = await by.finish('pay');
    const failed = await by.finish('refuse');
    const cancelled = await by.atGateway({ order_id: 'order-2' });
    await by.choose(cancelled, 'cancel');
    await by.comeBack(cancelled);
    for (const id of [paid, failed, cancelled]) await delivered(id, by);
    await service.sql`
      update deliveries set status = 'exhausted' where payment_id = ${failed}`;
    expect(idsOf(await list('', by))).toEqual([cancelled, failed, paid]);
    expect(idsOf(await list('?event=payment.failed', by))).toEqual([failed]);
    expect(idsOf(await list('?delivery=exhausted', by))).toEqual([failed]);
    expect(idsOf(await list('?delivery=exhausted&event=payment.paid', by))).toEqual([]);
    expect(idsOf(await list(`?payment_id=${paid}`, by))).toEqual([paid]);
    expect(idsOf(await list('?order_id=order-2', by))).toEqual([cancelled]);
    const { json } = await getEvent(failed, by);
    const at = encodeURIComponent(String(json['created_at']));
    expect(idsOf(await list(`?from=${at}`, by))).toEqual([cancelled, failed]);
    expect(idsOf(await list(`?to=${at}`, by))).toEqual([paid]);

    const first = await list('?per_page=2', by);
    expect(idsOf(first)).toEqual([cancelled, failed]);
    const { next_cursor, has_more } = paginationOf(first);
    expect(has_more).toBe(true);
    const second = await list(`?per_page=2&cursor=${String(next_cursor)}`, by);
    expect(idsOf(second)).toEqual([paid]);
    expect(second.json['pagination']).toMatchObject({ has_more: false, next_cursor: null });
    // A cursor belongs to its filters.
    const refused = await list(`?cursor=${String(next_cursor)}&delivery=delivered`, by);
    expect(refused.status).toBe(422);
    expect(problemsOf(refused)).toMatchObject([{ path: 'cursor', rule: 'cursor' }]);
  });

  it('has the bodies of the webhooks byte for byte, if it is asked for them', async () => {
    const { journey: by } = await service.anApplication();
    const ids: string[] = [];
    // Number literals and the order of keys would not survive parsing, and a name may be ours.
    for (const note of ['{"z":1.50,"a":1e3,"\\u00e9":"é"}', '{"payload":{"}":"\\"{"}}']) {
      const body = `{"order_id":"bytes","amount":1250,"currency":"EUR","metadata":${note},"sandbox":{"outcome":"paid"}}`;
      ids.push(String((await by.request('POST', '/api/v1/payments', body)).json['payment_id']));
    }
    for (const id of ids)
      await until('the webhook has come', () => service.receiver.of(id).length > 0);
    for (const query of ['?order=asc', '', '?order_id=bytes']) {
      const answer = await list(`${query}${query ? '&' : '?'}include=payload`, by);
      const shown = idsOf(answer);
      expect(shown.toSorted()).toEqual(ids.toSorted());
      const payloads = shown.map((id) => `,"payload":${String(service.receiver.of(id)[0]?.body)}}`);
      for (const payload of payloads) expect(answer.text).toContain(payload);
      expect((await list(query, by)).text).not.toContain('"payload":{"event"');
    }
    const [id] = ids;
    expect(idsOf(await list(`?payment_id=${id}&include=payload`, by))).toEqual([id]);
  });

  it('goes on from a cursor with and without the bodies, and shows each event of the feed once', async () => {
    const { journey: by } = await service.anApplication();
    const [first, second] = [await by.finish('pay'), await by.finish('refuse')];
    const page = await list('?order=asc&per_page=1', by);
    expect(idsOf(page)).toEqual([first]);
    const after = (answer: Answer) => `?order=asc&cursor=${paginationOf(answer).next_cursor}`;
    const next = await list(`${after(page)}&include=payload`, by);
    expect(next.json['data']).toMatchObject([
      { payment_id: second, payload: { event: 'payment.failed' } },
    ]);
    const { next_cursor } = paginationOf(next);
    expect((await list(after(next), by)).json).toEqual({
      data: [],
      pagination: { per_page: 20, has_more: false, next_cursor },
    });
  });
});
