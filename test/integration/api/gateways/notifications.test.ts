import { setTimeout as sleep } from 'node:timers/promises';
import * as fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import { problemsOf, refusalOf } from '../../../support/service/answers.ts';
import { createJourney, type Answer } from '../../../support/service/journey.ts';
import { createWatch } from '../../../support/service/metrics.ts';
import { rawConnection, rawRequest } from '../../../support/servers/raw-http.ts';
import { useOwnApi } from '../../../support/service/service.ts';
import { addStripe, noticeOf, signed } from '../../../support/service/stripe-account.ts';
import { until } from '../../../support/until.ts';
import { forFile } from '../../../support/for-file.ts';

const service = await forFile(useOwnApi({ TRUSTED_PROXIES: '127.0.0.1' }));
const account = 'stripe-of-notifications';
const stripe = await forFile(addStripe(service, account));
const journey = createJourney(service, (await service.anApplication()).token);
/** The gateway's reference of a payment that was sent to Stripe. */
const reference = stripe.referenceOf(await journey.atGateway({ gateway: account }));
/** The reference of a payment about which no notification is accepted. */
const quiet = stripe.referenceOf(await journey.atGateway({ gateway: account }));
const callsAboutQuiet = () => stripe.calls.filter((call) => call.path.includes(quiet)).length;

let sent = 0;
/** Each test has another client address, because failures are limited by address. */
let address = '';
const newAddress = () => {
  sent += 1;
  address = `10.9.${(sent >> 8) & 255}.${sent & 255}`;
};
beforeEach(newAddress);

/** The responses of all tests. */
const allAnswers: Answer[] = [];
const post = async (
  body: string | readonly string[],
  headers: Record<string, string>,
  { gateway = account, url = service.url } = {},
): Promise<Answer> => {
  const answer = await rawRequest(`${url}/api/v1/gateways/${gateway}/notifications`, {
    body,
    headers: { 'x-forwarded-for': address, ...headers },
  });
  allAnswers.push(answer);
  return answer;
};
const unsigned = [422, 'VALIDATION_FAILED'];

