import { randomBytes } from 'node:crypto';
import { defaultActivityInfo, MockActivityEnvironment } from '@temporalio/testing';
import { describe, expect, it } from 'vitest';
import { eventId } from '../../../contract/ids.ts';
import { createDeliveryActivities } from '../../../activities/delivery.ts';
import { createWebhookDispatcher } from '../../../webhooks/connector.ts';
import { AttemptError } from '../../../webhooks/failure.ts';
import { createBulkhead, type Bulkhead } from '../../../activities/bulkhead.ts';
import { createDeliveries, type Deliveries } from '../../../postgres/webhooks/deliveries.ts';
import { createSecretBox, type KeyRing } from '../../../postgres/secrets/secret-box.ts';
import { createWebhookSecrets } from '../../../postgres/secrets/webhook-secrets.ts';
import { startRawServer } from '../../support/servers/raw-server.ts';
import { startRecords } from '../../support/data/records.ts';
import { forFile } from '../../support/for-file.ts';

const keyRing: KeyRing = { currentId: 'k1', keys: new Map([['k1', randomBytes(32)]]) };
const records = await forFile(startRecords());
await createWebhookSecrets(records.sql).issue('shop', createSecretBox(keyRing));

interface Options {
  webhookUrl?: string | null;
  resolve?: () => Promise<string[]>;
  ring?: KeyRing;
  bulkhead?: Bulkhead;
  deliveries?: Deliveries;
  /** The time of the attempt in the queue; negative if it is not due yet. */
  queuedMs?: number;
  /** The lead of Temporal's clock when it handed out the attempt. */
  startedInMs?: number;
  /** Advances all clocks. */
  laterMs?: number;
}

/** Runs the activity once, as Temporal would. */
const deliver = async (options: Options, payment?: { id: string }, isReset = false) => {
  const { webhookUrl = 'https://shop.example/hook', resolve, ring = keyRing } = options;
  const { queuedMs = 0, laterMs = 0 } = options;
  const setUrl = (url: string | null) => records.sql`
    update applications set webhook_url = ${url} where slug = 'shop'`;
  await setUrl('https://shop.example/hook');
  const { id } = payment ?? (await records.ended('paid'));
  await setUrl(webhookUrl);
  const dispatcher = createWebhookDispatcher({
    allowLoopback: true,
    timeoutMs: 10_000,
    ...(resolve && { resolve }),
  });
  const activities = createDeliveryActivities({
    deliveries: options.deliveries ?? createDeliveries(records.sql),
    secretBox: createSecretBox(ring, 'WEBHOOKS_KEY'),
    dispatcher,
    targetRule: { allowLoopback: true },
    deliveryBulkhead: options.bulkhead ?? createBulkhead({ perOwner: 25 }),
    activityStartedAt: async () => new Date(Date.now() + (options.startedInMs ?? 0)),
    now: () => new Date(Date.now() + laterMs),
    logger: { info() {}, warn() {} },
  });
  try {
    const result: unknown = await new MockActivityEnvironment({
      currentAttemptScheduledTimestampMs: Date.now() + laterMs - queuedMs,
    })
      .run(activities.deliverWebhook, { id, isReset })
      .catch((error: unknown) => error);
    return { id, result };
  } finally {
    await dispatcher.destroy();
  }
};

/** A receiver that accepts everything. */
const accepting = () =>
  startRawServer((socket) => {
    socket.write('HTTP/1.1 204 No Content\r\n\r\n');
  });

const ledgerOf = (id: string) => records.sql`
  select number, completed_at is not null as completed, error_class, response_status,
    response_body from attempts where event_id = ${eventId(id)} order by number`;

