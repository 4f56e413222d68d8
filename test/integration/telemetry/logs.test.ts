import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { credentialsOwner } from '../../../contract/ids.ts';
import { createGateways } from '../../../postgres/gateways.ts';
import { createSecretBox } from '../../../postgres/secret-box.ts';
import { readProjectFile } from '../../support/files.ts';
import { createJourney } from '../../support/journey.ts';
import { aKeyRing } from '../../support/operations.ts';
import type { Service } from '../../support/service.ts';
import { startService } from '../../support/service.ts';
import { skipAllTime } from '../../support/skip-time.ts';
import { until } from '../../support/until.ts';

let service: Service;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service?.stop());

type Line = Record<string, unknown>;

const linesOf = (part: 'api' | 'worker', of: (line: Line) => boolean): Line[] =>
  service[part].lines.map((line) => JSON.parse(line) as Line).filter(of);

/** A payment that is paid and delivered at the second attempt, and all that was logged of it. */
const aLife = async (headers: Record<string, string> = {}) => {
  const { application, token, secret } = await service.anApplication();
  const journey = createJourney(service, token);
  service.receiver.behave((nth) => (nth === 1 ? 500 : 204));
  const fields = {
    order_id: 'order-1',
    amount: 1250,
    currency: 'EUR',
    description: 'a description of the order',
    metadata: { note: 'a note of the shop' },
  };
  const created = await journey.request('POST', '/api/v1/payments', fields, headers);
  const id = String(created.json['payment_id']);
  await journey.checkout(id);
  await journey.choose(id, 'pay');
  await journey.comeBack(id);
  await until('the first attempt', () => service.receiver.of(id)[0]);
  await skipAllTime(service.client, id);
  const lines = await until('the last lines are written', () => {
    const found = {
      api: linesOf('api', (line) => line['payment_id'] === id),
      worker: linesOf('worker', (line) => line['payment_id'] === id),
    };
    return found.worker.some(({ msg }) => msg === 'Webhook delivered') && found;
  });
  const handle = service.client.workflow.getHandle(id);
  const { events } = await handle.fetchHistory();
  return {
    ...{ id, application, token, secret, lines },
    requestId: created.headers.get('x-request-id'),
    history: events ?? [],
    webhooks: service.receiver.of(id),
  };
};

describe('a log line', () => {
  it('is JSON and says whose it is: request, payment, application', async () => {
    const { id, application, requestId, lines } = await aLife();
    const [create] = lines.api;
    expect(create).toMatchObject({
      ...{ level: 30, name: 'api', msg: 'Request', request_id: requestId },
      ...{ payment_id: id, application, method: 'POST', status: 201 },
    });
    const requests = lines.api.filter(({ msg }) => msg === 'Request');
    expect(new Set(requests.map((line) => line['request_id'])).size).toBe(requests.length);
    for (const line of lines.api) expect(line).toHaveProperty('request_id');
    expect(lines.worker.map(({ level, msg }) => [level, msg])).toEqual([
      [30, 'Payment ended'],
      [40, 'Webhook attempt failed'],
      [30, 'Webhook delivered'],
    ]);
    for (const line of lines.worker) expect(line).toMatchObject({ name: 'worker', application });
  });

  it('holds nothing secret and nothing personal', async () => {
    const { token, secret } = await aLife();
    const [payment] = await service.sql<{ card: string; tracking: string }[]>`
      select card_pan_masked as card, tracking_code as tracking from payments
      where card_pan_masked is not null limit 1`;
    const { DATABASE_URL: database } = service.env;
    const secrets = [token, secret, database, service.keyRing.keys.get('test')?.toString('base64')];
    const personal = [payment?.card, 'a description of the order', 'a note of the shop'];
    for (const part of ['api', 'worker'] as const)
      for (const text of [...secrets, ...personal]) {
        expect(text).toBeTruthy();
        expect(service[part].lines.filter((line) => line.includes(String(text)))).toEqual([]);
      }
  });
});