describe('a notification', () => {
  it('answers 200 without a body to a notification that Stripe has signed', async () => {
    const { body, headers } = noticeOf(reference);
    expect(await post(body, headers)).toMatchObject({ status: 200, text: '' });
  });

  it('answers 200 to a notification about an unknown payment, counts and logs it', async () => {
    const { body, headers } = noticeOf('cs_test_ofanotherservice');
    const name = 'payments_notifications_total';
    const labels = { gateway: account, payment: 'unknown' };
    const counted = { name, part: 'api', labels } as const;
    await createWatch(service.metricsUrls).grow([counted], async () => {
      expect(await post(body, headers)).toMatchObject({ status: 200 });
    });
    const line = await until('it is logged', () =>
      service.api.lines.find((text) =>
        text.includes('A gateway reported that an unknown payment changed'),
      ),
    );
    expect(JSON.parse(line)).toMatchObject({ gateway: account, level: 30 });
  });

  it.each(['{}', 'not JSON', ''])(
    'answers 200 to a signed notification that reports no change: %j',
    async (text) => {
      expect(await post(text, signed(text))).toMatchObject({ status: 200 });
    },
  );

  const now = Math.floor(Date.now() / 1000);
  it.each([
    ['no one', { body: noticeOf('cs_test_x').body, headers: {} }],
    ['another secret', noticeOf('cs_test_x', { secret: 'whsec_of_another_one' })],
    [
      'a signature of other bytes',
      { ...noticeOf('cs_test_x'), headers: noticeOf('cs_test_y').headers },
    ],
    ['an old timestamp, like a replay', noticeOf('cs_test_x', { timestamp: now - 400 })],
  ])(
    'answers 422 to a notification signed with %s, and does not ask the gateway',
    async (_, { body, headers }) => {
      const calls = callsAboutQuiet();
      const answer = await post(body.replace('cs_test_x', quiet), headers);
      expect(refusalOf(answer)).toEqual(unsigned);
      expect(problemsOf(answer)).toMatchObject([{ path: 'signature', rule: 'signature' }]);
      expect(callsAboutQuiet()).toBe(calls);
    },
  );

  it('answers 404 for an unknown gateway, or one without notifications', async () => {
    const { body, headers } = noticeOf(reference);
    for (const gateway of ['nobody', 'sandbox', '%00', '%ff'])
      expect(refusalOf(await post(body, headers, { gateway }))).toEqual([404, 'NOT_FOUND']);
  });

  it('answers 413 to a notification over 64 KB, and 415 to a compressed one', async () => {
    const large = 'x'.repeat(64 * 1024 + 1);
    for (const body of [large, [large, large]])
      expect(refusalOf(await post(body, signed(large)))).toEqual([413, 'PAYLOAD_TOO_LARGE']);
    const { body, headers } = noticeOf(reference);
    const answer = await post(body, { ...headers, 'content-encoding': 'gzip' });
    expect(refusalOf(answer)).toEqual([415, 'UNSUPPORTED_MEDIA_TYPE']);
  });

  it('answers 429 after 20 unsigned notifications from an address in a minute; a signed one is still accepted', async () => {
    const forged = noticeOf(reference, { secret: 'whsec_of_another_one' });
    const answers: unknown[] = [];
    for (let count = 0; count < 22; count += 1)
      answers.push(refusalOf(await post(forged.body, forged.headers)));
    const limited = [429, 'RATE_LIMITED'];
    expect(answers).toEqual([...Array.from({ length: 20 }, () => unsigned), limited, limited]);
    const { body, headers } = noticeOf(reference);
    const elsewhere = await post(body, headers, { gateway: 'nobody' });
    expect(refusalOf(elsewhere)).toEqual(limited);
    expect(elsewhere.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
    expect(await post(body, headers)).toMatchObject({ status: 200 });
  });

  it('lets a signed notification wait for a slot behind four slow bodies of the same address', async () => {
    const forged = noticeOf(reference, { secret: 'whsec_of_another_one' });
    for (let count = 0; count < 20; count += 1) await post(forged.body, forged.headers);
    const slow = await Promise.all([1, 2, 3, 4].map(() => rawConnection(service.url)));
    for (const { socket } of slow)
      socket.write(
        `POST /api/v1/gateways/${account}/notifications HTTP/1.1\r\nhost: x\r\nconnection: close\r\n` +
          `x-forwarded-for: ${address}\r\ncontent-length: 1000\r\n\r\n`,
      );
    const { body, headers } = noticeOf(reference);
    const waitsForSlot = async () => {
      const before = allAnswers.length;
      const answer = post(body, headers);
      await Promise.race([answer, sleep(1_000)]);
      // On a slow machine any request takes that long; others that pass it show that it waits.
      const elsewhere = { ...headers, 'x-forwarded-for': '10.8.0.1' };
      for (let count = 1; count <= 3; count += 1)
        expect(await post(body, elsewhere)).toMatchObject({ status: 200 });
      return allAnswers.length === before + 3 && { answer };
    };
    const { answer } = await until('all four slots are taken', waitsForSlot);
    slow[0]?.socket.destroy();
    expect((await answer).status).toBe(200);
    for (const { socket } of slow) socket.destroy();
  });

  it('answers 503 to a notification without NOTIFICATIONS_KEY, so that the gateway repeats it', async () => {
    const { url } = await service.anotherApi({ NOTIFICATIONS_KEY: '' });
    const { body, headers } = noticeOf(reference);
    const answer = await post(body, headers, { url });
    expect(refusalOf(answer)).toEqual([503, 'SERVICE_UNAVAILABLE']);
    expect(answer.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
  });

  it('rejects a notification when a single byte differs', async () => {
    const right = noticeOf(quiet);
    const parts = [right.body, right.headers['stripe-signature'] ?? ''] as const;
    const changed = fc
      .record({ part: fc.nat(1), at: fc.nat(), to: fc.integer({ min: 0x20, max: 0x7e }) })
      .map(({ part, at, to }) => {
        const given = [...parts];
        const text = given[part] ?? '';
        const index = at % text.length;
        given[part] = text.slice(0, index) + String.fromCharCode(to) + text.slice(index + 1);
        return given;
      })
      // Some changes leave both parts equal.
      .filter((given) => given.join() !== parts.join());
    const calls = callsAboutQuiet();
    await fc.assert(
      fc.asyncProperty(changed, async ([body = '', signature = '']) => {
        newAddress();
        const answer = await post(body, { 'stripe-signature': signature });
        expect(refusalOf(answer)).toEqual(unsigned);
      }),
      { numRuns: 100 },
    );
    expect(callsAboutQuiet()).toBe(calls);
  });

  it('never reveals the signing secret in a response or the log', async () => {
    const { body, headers } = noticeOf(reference, { secret: 'whsec_of_another_one' });
    const { headers: last } = await post(body, headers);
    const id = last.get('x-request-id') ?? 'none';
    await until('the last request is logged', () =>
      service.api.lines.some((line) => line.includes(id)),
    );
    expect(service.api.lines.join('\n')).not.toContain('whsec_');
    for (const { text, headers: given } of allAnswers)
      expect(JSON.stringify([text, ...given])).not.toContain('whsec_');
  });
});
