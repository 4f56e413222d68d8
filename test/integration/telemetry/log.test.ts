import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { credentialsOwner } from '../../../contract/ids.ts';
import { createGateways } from '../../../postgres/gateways/gateways.ts';
import { createSecretBox } from '../../../postgres/secrets/secret-box.ts';
import { aKeyRing } from '../../support/service/admin-operations.ts';
import { startService } from '../../support/service/service.ts';
import { skipAllTime } from '../../support/service/skip-time.ts';
import { until } from '../../support/until.ts';
import { forFile } from '../../support/for-file.ts';

const service = await forFile(startService({ ownTemporal: true }));

type Line = Record<string, unknown>;

const fields = { order_id: 'order-1', amount: 1250, currency: 'EUR' };

const findLines = (part: 'api' | 'worker', isWanted: (line: Line) => boolean): Line[] =>
  service[part].lines.map((line) => JSON.parse(line) as Line).filter(isWanted);

/** Runs a payment that is paid and delivered at the second attempt. Returns all log lines about it. */
const runPayment = async (headers: Record<string, string> = {}) => {
  const { application, journey } = await service.anApplication();
  service.receiver.behave((nth) => (nth === 1 ? 500 : 204));
  const created = await journey.request('POST', '/api/v1/payments', fields, headers);
  const id = String(created.json['payment_id']);
  await journey.checkout(id);
  await journey.choose(id, 'pay');
  await journey.comeBack(id);
  await until('the first attempt', () => service.receiver.of(id)[0]);
  await skipAllTime(service.client, id);
  const lines = await until('the last log line', () => {
    const found = {
      api: findLines('api', (line) => line['payment_id'] === id),
      worker: findLines('worker', (line) => line['payment_id'] === id),
    };
    // Each process writes its lines some time after the event.
    const isWhole = found.worker.some(({ msg }) => msg === 'Webhook delivered');
    return isWhole && found.api.length > 0 && found;
  });
  const handle = service.client.workflow.getHandle(id);
  const { events } = await handle.fetchHistory();
  return {
    id,
    application,
    lines,
    requestId: created.headers.get('x-request-id'),
    history: events ?? [],
    webhooks: service.receiver.of(id),
  };
};

