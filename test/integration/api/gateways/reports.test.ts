import { randomBytes } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { beforeEach, describe, expect, it } from 'vitest';
import { rawRequest } from '../../../support/servers/raw-http.ts';
import { refusalOf } from '../../../support/service/answers.ts';
import type { Answer } from '../../../support/service/journey.ts';
import { refund, refundBecomes } from '../../../support/service/refunds.ts';
import { countEvents } from '../../../support/service/scripted-worker.ts';
import { useOwnApi } from '../../../support/service/service.ts';
import { addStripe } from '../../../support/service/stripe-account.ts';
import { sweepNow } from '../../../support/service/sweep-now.ts';
import { until } from '../../../support/until.ts';
import { forFile } from '../../../support/for-file.ts';

const service = await forFile(useOwnApi({ TRUSTED_PROXIES: '127.0.0.1' }));
const stripe = await forFile(addStripe(service, 'stripe-of-reports'));
const { journey } = await service.anApplication();

/** Each test has another client address, because failures are limited by address. */
let tests = 0;
beforeEach(() => {
  tests += 1;
});

const keys: string[] = [];
/** Gives a payment the address that the worker gives those at drivers with reports. */
const withKey = async ({ id, reference }: { id: string; reference: string }) => {
  const key = randomBytes(24).toString('base64url');
  keys.push(key);
  await service.sql`update payments set report_key = ${key} where id = ${id}`;
  return { id, reference, path: `/api/v1/payments/${id}/reports/${key}` };
};
const sent = async () => withKey(await stripe.sent(journey));
const paid = async () => withKey(await stripe.paid(journey));

const allAnswers: Answer[] = [];
const report = async (
  path: string,
  { headers, ...request }: Parameters<typeof rawRequest>[1] = {},
): Promise<Answer> => {
  const answer = await rawRequest(`${service.url}${path}`, {
    ...request,
    headers: { 'x-forwarded-for': `10.11.${tests >> 8}.${tests & 255}`, ...headers },
  });
  allAnswers.push(answer);
  return answer;
};
const accepted = { status: 200, text: '' };
const unknown = [404, 'NOT_FOUND'];
const statusIs = (id: string, status: string) =>
  until(`it is ${status}`, async () => (await journey.get(id)).json['status'] === status);
const asked = (reference: string) =>
  stripe.calls.filter((call) => call.path.includes(reference)).length;
const large = 'x'.repeat(1_000_000);

