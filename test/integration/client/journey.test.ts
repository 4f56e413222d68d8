import { randomUUID } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import type * as client from '../../../client/src/index.ts';
import { aDispute, recordDisputes } from '../../support/data/disputes.ts';
import { installClient, packAndInstall } from '../../support/client/install.ts';
import { useService, type SharedService } from '../../support/service/service.ts';
import { forFile } from '../../support/for-file.ts';
import { until } from '../../support/until.ts';

type Package = typeof client;

const { folder, application: packed } = await packAndInstall();
const service = await forFile(useService());
let installed: Package;

const anApplication = async (options: Parameters<SharedService['anApplication']>[0] = {}) => {
  const made = await service.anApplication(options);
  const client = new installed.Payments({ token: made.token, baseUrl: service.url });
  return { ...made, client };
};
type Client = InstanceType<Package['Payments']>;

const order = () => ({
  order_id: `order-${randomUUID().slice(0, 8)}`,
  amount: 1250,
  currency: 'EUR' as const,
});

/** Creates a payment whose payer pays, and waits for its delivered event. */
const aPaid = async (client: Client) => {
  const made = order();
  const payment = await client.payments.create({ ...made, sandbox: { outcome: 'paid' } });
  const event = await until('the event is delivered', async () => {
    const { data } = await client.events.list({ payment_id: payment.payment_id }).page();
    return data.find(({ delivery }) => delivery.status === 'delivered');
  });
  return { order: made, payment, event };
};

/** The last release, which must work with today's service. See docs/releasing.md. */
const releases = join(import.meta.dirname, '../../releases');
const released = readdirSync(releases).map((name) => ({
  name: `the released ${name}`,
  install: () => installClient(join(releases, name), join(folder, `released-${name}`)),
}));
const today = { name: "today's client", install: () => packed };

describe.each([today, ...released])('$name', ({ name, install }) => {
  beforeAll(async () => {
    const entry = join(install(), 'node_modules/@example/payments/dist/index.js');
    installed = (await import(pathToFileURL(entry).href)) as Package;
  });

  it('goes with a payment from its creation to its verified webhook', async () => {
    const { client, application, secret } = await anApplication();
    expect(client.mode).toBe('test');
    expect(await client.me()).toMatchObject({ application, token_mode: 'test' });

    const { payment, event } = await aPaid(client);
    expect(await client.payments.get(payment.payment_id)).toMatchObject({ status: 'paid' });
    expect(await client.payments.verify(payment.payment_id)).toMatchObject({ status: 'paid' });

    const [webhook] = service.receiver.of(payment.payment_id);
    const received = await installed.webhooks.verify({
      body: webhook?.body ?? '',
      signature: webhook?.headers['x-service-signature'],
      secret,
    });
    expect(received).toMatchObject({ event: 'payment.paid', event_id: event.event_id });
    expect(await client.events.get(event.event_id)).toMatchObject({
      payload: received,
      attempts: [{ number: 1, response_status: 204 }],
    });
  });

  it('makes one payment however often a key is sent', async () => {
    const { client } = await anApplication();
    const [made, idempotencyKey] = [order(), 'order-1-try-1'];
    const answers = await Promise.all(
      Array.from({ length: 5 }, () =>
        client.payments.create(made, { idempotencyKey }).withResponse(),
      ),
    );
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect(answers.filter(({ replayed }) => !replayed)).toHaveLength(1);
    await expect(
      client.payments.create({ ...made, amount: 1 }, { idempotencyKey }),
    ).rejects.toMatchObject({ status: 422, code: 'IDEMPOTENCY_KEY_REUSED', idempotencyKey });
  });

  it('lists all payments and events, over several pages', async () => {
    const { client } = await anApplication();
    const created: string[] = [];
    for (let count = 0; count < 5; count += 1)
      created.push((await client.payments.create(order())).payment_id);
    const listed: string[] = [];
    for await (const { payment_id } of client.payments.list({ per_page: 2 }))
      listed.push(payment_id);
    expect(listed).toEqual(created.toReversed());
    const { pagination } = await client.payments.list({ per_page: 2, page: 2 }).page();
    expect(pagination).toMatchObject({ page: 2, has_more: true });
  });

  it.runIf(name === today.name)('reads the disputes of payments', async () => {
    const { client } = await anApplication();
    const { payment } = await aPaid(client);
    const id = payment.payment_id;
    expect(await client.payments.disputes.list(id).page()).toMatchObject({ data: [] });
    await recordDisputes(service.sql, id, [
      aDispute({ stage: 'inquiry', openedAt: new Date('2026-11-20') }),
      aDispute(),
    ]);
    const { data } = await client.disputes.list({ stage: 'chargeback', payment_id: id }).page();
    const [chargeback] = data;
    expect(data).toMatchObject([{ payment_id: id, status: 'needs_response', amount_held: 1000 }]);
    expect(await client.disputes.get(chargeback?.dispute_id ?? '')).toEqual(chargeback);
    const stages: string[] = [];
    for await (const { stage } of client.payments.disputes.list(id, { per_page: 1 }))
      stages.push(stage);
    expect(stages).toEqual(['chargeback', 'inquiry']);
    await expect(client.disputes.get('DISPUTE_1')).rejects.toMatchObject({
      status: 404,
      code: 'DISPUTE_NOT_FOUND',
    });
  });

  it('replays one event and the events of a time, and sends a sample', async () => {
    const { client } = await anApplication();
    const { payment, event } = await aPaid(client);
    // As if the round had begun longer ago than repeated requests count as one.
    await service.sql`
      update deliveries set round_began_at = round_began_at - interval '11 seconds'
      where payment_id = ${payment.payment_id}`;
    const replayed = await client.events.replay(event.event_id);
    expect(replayed.delivery).toMatchObject({ status: 'pending', round: 2 });
    await until('it arrives again', () => service.receiver.of(payment.payment_id)[1]);

    const time = { from: '2020-01-01', to: '2020-01-02', delivery: 'delivered' } as const;
    expect(await client.replays.count(time)).toEqual({ matched: 0 });
    const { replay_id } = await client.replays.create(time);
    expect(await client.replays.get(replay_id)).toMatchObject({ replay_id, matched: 0 });
    expect(await client.replays.stop(replay_id)).toMatchObject({ replay_id });
    expect(await client.webhook.test({ event: 'payment.failed' })).toMatchObject({
      response_status: 204,
      error: null,
    });
  });

  it('throws the errors of the service', async () => {
    const { client, application } = await anApplication();
    const { ApiError, Payments } = installed;
    const stranger = new Payments({ token: `svc_test_${'x'.repeat(43)}`, baseUrl: service.url });
    const requestId = expect.stringMatching(/^req_/) as string;
    const unauthorized = { status: 401, code: 'INVALID_TOKEN', retryable: false, requestId };
    await expect(stranger.me()).rejects.toMatchObject(unauthorized);
    await expect(client.payments.get('PAY_1')).rejects.toMatchObject({
      status: 404,
      code: 'PAYMENT_NOT_FOUND',
    });
    const invalid: unknown = await client.payments
      .create({ ...order(), amount: 0 })
      .catch((error: unknown) => error);
    expect(invalid).toBeInstanceOf(ApiError);
    expect(invalid).toMatchObject({
      status: 422,
      code: 'VALIDATION_FAILED',
      details: { fields: [{ path: 'amount', rule: 'too_small' }] },
      idempotencyKey: expect.any(String) as string,
    });
    await service.sql`update applications set status = 'disabled' where slug = ${application}`;
    await expect(client.me()).rejects.toMatchObject({ status: 403, code: 'APPLICATION_DISABLED' });
  });
});
