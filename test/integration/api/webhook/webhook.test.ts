import { createHmac } from 'node:crypto';
import { beforeEach, describe, expect, it } from 'vitest';
import { forFile } from '../../../support/for-file.ts';
import { createJourney, type Journey } from '../../../support/service/journey.ts';
import { useService } from '../../../support/service/service.ts';

const service = await forFile(useService());
beforeEach(() => service.receiver.behave(() => 204));

describe('GET /api/v1/webhook', () => {
  const webhookOf = async (token: string) => {
    const { status, json } = await createJourney(service, token).request('GET', '/api/v1/webhook');
    expect(status).toBe(200);
    return json;
  };
  const well = {
    state: 'ok',
    since: null,
    waiting: 0,
    exhausted: 0,
    last_error: null,
    last_accepted_at: null,
    next_attempt_at: null,
  };

  it('says how the receiver takes the events of the mode of the token', async () => {
    const { application, token, issue } = await service.anApplication();
    const live = await issue('live');
    expect(await webhookOf(token)).toEqual(well);
    await service.sql`
      insert into receivers (application, test, state, since) values (${application}, true, 'failing', '2026-11-20T10:00:00Z')`;
    expect(await webhookOf(token)).toEqual({
      ...well,
      state: 'failing',
      since: '2026-11-20T10:00:00.000+00:00',
    });
    expect(await webhookOf(live)).toEqual(well);
  });

  it('says that there is no webhook URL', async () => {
    const { token } = await service.anApplication({ webhookUrl: null });
    expect(await webhookOf(token)).toEqual({ ...well, state: 'none' });
  });

  it('counts what the receiver accepts, and says when', async () => {
    const { token, journey } = await service.anApplication();
    await journey.finish('pay');
    await expect
      .poll(() => webhookOf(token), { timeout: 60_000 })
      .toMatchObject({ state: 'ok', waiting: 0, last_accepted_at: expect.any(String) as unknown });
  });
});

describe('POST /api/v1/webhook/test', () => {
  const test = (journey: Journey, body: unknown = {}) =>
    journey.request('POST', '/api/v1/webhook/test', body);

  it('sends a signed sample, and returns what the receiver answered', async () => {
    const { journey, secret, application } = await service.anApplication();
    const { status, json, text } = await test(journey, { event: 'payment.failed' });
    expect(status, text).toBe(200);
    expect(json).toMatchObject({ response_status: 204, error: null, response_body: null });
    const { event_id, payment_id } = json['sent'] as Record<string, string>;
    const [post] = service.receiver.of(payment_id ?? '');
    expect(post?.json).toEqual(json['sent']);
    expect(json['sent']).toMatchObject({
      event: 'payment.failed',
      application,
      order_id: 'webhook-test',
      test: true,
    });
    expect(post?.headers['x-service-event-id']).toBe(event_id);
    const signature = String(post?.headers['x-service-signature']);
    const [, t = '', v1 = ''] = /^t=(\d+),v1=([0-9a-f]+)$/.exec(signature) ?? [];
    const digest = createHmac('sha256', secret)
      .update(`${t}.`)
      .update(post?.body ?? '');
    expect(digest.digest('hex')).toBe(v1);
  });

  it('shows the body of a failure, and keeps it out of the history in Temporal', async () => {
    const { journey, application } = await service.anApplication();
    service.receiver.behave((_, res) => {
      res.writeHead(400).end('the receiver says why');
      return undefined;
    });
    expect((await test(journey)).json).toMatchObject({
      response_status: 400,
      error: 'http_status',
      response_body: 'the receiver says why',
    });
    const [row] = await service.sql<{ id: string }[]>`
      select id from webhook_tests where application = ${application} and response_status = 400`;
    const handle = service.client.workflow.getHandle(`WEBHOOK_TEST_${row?.id}`);
    expect(JSON.stringify(await handle.fetchHistory())).not.toContain(
      Buffer.from('receiver says').toString('base64').slice(0, 12),
    );
  });

  it('says that there is no URL, and names the class of a failure without an address', async () => {
    const quiet = await service.anApplication({ webhookUrl: null });
    expect((await test(quiet.journey)).json).toEqual({
      sent: null,
      response_status: null,
      duration_ms: null,
      error: 'no_url',
      response_body: null,
      response_truncated: false,
    });
    const inner = await service.anApplication({ webhookUrl: 'https://10.0.0.1/hook' });
    const answer = await test(inner.journey);
    expect(answer.json).toMatchObject({ error: 'blocked', response_status: null });
    expect(answer.text).not.toContain('10.0.0.1');
  });

  it('sends six in a minute, also when ten are asked for at once', async () => {
    const { journey } = await service.anApplication();
    const answers = await Promise.all(Array.from({ length: 10 }, () => test(journey)));
    const statuses = answers.map(({ status }) => status).toSorted((a, b) => a - b);
    expect(statuses).toEqual([...Array<number>(6).fill(200), ...Array<number>(4).fill(429)]);
    const refused = answers.find(({ status }) => status === 429);
    expect(Number(refused?.headers.get('retry-after'))).toBeGreaterThan(30);
  });
});
