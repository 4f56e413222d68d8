import { describe, expect, it } from 'vitest';
import { PaymentError } from '../../../../contract/errors.ts';
import { eventId, newReplayId } from '../../../../contract/ids.ts';
import { aCaller } from '../../../support/data/a-caller.ts';
import { serve } from '../../../support/servers/http-application.ts';
import type { Answer } from '../../../support/service/journey.ts';
import { startService } from '../../../support/service/service.ts';
import { noticeOf } from '../../../support/service/stripe-account.ts';
import { until } from '../../../support/until.ts';
import { forFile } from '../../../support/for-file.ts';

/** Renamed, as if a release went out before its migration. */
const tables = ['tokens', 'payments', 'gateways', 'sandbox_payments'];

const service = await forFile(startService());
const journey = (await service.anApplication()).journey;
const id = await journey.atGateway();
await service.worker.stop();
for (const table of tables)
  await service.sql.unsafe(`alter table ${table} rename to ${table}_of_the_next_version`);

const body = { order_id: 'o', amount: 1, currency: 'EUR' };
const replay = { from: '2026-11-01', to: '2026-11-01' };
const forApplications: Record<string, () => Promise<Answer>> = {
  me: () => journey.request('GET', '/api/v1/me'),
  create: () => journey.request('POST', '/api/v1/payments', body),
  list: () => journey.request('GET', '/api/v1/payments'),
  get: () => journey.get(id),
  verify: () => journey.verify(id),
  listEvents: () => journey.request('GET', '/api/v1/events'),
  getEvent: () => journey.request('GET', `/api/v1/events/${eventId(id)}`),
  replayEvent: () => journey.request('POST', `/api/v1/events/${eventId(id)}/replay`),
  createReplay: () => journey.request('POST', '/api/v1/replays', replay),
  getReplay: () => journey.request('GET', `/api/v1/replays/${newReplayId()}`),
  stopReplay: () => journey.request('POST', `/api/v1/replays/${newReplayId()}/stop`),
  testWebhook: () => journey.request('POST', '/api/v1/webhook/test', {}),
  notification: () =>
    journey.call('POST', '/api/v1/gateways/stripe/notifications', noticeOf('cs_test_x')),
};
const forPayers: Record<string, () => Promise<Answer>> = {
  checkout: () => journey.checkout(id),
  return: () => journey.comeBack(id),
  postedReturn: () => journey.call('POST', `/api/v1/payments/${id}/return`),
  sandbox: () => journey.call('GET', `/api/v1/sandbox/${id}`),
  choose: () => journey.choose(id, 'pay'),
};

/** Waits for the cause in the log, with the id of the request. */
const isLogged = (requestId: string | null) =>
  until('the cause is logged', () =>
    service.api.lines.some(
      (line) => line.includes(`"${requestId}"`) && line.includes('does not exist'),
    ),
  );

describe('an unexpected error', () => {
  it.each(Object.entries(forApplications))(
    'answers INTERNAL without its cause: %s',
    async (_, send) => {
      const { status, json, headers } = await send();
      expect(status).toBe(500);
      const requestId = headers.get('x-request-id');
      expect(json).toEqual({
        error: {
          code: 'INTERNAL',
          message: 'The service has failed to handle the request.',
          request_id: requestId,
        },
      });
      await isLogged(requestId);
    },
  );

  it.each(Object.entries(forPayers))('answers a payer with a page: %s', async (_, send) => {
    const { status, text, headers } = await send();
    expect(status).toBe(500);
    expect(text).toMatch(/^<!doctype html>/);
    expect(text).toContain('The service has failed to handle the request.');
    expect(text).not.toMatch(/relation|does not exist|payments\.ts/);
    const requestId = headers.get('x-request-id');
    expect(text).toContain(requestId);
    await isLogged(requestId);
  });
});

it.each([
  [500, new TypeError('x is undefined')],
  [503, new PaymentError('SERVICE_UNAVAILABLE', 'Try again later.')],
])('includes the budget headers in a response with %i', async (status, error) => {
  const caller = aCaller(7);
  const { url } = await serve(
    { getApplication: () => Promise.reject(error) },
    {
      authenticate: async ({ onBudget }) => {
        onBudget(caller.budget);
        return caller;
      },
    },
  );
  const answer = await fetch(`${url}/api/v1/me`);
  expect(answer.status).toBe(status);
  expect(answer.headers.get('x-ratelimit-limit')).toBe('120');
  expect(answer.headers.get('x-ratelimit-remaining')).toBe('113');
});
