import { symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { createHeaders } from '../../../webhooks/signature.ts';
import { eventExamples } from '../../../api/payments/payment-examples.ts';
import { limits } from '../../../contract/limits.ts';
import { EventBody } from '../../../contract/event-schema.ts';
import { documentText } from '../../../tools/release-openapi.ts';
import { readProjectFile } from '../../support/checks/project-files.ts';
import { runProgram } from '../../support/client/run-program.ts';
import { aPayment } from '../../support/data/payments.ts';
import { withOutcome } from '../../support/data/records.ts';
import { aFolder } from '../../support/stack/support.ts';

const page = readProjectFile('docs/webhooks.md');

it("the page's program for Stripe's library compiles, and verifies the same signatures", async () => {
  const [, code = ''] = /```ts\n(import Stripe[\s\S]*?)```/.exec(page) ?? [];
  const folder = aFolder();
  symlinkSync(join(import.meta.dirname, '../../../node_modules'), join(folder, 'node_modules'));
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  const file = join(folder, 'verify.ts');
  writeFileSync(file, code);
  const compilerOptions = { module: 'nodenext', types: ['node'], strict: true, noEmit: true };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions }));
  expect(runProgram('typescript/bin/tsc', ['-p', folder])).toBe('');
  const { verify } = (await import(pathToFileURL(file).href)) as {
    verify: (body: Buffer, signature: string, key: string) => unknown;
  };
  const secret = `whsec_${'s'.repeat(43)}`;
  const { event } = withOutcome(aPayment({ metadata: '{"note":"grüße 😀"}' }), 'paid');
  const body = Buffer.from(event.body);
  for (const [aheadSeconds, isGenuine] of [
    [-310, false],
    [-290, true],
    [290, true],
    [310, false],
    [Date.now(), false],
  ] as const) {
    const now = new Date(Date.now() + aheadSeconds * 1000);
    const signed = { id: event.id, kind: event.kind, body };
    const to = { attempt: 1, secrets: [secret], traceparent: null, now };
    const signature = createHeaders({ event: signed, ...to })['X-Service-Signature'] ?? '';
    const verifying = () => verify(body, signature, secret);
    if (isGenuine) expect(verifying()).toEqual(JSON.parse(event.body));
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
  const list = page.match(/^- attempt \d+: after .*/gm)?.join();
  const contract = readProjectFile('docs/openapi.json');
  const sentence = /after (?:\d+ (?:minute|hour)s?(?:, | and )?){2,}/.exec(contract)?.[0];
  for (const text of [list, sentence]) {
    const documented = [...(text ?? '').matchAll(/(\d+) (minute|hour)s?/g)].map(
      ([, count, unit = '']) => Number(count) * (unitMs[unit] ?? 0),
    );
    expect(documented).toEqual(limits.attemptDelaysMinutes.map((minutes) => minutes * 60_000));
  }
});
