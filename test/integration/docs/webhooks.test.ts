import { randomUUID } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createWebhookDispatcher } from '../../../webhooks/connector.ts';
import { post } from '../../../webhooks/request.ts';
import { createHeaders } from '../../../webhooks/signature.ts';
import { eventExamples } from '../../../api/payments/payment-examples.ts';
import { limits } from '../../../contract/limits.ts';
import type { EventKind } from '../../../contract/event.ts';
import { EventBody } from '../../../contract/event-schema.ts';
import { documentText } from '../../../tools/release-openapi.ts';
import { readProjectFile } from '../../support/checks/project-files.ts';
import { orderTransitions, type Transition } from '../../support/client/order-transitions.ts';
import { usePageReceivers } from '../../support/client/page-receivers.ts';
import type { StartedReceiver } from '../../support/client/receivers.ts';
import { runProgram } from '../../support/client/run-program.ts';
import { aPayment } from '../../support/data/payments.ts';
import { withOutcome } from '../../support/data/records.ts';
import { useProgram } from '../../support/runner/use-program.ts';
import { until } from '../../support/until.ts';

const page = readProjectFile('docs/webhooks.md');

const secret = `whsec_${'s'.repeat(43)}`;
const dispatcher = createWebhookDispatcher({ allowLoopback: true, timeoutMs: 10_000 });
const folder = mkdtempSync(join(tmpdir(), 'payments-webhooks-page-'));
afterAll(async () => {
  await dispatcher.destroy();
  rmSync(folder, { recursive: true });
});

const anEvent = () => {
  const { event } = withOutcome(aPayment({ metadata: '{"note":"grüße 😀"}' }), 'paid');
  return { ...event, body: Buffer.from(event.body) };
};

const signatureOf = (
  event: { id: string; kind: EventKind; body: Buffer },
  aheadSeconds: number,
) => {
  const now = new Date(Date.now() + aheadSeconds * 1000);
  const headers = createHeaders({ event, attempt: 1, secrets: [secret], traceparent: null, now });
  return headers['X-Service-Signature'] ?? '';
};

// test/integration/client/receivers.test.ts sends them signatures and bodies of every kind.
describe.each(usePageReceivers())('$receiver', ({ find }) => {
  const start = useProgram(find);
  let receiver: StartedReceiver | undefined;
  beforeAll(async () => {
    receiver = await start()?.(secret);
  });
  afterAll(() => receiver?.stop());

  const send = async (
    event: { id: string; kind: EventKind; body: Buffer },
    { to = receiver, key = secret } = {},
  ) => {
    const headers = createHeaders({
      event,
      attempt: 1,
      secrets: [key],
      traceparent: null,
      now: new Date(),
    });
    const signal = new AbortController().signal;
    const url = to?.url ?? '';
    return (await post({ url, headers, body: event.body, dispatcher, signal })).responseStatus;
  };
  const linesWith = (text: string) =>
    (receiver?.output().split('\n') ?? []).filter((line) => line.includes(text));
  const paymentOf = ({ body }: { body: Buffer }) =>
    (JSON.parse(body.toString()) as { payment_id: string }).payment_id;

  it.each([undefined, '', 's'.repeat(43)])('takes nothing with the secret %j', async (held) => {
    const started = await start()(held).catch(({ message }: Error) => message);
    // It does not start, or it accepts nothing.
    if (typeof started === 'string')
      return expect(started).toMatch(/holds no whsec_… secret|no such file/i);
    try {
      expect(await send(anEvent(), { to: started, key: held ?? '' })).toBe(500);
      await until('it says why', () => started.output().includes('holds no whsec_… secret'));
    } finally {
      await started.stop();
    }
  });

  it('accepts what the service sends, and acts once on an event that comes twice', async () => {
    const event = anEvent();
    const last = anEvent();
    for (const each of [event, event, last]) expect(await send(each)).toBe(204);
    await until('all are handled', () => linesWith(paymentOf(last)).length > 0);
    const id = paymentOf(event);
    expect(linesWith(id)).toEqual([`payment.paid ${id} for order order-1`]);
  });

  it('makes of each order what the table says, and of none that it does not have', async () => {
    const sendJson = (json: Transition['event']) =>
      send({ id: json.event_id, kind: json.event, body: Buffer.from(JSON.stringify(json)) });
    const unknown = { ...eventExamples.paid, event_id: randomUUID(), order_id: 'order-of-nobody' };
    for (const event of [unknown, ...orderTransitions.map((each) => each.event)])
      expect(await sendJson(event)).toBe(204);
    const last = anEvent();
    expect(await send(last)).toBe(204);
    await until('all are handled', () => linesWith(paymentOf(last)).length > 0);
    const lines = linesWith('Order ').map((line) => line.split(' '));
    const after = new Map(lines.map(([, id = '', , status = '']) => [id, status]));
    const seen = orderTransitions.map(({ what, order: { id, status } }) => {
      const becomes = after.get(id) ?? status;
      after.delete(id);
      return { what, becomes };
    });
    expect(seen).toEqual(orderTransitions.map(({ what, becomes }) => ({ what, becomes })));
    expect([...after.keys()]).toEqual([]);
    const losers = orderTransitions.filter(
      (each) => each.event['failure_code'] === 'order_already_paid',
    );
    expect(linesWith('this money goes back')).toHaveLength(losers.length);
  });

  it('answers 500 to an event that it cannot handle, and goes on', async () => {
    expect(await send({ ...anEvent(), body: Buffer.from('{"event":') })).toBe(500);
    const event = anEvent();
    const { event_id } = JSON.parse(event.body.toString()) as { event_id: string };
    const status = await send({ ...event, body: Buffer.from(JSON.stringify({ event_id })) });
    expect(await send(event)).toBe(204);
    // What it has refused comes again, and is handled then.
    await until('it is handled', () => status !== 500 || linesWith(paymentOf(event)).length > 0);
  });
});

