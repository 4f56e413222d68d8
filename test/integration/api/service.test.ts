import { describe, expect, it } from 'vitest';
import { eventId } from '../../../contract/ids.ts';
import { createJourney, type Answer } from '../../support/service/journey.ts';
import { startOwnPostgres } from '../../support/servers/own-postgres.ts';
import { startService } from '../../support/service/service.ts';
import { addStripe, noticeOf } from '../../support/service/stripe-account.ts';
import { until } from '../../support/until.ts';
import { forFile } from '../../support/for-file.ts';

const postgres = await startOwnPostgres({ log_statement: 'all', log_line_prefix: '%a: ' });
const service = await forFile(startService({ database: postgres }));
await forFile(addStripe(service));

/** The statements that the API sent during `work`, without those of its timers and after a response. */
const statementsOf = async (work: () => Promise<unknown>): Promise<string[]> => {
  const from = postgres.lines.length;
  await work();
  const mark = `mark ${from}`;
  await postgres.sql.unsafe(`select '${mark}'`);
  await until('the log is written', () =>
    postgres.lines.slice(from).some((line) => line.includes(mark)),
  );
  const text = postgres.lines.slice(from).join('\n');
  return [...text.matchAll(/^payments-api: LOG: {2}(?:execute [^:]*|statement): ([^]*?)(?=\n\S)/gm)]
    .map(([, statement = '']) => statement.replaceAll(/\s+/g, ' ').trim())
    .filter(
      (statement) =>
        !/^(delete from workflow_outbox|select clock_timestamp|select b.oid, b.typarray from pg_catalog.pg_type|select count\(\*\) from \( select from workflow_outbox)/.test(
          statement,
        ),
    );
};

it('a request takes two statements for a create or a read, one for /me and none for a malformed token', async () => {
  const { journey } = await service.anApplication();
  let id = '';
  const create = await statementsOf(async () => (id = await journey.create()));
  expect(create).toEqual([
    expect.stringMatching(/^with token as .*request_counts/),
    expect.stringMatching(/^with key as .*insert into payments/),
  ]);
  const withKey = await statementsOf(() =>
    journey.request(
      'POST',
      '/api/v1/payments',
      { order_id: 'o', amount: 1, currency: 'EUR', gateway: 'sandbox' },
      { 'idempotency-key': 'k' },
    ),
  );
  expect(withKey).toHaveLength(2);
  expect(await statementsOf(() => journey.get(id))).toHaveLength(2);
  expect(await statementsOf(() => journey.request('GET', '/api/v1/payments'))).toHaveLength(2);
  expect(await statementsOf(() => journey.request('GET', '/api/v1/me'))).toHaveLength(1);
  expect(await statementsOf(() => createJourney(service, 'nonsense').get(id))).toHaveLength(0);
});

describe.each(['stopped', 'frozen'])('while Postgres is %s', (how) => {
  const disturb = async () => {
    if (how === 'frozen') return postgres.freeze();
    await postgres.stop();
    return async () => void (await postgres.start());
  };

  it('every route answers 503 soon, and works again when Postgres is back', async () => {
    const { journey } = await service.anApplication();
    const id = await journey.atGateway();
    const event = `/api/v1/events/${eventId(await journey.finish('pay'))}`;
    const day = { from: '2026-11-01', to: '2026-11-01' };
    const started = await journey.request('POST', '/api/v1/replays', day);
    const replay = `/api/v1/replays/${String(started.json['replay_id'])}`;
    const body = { order_id: 'o', amount: 1, currency: 'EUR' };
    const requests: Record<string, () => Promise<Answer>> = {
      me: () => journey.request('GET', '/api/v1/me'),
      create: () => journey.request('POST', '/api/v1/payments', body),
      list: () => journey.request('GET', '/api/v1/payments'),
      get: () => journey.get(id),
      verify: () => journey.verify(id),
      listEvents: () => journey.request('GET', '/api/v1/events'),
      getEvent: () => journey.request('GET', event),
      countReplay: () => journey.request('POST', '/api/v1/replays', { ...day, dry_run: true }),
      getReplay: () => journey.request('GET', replay),
      stopReplay: () => journey.request('POST', `${replay}/stop`),
      checkout: () => journey.checkout(id),
      return: () => journey.comeBack(id),
      sandbox: () => journey.call('GET', `/api/v1/sandbox/${id}`),
      choose: () => journey.choose(id, 'pay'),
      postedReturn: () => journey.call('POST', `/api/v1/payments/${id}/return`),
      notification: () =>
        journey.call('POST', '/api/v1/gateways/stripe/notifications', noticeOf('cs_test_x')),
    };
    const restore = await disturb();
    try {
      for (let round = 1; round <= 3; round += 1)
        await Promise.all(
          Object.entries(requests).map(async ([name, send]) => {
            const startedAt = performance.now();
            const answer = await send();
            // The query timeout is 1.5 s; a busy machine needs more.
            expect(performance.now() - startedAt, name).toBeLessThan(8_000);
            expect(answer.status, `${name}: ${answer.text}`).toBe(503);
            expect(answer.headers.get('retry-after'), name).toMatch(/^[1-9]\d*$/);
            if (['checkout', 'return', 'postedReturn', 'sandbox', 'choose'].includes(name))
              expect(answer.text).toMatch(/^<!doctype html>/);
            else expect(answer.json['error']).toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
          }),
        );
    } finally {
      await restore();
    }
    for (const [name, send] of Object.entries(requests))
      await until(`${name} works again`, async () => (await send()).status < 400);
  });
});