describe('deliverWebhook', () => {
  const dead = () =>
    Promise.reject(new AttemptError({ errorClass: 'dns', error: 'The host name has no address' }));
  it.each<[string, Options]>([
    ['dns', { resolve: dead }],
    ['blocked', { resolve: async () => ['10.0.0.1'] }],
    ['blocked', { webhookUrl: 'http://shop.example/hook' }],
    ['blocked', { webhookUrl: 'https://169.254.169.254/' }],
    ['connect', { webhookUrl: 'http://127.0.0.1:9/' }],
    ['no_url', { webhookUrl: null }],
  ])('counts %s as a failed attempt with the documented delay: %j', async (errorClass, options) => {
    const { id, result } = await deliver(options);
    expect(result).toMatchObject({ type: 'WebhookAttemptFailed', nextRetryDelay: 60_000 });
    expect(await ledgerOf(id)).toMatchObject([
      { number: 1, completed: true, error_class: errorClass, response_status: null },
    ]);
    const [next] = await records.sql<{ dueInSeconds: number }[]>`
      select extract(epoch from next_attempt_at - now())::float as "dueInSeconds"
      from deliveries where payment_id = ${id}`;
    expect(next?.dueInSeconds).toBeGreaterThan(30);
    expect(next?.dueInSeconds).toBeLessThanOrEqual(60);
  });

  it('does not count a missing key as an attempt, and repeats the number', async () => {
    await using server = await accepting();
    const other: KeyRing = { currentId: 'k2', keys: new Map([['k2', randomBytes(32)]]) };
    const bulkhead = createBulkhead({ perOwner: 1 });
    const { id, result } = await deliver({ webhookUrl: server.url, ring: other, bulkhead });
    expect(result).toMatchObject({ message: 'WEBHOOKS_KEY holds no key named k1' });
    expect(result).not.toHaveProperty('nextRetryDelay');
    expect(server.requests).toEqual([]);
    // The former key is now the second one of the ring.
    const ring = { currentId: 'k2', keys: new Map([...other.keys, ...keyRing.keys]) };
    // It has released its slot.
    const again = await deliver({ webhookUrl: server.url, ring, bulkhead }, { id });
    expect(again.result).toBe('delivered');
    expect(await ledgerOf(id)).toMatchObject([{ number: 1, completed: true, error_class: null }]);
  });

  it('stores an answer of arbitrary bytes as far as possible', async () => {
    await using server = await startRawServer((socket) => {
      socket.write('HTTP/1.1 500 Oh\r\nconnection: close\r\n\r\n');
      socket.end(Buffer.concat([Buffer.from([0, 255, 254, 0xed, 0xa0, 0x80]), randomBytes(9_000)]));
    });
    const { id, result } = await deliver({ webhookUrl: server.url });
    expect(result).toMatchObject({ nextRetryDelay: 60_000 });
    expect(await ledgerOf(id)).toMatchObject([{ completed: true, response_status: 500 }]);
  });

  it('sends each attempt with its own timestamp and signature', async () => {
    await using server = await startRawServer((socket) => {
      socket.write('HTTP/1.1 500 Oh\r\ncontent-length: 0\r\n\r\n');
    });
    const { id } = await deliver({ webhookUrl: server.url });
    await deliver({ webhookUrl: server.url, laterMs: 600_000 }, { id });
    const [first = '', second = ''] = server.requests;
    const valueOf = (request: string, name: string) =>
      new RegExp(`\r\n${name}: ([^\r]+)`, 'i').exec(request)?.[1] ?? '';
    const [t, later] = [first, second].map((one) => Number(valueOf(one, 'x-service-timestamp')));
    expect(Math.abs(Date.now() / 1000 - t!)).toBeLessThan(120);
    expect(later! - t!).toBeGreaterThanOrEqual(600);
    const signatures = [first, second].map((one) => valueOf(one, 'x-service-signature').split(','));
    expect(signatures.map(([time]) => time)).toEqual([`t=${t}`, `t=${later}`]);
    expect(signatures[0]?.[1]).not.toBe(signatures[1]?.[1]);
    const [firstId, again] = [first, second].map((one) => valueOf(one, 'x-service-event-id'));
    expect(again).toBe(firstId);
    expect(second.split('\r\n\r\n')[1]).toBe(first.split('\r\n\r\n')[1]);
  });

  it.each([
    ['after an attempt that waited in the queue', 59_000, 0],
    ['if Temporal hands out the attempt early, unless Temporal’s clock skipped it', 0, -61_000],
  ])('waits the whole delay %s', async (_, queuedMs, nextQueuedMs) => {
    const options = { webhookUrl: 'http://127.0.0.1:9/' };
    const { id } = await deliver({ ...options, queuedMs });
    const early = await deliver({ ...options, queuedMs: nextQueuedMs }, { id });
    expect(early.result).toMatchObject({
      message: expect.stringContaining('delay is not over'),
    });
    expect((early.result as { nextRetryDelay: number }).nextRetryDelay).toBeGreaterThan(30_000);
    expect(await ledgerOf(id)).toHaveLength(1);
    if (nextQueuedMs === 0) return;
    await deliver({ ...options, queuedMs: nextQueuedMs, startedInMs: 61_000 }, { id });
    expect(await ledgerOf(id)).toHaveLength(2);
  });

  it('fails with a retry delay before it writes anything if there is no free slot', async () => {
    const { id, result } = await deliver({ bulkhead: createBulkhead({ perOwner: 0 }) });
    expect(result).toMatchObject({
      type: 'WebhookPostponed',
      nextRetryDelay: expect.any(Number),
      nonRetryable: false,
    });
    expect(await ledgerOf(id)).toEqual([]);
  });

  it('is postponed without an attempt if the line of its application is full', async () => {
    const bulkhead = createBulkhead({ perOwner: 0, longestLineMs: 1_000 });
    const { id, result } = await deliver({ bulkhead });
    expect(result).toBe('postponed');
    expect(await ledgerOf(id)).toEqual([]);
    const [row] = await records.sql`
      select postponed_at is not null as postponed from deliveries where payment_id = ${id}`;
    expect(row).toEqual({ postponed: true });
  });

  const thisRun = defaultActivityInfo.workflowExecution?.runId ?? '';
  it.each([
    ['no other round in a run that heals the workflow', 'before', false, 'WebhookExhausted'],
    ['no other round in the run that used up its round', thisRun, true, 'WebhookExhausted'],
    ['another round in a run that a reset started', 'before', true, 'WebhookAttemptFailed'],
  ])('starts %s', async (_, run, isReset, type) => {
    const { id } = await records.ended('paid');
    await records.sql`
      update deliveries set status = 'exhausted', next_attempt_at = null, exhausted_by_run = ${run}
      where payment_id = ${id}`;
    const { result } = await deliver({ webhookUrl: 'http://127.0.0.1:9/' }, { id }, isReset);
    const begins = type === 'WebhookAttemptFailed';
    expect(result).toMatchObject({ type, nonRetryable: !begins });
    expect((await ledgerOf(id)).map((row) => row['error_class'])).toEqual(
      begins ? ['connect'] : [],
    );
  });

  it('keeps the result of an earlier try that completes the attempt during the POST', async () => {
    await using server = await accepting();
    const { id } = await records.ended('paid');
    const all = createDeliveries(records.sql);
    const deliveries = {
      ...all,
      async completeAttempt(...[paymentId, number, own]: Parameters<typeof all.completeAttempt>) {
        const result = { ...own.result, responseStatus: null, errorClass: 'timeout' } as const;
        const nextAttemptAt = new Date(Date.now() + 60_000);
        const consequence = { status: 'pending', nextAttemptAt } as const;
        await all.completeAttempt(paymentId, number, { ...own, result, consequence });
        return all.completeAttempt(paymentId, number, own);
      },
    };
    const overtaken = await deliver({ webhookUrl: server.url, deliveries }, { id });
    expect(overtaken.result).toMatchObject({ type: 'WebhookAttemptFailed', nextRetryDelay: 1_000 });
    expect(await ledgerOf(id)).toMatchObject([{ completed: true, error_class: 'timeout' }]);
  });
});