it("the page's program for Stripe's library compiles, and verifies the same signatures", async () => {
  const [, code = ''] = /```ts\n(import Stripe[\s\S]*?)```/.exec(page) ?? [];
  const folderOfProgram = join(folder, 'stripe');
  mkdirSync(folderOfProgram);
  symlinkSync(
    join(import.meta.dirname, '../../../node_modules'),
    join(folderOfProgram, 'node_modules'),
  );
  writeFileSync(join(folderOfProgram, 'package.json'), '{"type":"module"}');
  const file = join(folderOfProgram, 'verify.ts');
  writeFileSync(file, code);
  const compilerOptions = { module: 'nodenext', types: ['node'], strict: true, noEmit: true };
  writeFileSync(join(folderOfProgram, 'tsconfig.json'), JSON.stringify({ compilerOptions }));
  expect(runProgram('typescript/bin/tsc', ['-p', folderOfProgram])).toBe('');
  const { verify } = (await import(pathToFileURL(file).href)) as {
    verify: (body: Buffer, signature: string, key: string) => unknown;
  };
  const event = anEvent();
  for (const [aheadSeconds, isGenuine] of [
    [-310, false],
    [-290, true],
    [290, true],
    [310, false],
    [Date.now(), false],
  ] as const) {
    const signature = signatureOf(event, aheadSeconds);
    const verifying = () => verify(event.body, signature, secret);
    if (isGenuine) expect(verifying()).toEqual(JSON.parse(event.body.toString()));
    else expect(verifying).toThrow(/future|tolerance/);
    expect(() => verify(Buffer.from('{}'), signature, secret)).toThrow(
      /future|tolerance|signature/,
    );
  }
});

describe('the example of the page', () => {
  const [, head = '', body = ''] = /```http\n([^]*?)\n\n([^]*?)\n```/.exec(page) ?? [];

  it('is the example of docs/openapi.json', () => {
    expect(body).toBe(JSON.stringify(eventExamples.paid));
    const { webhooks } = JSON.parse(documentText()) as { webhooks: object };
    expect(webhooks).toHaveProperty(
      'paymentEnded.post.requestBody.content.application/json.examples.paid.value',
      eventExamples.paid,
    );
  });

  it.each(Object.entries(eventExamples))(
    'has the fields that are sent, in their order: %s',
    (status, example) => {
      expect(EventBody.strict().safeParse(example).error).toBeUndefined();
      const payment = aPayment({ id: example.payment_id, metadata: '{"seat":"12A"}' });
      const { event } = withOutcome(payment, example.status);
      expect(status).toBe(example.status);
      expect([example.event, example.event_id]).toEqual([event.kind, event.id]);
      expect(Object.keys(example)).toEqual(Object.keys(JSON.parse(event.body) as object));
    },
  );

  it('has the headers and the signature of an attempt with the secret of the page', () => {
    const { event: kind, event_id: id, created_at } = eventExamples.paid;
    const secrets = [/With the secret `(whsec_\w{43})`/.exec(page)?.[1] ?? ''];
    const event = { id, kind, body: Buffer.from(body) };
    const headers = createHeaders({
      event,
      attempt: 1,
      secrets,
      traceparent: null,
      now: new Date(created_at),
    });
    expect(head.split('\n')).toEqual(
      Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    );
  });
});

it('the page and docs/openapi.json say how soon a receiver must answer', () => {
  const ofPage = /headers within (\d+) seconds/.exec(page);
  const ofContract = /Respond within (\d+) seconds/.exec(readProjectFile('docs/openapi.json'));
  for (const found of [ofPage, ofContract]) expect(Number(found?.[1])).toBe(limits.attemptSeconds);
});

it('the page and docs/openapi.json give the delays between attempts', () => {
  const unitMs: Record<string, number> = { minute: 60_000, hour: 3_600_000 };
  const table = page.match(/^\| \d +\| .* after attempt/gm)?.join();
  const contract = readProjectFile('docs/openapi.json');
  const sentence = /after (?:\d+ (?:minute|hour)s?(?:, | and )?){2,}/.exec(contract)?.[0];
  for (const text of [table, sentence]) {
    const documented = [...(text ?? '').matchAll(/(\d+) (minute|hour)s?/g)].map(
      ([, count, unit = '']) => Number(count) * (unitMs[unit] ?? 0),
    );
    expect(documented).toEqual(limits.attemptDelaysMinutes.map((minutes) => minutes * 60_000));
  }
});