describe('a report on a payment', () => {
  it('has the gateway asked, whose answer alone counts', async () => {
    const { id, reference, path } = await sent();
    const before = asked(reference);
    expect(await report(path, { body: 'id=tr_1&status=paid' })).toMatchObject(accepted);
    await until('Stripe is asked', () => asked(reference) > before);
    expect((await journey.get(id)).json['status']).toBe('pending');
    stripe.pay(reference);
    expect(await report(path)).toMatchObject(accepted);
    await statusIs(id, 'paid');
  });

  it.each([
    ['without a body', {}],
    ['of JSON', { body: '{"id":1}', headers: { 'content-type': 'application/json' } }],
    ['of no known type', { body: '\0', headers: { 'content-type': 'a b; c' } }],
    ['that is compressed', { body: gzipSync('id=1'), headers: { 'content-encoding': 'gzip' } }],
    ['of 1 MB', { body: large }],
    ['of 1 MB in chunks', { body: [large] }],
  ])('answers 200 to one %s, which nobody reads', async (_, request) => {
    const { id, reference, path } = await sent();
    stripe.pay(reference);
    expect(await report(path, request)).toMatchObject(accepted);
    await statusIs(id, 'paid');
  });

  it('answers 404 to a key that is not that of the payment, and asks nobody', async () => {
    const [one, other] = [await sent(), await sent()];
    const { id, reference } = await stripe.sent(journey);
    const before = [one.reference, other.reference, reference].map(asked);
    const [key = '', otherKey = ''] = [one, other].map(({ path }) => path.split('/').at(-1));
    for (const [payment, given] of [
      [one.id, otherKey],
      [other.id, key],
      [one.id, key.toLowerCase()],
      [one.id, `${key}%00`],
      [one.id, '%ff'],
      [id, key],
      [id, 'null'],
      ['PAY_01K9Z5W6X7Y8ZABCDEFGHJKMNP', key],
      ['x', key],
    ])
      expect(refusalOf(await report(`/api/v1/payments/${payment}/reports/${given}`))).toEqual(
        unknown,
      );
    expect([one.reference, other.reference, reference].map(asked)).toEqual(before);
  });

  it('answers 429 after 20 wrong keys from an address in a minute; the right one is still accepted', async () => {
    const { path } = await sent();
    const answers: unknown[] = [];
    for (let count = 0; count < 22; count += 1) answers.push(refusalOf(await report(`${path}x`)));
    const limited = [429, 'RATE_LIMITED'];
    expect(answers).toEqual([...Array.from({ length: 20 }, () => unknown), limited, limited]);
    expect(await report(path)).toMatchObject(accepted);
  });

  it('changes nothing by GET or HEAD, with which a provider looks whether the address exists', async () => {
    const { reference, path } = await sent();
    const before = asked(reference);
    const looked = await report(path, { method: 'GET' });
    expect(refusalOf(looked)).toEqual([405, 'METHOD_NOT_ALLOWED']);
    expect(looked.headers.get('allow')).toBe('POST');
    expect((await report(path, { method: 'HEAD' })).status).toBe(405);
    expect(asked(reference)).toBe(before);
  });

  it('passes on 20 of 200 at once, so that the history stays short', async () => {
    const { id, reference, path } = await sent();
    const handle = service.client.workflow.getHandle(id);
    const before = asked(reference);
    const answers = await Promise.all(Array.from({ length: 200 }, () => report(path)));
    const count = (status: number) => answers.filter((each) => each.status === status).length;
    expect([count(200), count(429)]).toEqual([20, 180]);
    const limited = answers.find(({ status }) => status === 429);
    expect(limited?.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
    const signals = await countEvents(handle, 'workflowExecutionSignaledEventAttributes');
    expect(signals).toBe(20);
    // Another payment has reports of its own.
    const { path: another } = await sent();
    expect(await report(another)).toMatchObject(accepted);
    // One inquiry serves those that came while the one before ran.
    expect(asked(reference) - before).toBeLessThan(40);
  });

  it('finds money that came after the end', async () => {
    const { id, reference, path } = await sent();
    await journey.request('POST', `/api/v1/payments/${id}/cancel`);
    await statusIs(id, 'cancelled');
    const entry = stripe.book.get(reference)!; // Its payer was sent there.
    Object.assign(entry, { state: 'complete paid succeeded', charged: 1 });
    expect(await report(path)).toMatchObject(accepted);
    await until('the money is back', () => entry.reversed === 1);
    expect((await journey.get(id)).json['status']).toBe('cancelled');
  });

  it('has the refunds of a paid payment looked at: ours, and those of the dashboard', async () => {
    const { id, reference, path } = await paid();
    stripe.refundsAre('pending');
    const { json } = await refund(journey, id, { amount: 500 });
    const refundId = String(json['refund_id']);
    const made = await until('the refund', () =>
      stripe.refunds.find((entry) => entry.refundId === refundId),
    );
    await until('it is accepted', async () => {
      const found = await journey.request('GET', `/api/v1/refunds/${refundId}`);
      return found.json['stage'] === 'accepted';
    });
    made.state = 'succeeded';
    expect(await report(path)).toMatchObject(accepted);
    await refundBecomes(journey, refundId, 'succeeded');
    // The bank sends the money back.
    Object.assign(made, { state: 'failed', reason: 'expired_or_canceled_card' });
    expect(await report(path)).toMatchObject(accepted);
    await refundBecomes(journey, refundId, 'failed');
    stripe.refundsAre();
    stripe.refundAtDashboard(reference, 300);
    expect(await report(path)).toMatchObject(accepted);
    await until(
      'the refund of the dashboard',
      async () => (await journey.get(id)).json['amount_refunded'] === 300,
    );
  });

  it('has the disputes of a paid payment looked at', async () => {
    const { id, reference, path } = await paid();
    stripe.dispute(reference, 'needs_response', { amount: 1000 });
    expect(await report(path)).toMatchObject(accepted);
    await sweepNow(service.client);
    await until('it is held', async () => (await journey.get(id)).json['amount_disputed'] === 1000);
  });

  it('never shows a key in an answer or the log', async () => {
    const { id, path } = await sent();
    await report(path);
    await report(path, { method: 'GET' });
    await report(`${path}/x`);
    const { headers } = await report(path.replace(/reports.*/, `reports/${keys[0]}`));
    const last = headers.get('x-request-id') ?? 'none';
    await until('the last request is logged', () =>
      service.api.lines.some((line) => line.includes(last)),
    );
    const shown = [(await journey.get(id)).text, ...service.api.lines];
    for (const { text, headers: given } of allAnswers) shown.push(JSON.stringify([text, ...given]));
    for (const key of keys) expect(shown.filter((text) => text.includes(key))).toEqual([]);
    expect(service.api.lines.join('\n')).toContain('/payments/:payment_id/reports/:report_key');
  });
});
