import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text as readText } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createWebhookDispatcher } from '../../../webhooks/connector.ts';
import { post } from '../../../webhooks/request.ts';
import { createHeaders } from '../../../webhooks/signature.ts';
import { eventExamples } from '../../../api/payments/payment-examples.ts';
import { refundEventExamples } from '../../../api/refunds/refund-examples.ts';
import { limits } from '../../../contract/limits.ts';
import type { EventKind } from '../../../contract/event.ts';
import type { Payment } from '../../../contract/payment.ts';
import type { TerminalStatus } from '../../../contract/status.ts';
import { EventBody } from '../../../contract/event-schema.ts';
import { documentText } from '../../../tools/release-openapi.ts';
import { readProjectFile } from '../../support/checks/project-files.ts';
import { runProgram } from '../../support/client/run-program.ts';
import { aPayment } from '../../support/data/payments.ts';
import { withOutcome } from '../../support/data/records.ts';
import { until } from '../../support/until.ts';

const page = readProjectFile('docs/webhooks.md');
const sample = readProjectFile('docs/webhook-receiver.ts');

const program = join(import.meta.dirname, '../../../docs/webhook-receiver.ts');
const secret = `whsec_${'s'.repeat(43)}`;
const dispatcher = createWebhookDispatcher({ allowLoopback: true, timeoutMs: 10_000 });
const folder = mkdtempSync(join(tmpdir(), 'payments-receiver-'));
const lines: string[] = [];
let url = '';
let stop = async () => {};

beforeAll(async () => {
  const secretFile = join(folder, 'secret');
  writeFileSync(secretFile, `${secret}\n`);
  const child = spawn(process.execPath, [program, secretFile, '0'], { env: {} });
  const exited = once(child, 'exit');
  createInterface(child.stdout).on('line', (line) => lines.push(line));
  const port = await until('it listens', () => lines[0]?.match(/port (\d+)/)?.[1]);
  url = `http://127.0.0.1:${port}/webhook`;
  stop = async () => {
    child.kill();
    await exited;
  };
});
afterAll(async () => {
  await stop();
  await dispatcher.destroy();
  rmSync(folder, { recursive: true });
});

const anEvent = () => {
  const { event } = withOutcome(aPayment({ metadata: '{"note":"grüße 😀"}' }), 'paid');
  return { ...event, body: Buffer.from(event.body) };
};

interface Changes {
  secrets?: string[];
  aheadSeconds?: number;
  sent?: Buffer;
}

const send = async (
  event: { id: string; kind: EventKind; body: Buffer },
  { secrets = [secret], aheadSeconds = 0, sent = event.body }: Changes = {},
) => {
  const now = new Date(Date.now() + aheadSeconds * 1000);
  const headers = createHeaders({ event, attempt: 1, secrets, now });
  const signal = new AbortController().signal;
  const { responseStatus } = await post({ url, headers, body: sent, dispatcher, signal });
  return { status: responseStatus, signature: headers['X-Service-Signature'] ?? '' };
};

describe('the receiver of docs/webhooks.md', () => {
  it('is the program that this test runs', () => {
    const block = /```ts\n([\s\S]*?)\n {3}```/.exec(page)?.[1];
    expect(block?.replaceAll(/^ {3}/gm, '')).toBe(sample.trimEnd());
  });

  it.each(['', '\n', 's'.repeat(43)])('does not start with the secret %j', async (held) => {
    const file = join(folder, 'no-secret');
    writeFileSync(file, held);
    const child = spawn(process.execPath, [program, file, '0'], { env: {}, timeout: 60_000 });
    const [stderr, [code]] = await Promise.all([readText(child.stderr), once(child, 'exit')]);
    expect(code).toBe(1);
    expect(stderr).toContain('holds no whsec_… secret');
  });

  it('accepts what the service sends, and acts once on an event that comes twice', async () => {
    const event = anEvent();
    expect((await send(event)).status).toBe(204);
    expect((await send(event)).status).toBe(204);
    const { payment_id } = JSON.parse(event.body.toString()) as { payment_id: string };
    expect(lines.filter((line) => line.includes(payment_id))).toEqual([
      `payment.paid ${payment_id} for order order-1`,
    ]);
  });

  it('changes an order by a payment of its own mode, amount and currency, and takes none back', async () => {
    const now = new Date();
    const ofOrder = { orderId: 'order-1042', amount: 1250, test: false } as const;
    const event = (status: TerminalStatus, fields: Partial<Payment> = {}) => {
      const { event: made } = withOutcome(aPayment({ ...ofOrder, ...fields }), status, now);
      return { ...made, body: Buffer.from(made.body) };
    };
    const refundOf = {
      ...{ event: 'refund.failed', event_id: randomUUID(), status: 'failed' },
      order_id: 'order-1042',
      amount: 1250,
      currency: 'EUR',
      test: false,
    };
    const changes = () => lines.filter((line) => line.startsWith('Order '));
    for (const fields of [
      { test: true },
      { amount: 1 },
      { currency: 'IRR' },
      { orderId: 'order-1043' },
    ] as const)
      expect((await send(event('paid', fields))).status).toBe(204);
    expect(changes()).toEqual([]);
    expect((await send(event('failed'))).status).toBe(204);
    expect((await send(event('paid'))).status).toBe(204);
    expect((await send(event('expired'))).status).toBe(204);
    const body = Buffer.from(JSON.stringify({ ...refundEventExamples.succeeded, ...refundOf }));
    const refund = { ...event('paid'), kind: 'refund.failed' as const, body };
    expect((await send(refund)).status).toBe(204);
    await until('all are handled', () => lines.some((line) => line.startsWith('refund.failed')));
    expect(changes()).toEqual(['Order order-1042 is failed', 'Order order-1042 is paid']);
  });

  it('accepts either secret of a rotation, in both places', async () => {
    const other = `whsec_${'o'.repeat(43)}`;
    expect((await send(anEvent(), { secrets: [other, secret] })).status).toBe(204);
    expect((await send(anEvent(), { secrets: [secret, other] })).status).toBe(204);
    expect((await send(anEvent(), { secrets: [other] })).status).toBe(400);
  });

  it('refuses what is more than 300 s away, to both sides', async () => {
    const statuses: (number | null)[] = [];
    for (const aheadSeconds of [-310, -290, 290, 310])
      statuses.push((await send(anEvent(), { aheadSeconds })).status);
    expect(statuses).toEqual([400, 204, 204, 400]);
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
      const { signature } = await send(event, { aheadSeconds });
      const verifying = () => verify(event.body, signature, secret);
      if (isGenuine) expect(verifying()).toEqual(JSON.parse(event.body.toString()));
      else expect(verifying).toThrow(/future|tolerance/);
      expect(() => verify(Buffer.from('{}'), signature, secret)).toThrow(
        /future|tolerance|signature/,
      );
    }
  });
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
    const headers = createHeaders({ event, attempt: 1, secrets, now: new Date(created_at) });
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