describe('a log line', () => {
  it('is JSON with the ids of the request, the payment and the application', async () => {
    const { id, application, requestId, lines, history, webhooks } = await runPayment();
    const [create] = lines.api;
    expect(create).toMatchObject({
      level: 30,
      name: 'api',
      msg: 'Request',
      request_id: requestId,
      payment_id: id,
      application,
      client_address: '127.0.0.0/24',
      method: 'POST',
      status: 201,
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
    // Nobody has given a trace.
    for (const line of [...lines.api, ...lines.worker]) expect(line).not.toHaveProperty('trace_id');
    for (const { headers } of webhooks) expect(headers).not.toHaveProperty('traceparent');
    for (const event of history) {
      const { header } =
        event.workflowExecutionStartedEventAttributes ??
        event.activityTaskScheduledEventAttributes ??
        {};
      expect(Object.keys(header?.fields ?? {})).toEqual([]);
    }
  });
});

it('drops the field in which Postgres quotes a rejected row', async () => {
  const rejected: unknown = await service.sql`
    insert into gateways (slug, driver, kind, credentials) values ('a', 'b', 'c', 'personal')`.catch(
    (error: unknown) => error,
  );
  // test/unit/telemetry/log.test.ts checks that this field is not logged.
  expect(rejected).toMatchObject({ detail: expect.stringContaining('personal') as string });
});

describe('a log line of the Temporal SDK', () => {
  it('names the payment of a failed activity and the reason', async () => {
    const credentials = createSecretBox(aKeyRing('lost')).seal('{}', credentialsOwner('sealed'));
    const account = { slug: 'sealed', driver: 'stripe', kind: 'sandbox', credentials } as const;
    await createGateways(service.sql).insert(account);
    await service.allowGateway(account.slug);
    const journey = (await service.anApplication()).journey;
    const id = await journey.create({ gateway: 'sealed' });
    const isFailure = (line: Line) =>
      line['payment_id'] === id && line['msg'] === 'Activity failed';
    const [line] = await until('the failure', () => {
      const lines = findLines('worker', isFailure);
      return lines.length > 0 && lines;
    });
    expect(line).toMatchObject({ level: 40, activityType: 'openPayment' });
    expect(line?.['err']).toMatchObject({
      message: expect.stringContaining('SECRETS_KEY holds no key named') as string,
    });
  });
});

describe('the trace of a caller', () => {
  const aTrace = () => {
    const traceId = randomBytes(16).toString('hex');
    return { traceId, traceparent: `00-${traceId}-${randomBytes(8).toString('hex')}-01` };
  };

  it('is in every log line, in Temporal as a header only, and in every webhook', async () => {
    const { traceId, traceparent } = aTrace();
    const { id, lines, history, webhooks } = await runPayment({ traceparent });
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
    for (const { headers, body } of webhooks) {
      expect(headers['traceparent']).toBe(traceparent);
      expect(body.toString()).not.toContain(traceId);
    }
  });

  /** The header of the workflow's start. */
  const headerOf = async (id: string) => {
    const started = () =>
      service.client.workflow
        .getHandle(id)
        .fetchHistory()
        .catch(() => undefined);
    const { events } = await until('the start', started);
    return events?.[0]?.workflowExecutionStartedEventAttributes?.header;
  };

  it('is kept while Temporal is unavailable, for the sweeper and for a payer who comes before it', async () => {
    const { length } = service.worker.lines;
    await service.engine.stop();
    const { journey } = await service.anApplication();
    const createUnstarted = async () => {
      const { traceId, traceparent } = aTrace();
      const { json } = await journey.request('POST', '/api/v1/payments', fields, { traceparent });
      return { id: String(json['payment_id']), traceId };
    };
    const [forPayer, forSweeper] = [await createUnstarted(), await createUnstarted()];
    for (const { id } of [forPayer, forSweeper])
      await until('the API gives up the start', () =>
        findLines('api', (line) => line['payment_id'] === id).some(({ err }) => err !== undefined),
      );
    const isWarning = (line: string) => !line.includes('"level":30');
    const warning = await until('a warning of the Temporal SDK', () =>
      service.worker.lines.slice(length).find(isWarning),
    );
    expect(JSON.parse(warning)).toMatchObject({ name: 'worker', level: 40 });

    // Without Temporal it would take long to stop.
    await service.worker.kill();
    await service.engine.start();
    const isKept = async ({ id, traceId }: typeof forPayer) => {
      const header = await headerOf(id);
      expect(Object.keys(header?.fields ?? {})).toEqual(['trace_id']);
      expect(textOf(header)).toContain(traceId);
    };
    const isSent = async () => (await journey.checkout(forPayer.id)).status === 302;
    const sent = until('the redirect to the gateway', isSent);
    try {
      await isKept(forPayer);
    } finally {
      await service.worker.start();
      await sent;
    }
    await isKept(forSweeper);
  });

  it('is in the late payment workflow after a late return', async () => {
    const { journey } = await service.anApplication();
    const { traceId, traceparent } = aTrace();
    const id = await journey.atGateway();
    await skipAllTime(service.client, id);
    await until('the webhook', () => service.receiver.of(id)[0]);
    const headers = { traceparent };
    await journey.request('GET', `/api/v1/payments/${id}/return`, undefined, headers);
    const header = await headerOf(`LATE_${id}`);
    expect(textOf(header)).toContain(traceId);
  });
});

/** All texts in a value, with decoded payloads. */
const textOf = (value: unknown): string => {
  if (value instanceof Uint8Array) return Buffer.from(value).toString();
  if (typeof value === 'object' && value !== null) return Object.values(value).map(textOf).join();
  return String(value);
};