describe('a log line of the SDK itself', () => {
  it('is one as well, e.g. while the engine is away', async () => {
    const { length } = service.worker.lines;
    await service.engine.stop();
    const isWarning = (line: string) => !line.includes('"level":30');
    const warning = await until('the worker says so', () =>
      service.worker.lines.slice(length).find(isWarning),
    );
    await service.engine.start();
    expect(JSON.parse(warning)).toMatchObject({ name: 'worker', level: 40 });
  });

  it('says of which payment an activity failed, and why, as the runbook has it', async () => {
    const credentials = createSecretBox(aKeyRing('lost')).seal('{}', credentialsOwner('sealed'));
    const account = { slug: 'sealed', driver: 'stripe', kind: 'sandbox', credentials } as const;
    await createGateways(service.sql).insert(account);
    const journey = createJourney(service, (await service.anApplication()).token);
    const id = await journey.create({ gateway: 'sealed' });
    const isOf = (line: Line) => line['payment_id'] === id && line['msg'] === 'Activity failed';
    const [line] = await until('it is told', () => {
      const lines = linesOf('worker', isOf);
      return lines.length > 0 && lines;
    });
    expect(line).toMatchObject({ level: 40, activityType: 'openPayment' });
    const [, told = ''] =
      /`(SECRETS_KEY [^`]+)`/.exec(readProjectFile('docs/operating/runbook.md')) ?? [];
    expect(told).not.toBe('');
    expect(line?.['err']).toMatchObject({ message: expect.stringContaining(told) as string });
  });
});

describe('a trace that the caller sends', () => {
  it('is in every line of the payment, in the engine as a header alone, and in no webhook', async () => {
    const traceId = randomBytes(16).toString('hex');
    const { id, lines, history, webhooks } = await aLife({
      traceparent: `00-${traceId}-${randomBytes(8).toString('hex')}-01`,
    });
    expect(lines.api[0]).toMatchObject({ status: 201, trace_id: traceId });
    expect(lines.worker.map((line) => line['trace_id'])).toEqual([traceId, traceId, traceId]);

    const start = history[0]?.workflowExecutionStartedEventAttributes;
    expect(Object.keys(start?.header?.fields ?? {})).toEqual(['trace_id']);
    const scheduled = history.flatMap((event) => event.activityTaskScheduledEventAttributes ?? []);
    expect(scheduled).toHaveLength(3);
    for (const { header, input } of scheduled) {
      const [field] = Object.values(header?.fields ?? {});
      expect(Buffer.from(field?.data ?? []).toString()).toBe(JSON.stringify(traceId));
      expect(textOf(input)).not.toContain(traceId);
    }
    expect(textOf(start?.input)).toContain(id);
    expect(textOf(start?.input)).not.toContain(traceId);
    expect(textOf(start?.memo)).not.toContain(traceId);

    expect(webhooks).toHaveLength(2);
    for (const { headers, body } of webhooks)
      expect(JSON.stringify(headers) + body.toString()).not.toMatch(
        new RegExp(`traceparent|${traceId}`),
      );
  });

  /** Created while the engine is away, and given up by the API. */
  const unstarted = async () => {
    const journey = createJourney(service, (await service.anApplication()).token);
    const traceId = randomBytes(16).toString('hex');
    const traceparent = `00-${traceId}-${randomBytes(8).toString('hex')}-01`;
    await service.engine.stop();
    const fields = { order_id: 'order-1', amount: 1250, currency: 'EUR' };
    const { json } = await journey.request(
      ...(['POST', '/api/v1/payments', fields, { traceparent }] as const),
    );
    const id = String(json['payment_id']);
    await until('the API gives it up', () =>
      linesOf('api', (line) => line['payment_id'] === id).some(({ err }) => err !== undefined),
    );
    return { id, traceId, journey };
  };

  /** What the workflow was started with. */
  const headerOf = async (id: string) => {
    const started = () =>
      service.client.workflow
        .getHandle(id)
        .fetchHistory()
        .catch(() => undefined);
    const { events } = await until('somebody starts it', started);
    return events?.[0]?.workflowExecutionStartedEventAttributes?.header;
  };

  it('is kept while the engine is away, for the sweep to start the workflow with', async () => {
    const { id, traceId } = await unstarted();
    await service.engine.start();
    const header = await headerOf(id);
    expect(Object.keys(header?.fields ?? {})).toEqual(['trace_id']);
    expect(textOf(header)).toContain(traceId);
  });

  it('and for the payer who comes before the sweep', async () => {
    const { id, traceId, journey } = await unstarted();
    await service.worker.stop();
    await service.engine.start();
    const isSent = async () => (await journey.checkout(id)).status === 302;
    const sent = until('the payer is sent to the gateway', isSent);
    try {
      const header = await headerOf(id);
      expect(Object.keys(header?.fields ?? {})).toEqual(['trace_id']);
      expect(textOf(header)).toContain(traceId);
    } finally {
      await service.worker.start();
      await sent;
    }
  });

  it('goes with a return after the end into the search for late money', async () => {
    const journey = createJourney(service, (await service.anApplication()).token);
    const traceId = randomBytes(16).toString('hex');
    const traceparent = `00-${traceId}-${randomBytes(8).toString('hex')}-01`;
    const id = await journey.atGateway();
    await skipAllTime(service.client, id);
    await until('the webhook', () => service.receiver.of(id)[0]);
    const headers = { traceparent };
    await journey.request('GET', `/api/v1/payments/${id}/return`, undefined, headers);
    const header = await headerOf(`LATE_${id}`);
    expect(textOf(header)).toContain(traceId);
  });

  it('leaves nothing where it is not valid, and the payment lives as ever', async () => {
    const { lines, history } = await aLife({ traceparent: `00-${'0'.repeat(32)}-1-01` });
    for (const line of [...lines.api, ...lines.worker]) expect(line).not.toHaveProperty('trace_id');
    for (const event of history) {
      const { header } =
        event.workflowExecutionStartedEventAttributes ??
        event.activityTaskScheduledEventAttributes ??
        {};
      expect(Object.keys(header?.fields ?? {})).toEqual([]);
    }
  });
});

/** All that is in it, payloads decoded. */
const textOf = (value: unknown): string => {
  if (value instanceof Uint8Array) return Buffer.from(value).toString();
  if (typeof value === 'object' && value !== null) return Object.values(value).map(textOf).join();
  return String(value);
};
