import { describe, expect, it } from 'vitest';
import { errorOf, refusalOf } from '../../../support/service/answers.ts';
import { createJourney, type Answer } from '../../../support/service/journey.ts';
import { useOwnApi } from '../../../support/service/service.ts';
import { until } from '../../../support/until.ts';
import { forFile } from '../../../support/for-file.ts';

const service = await forFile(
  useOwnApi({ PAYER_PAGES_PER_MINUTE: '60', TRUSTED_PROXIES: '127.0.0.1' }),
);
const secondUrl = (await service.anotherApi()).url;

const remaining = ({ headers }: Answer) => headers.get('x-ratelimit-remaining');

/** Seconds left of the database's clock minute. */
const secondsLeft = async () => {
  const [row] = await service.sql<{ left: number }[]>`
    select (60 - extract(second from clock_timestamp()))::float8 as left`;
  return row?.left ?? 0;
};

/**
 * Runs within one clock minute; repeats if the minute ends before the work does. It may wait some seconds for the next
 * one: Postgres counts by its own clock, and a count that begins at a minute's end is none of one minute.
 */
const withinOneMinute = async <T>(work: () => Promise<T>): Promise<T> => {
  for (;;) {
    await until('a minute has time left', async () => (await secondsLeft()) > 10, 60_000);
    const startedAt = Date.now();
    const leftMs = (await secondsLeft()) * 1000;
    const result = await work();
    if (Date.now() - startedAt < leftMs) return result;
  }
};

/** A client at this address, behind a trusted proxy. */
const from = (address: string, token: string) => {
  const { call } = createJourney(service, token);
  const forwarded = { 'x-forwarded-for': address };
  return {
    call: (path: string, method = 'GET') => call(method, path, { headers: forwarded }),
    me: (bearer = token) =>
      call('GET', '/api/v1/me', {
        headers: { ...forwarded, authorization: `Bearer ${bearer}` },
      }),
  };
};

describe('the request budget of an application', () => {
  it('allows exactly 120 of 500 requests in a clock minute, over two tokens and two processes', async () => {
    const answers = await withinOneMinute(async () => {
      const { token, issue } = await service.anApplication({ requestsPerMinute: 120 });
      const callers = [token, await issue('live')].flatMap((bearer) =>
        [service.url, secondUrl].map((url) => createJourney({ url }, bearer)),
      );
      return Promise.all(
        Array.from({ length: 500 }, (_, index) =>
          (callers[index % 4] ?? createJourney(service, '')).request('GET', '/api/v1/me'),
        ),
      );
    });
    const allowed = answers.filter(({ status }) => status === 200);
    const rejected = answers.filter(({ status }) => status === 429);
    expect([allowed.length, rejected.length]).toEqual([120, 380]);
    const left = allowed.map((answer) => Number(remaining(answer)));
    expect(left.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 120 }, (_, n) => n));
    for (const answer of rejected) {
      const { code, details } = errorOf(answer);
      expect(code).toBe('RATE_LIMITED');
      expect(details.retry_after).toBeGreaterThanOrEqual(1);
      expect(details.retry_after).toBeLessThanOrEqual(60);
      expect(answer.headers.get('retry-after')).toBe(String(details.retry_after));
      expect(answer.headers.get('x-ratelimit-limit')).toBe('120');
      expect(remaining(answer)).toBe('0');
    }
  });

  it('is in the headers of every authenticated response, errors included, and of no other', async () => {
    const answers = await withinOneMinute(async () => {
      const { application, token } = await service.anApplication({ requestsPerMinute: 50 });
      const set = (status: string) =>
        service.sql`update applications set status = ${status} where slug = ${application}`;
      const { request } = createJourney(service, token);
      const payments = '/api/v1/payments';
      const me = () => request('GET', '/api/v1/me');
      const active = [
        await me(),
        await request('POST', payments, { order_id: 'o', amount: 1, currency: 'EUR' }),
        await request('POST', payments, '{'),
        await request('POST', payments, {}),
        await request('POST', payments, 'x'.repeat(70_000)),
        await request('POST', payments, {}, { 'content-type': 'text/plain' }),
        await request('GET', `${payments}?page=0`),
        await request('GET', `${payments}/PAY_01J00000000000000000000000`),
      ];
      await set('disabled');
      const disabled = await Promise.all([me(), me(), me()]);
      await set('active');
      return [...active, ...disabled, await me()];
    });
    expect(answers.map(({ status }) => status)).toEqual([
      200, 201, 400, 422, 413, 415, 422, 404, 403, 403, 403, 200,
    ]);
    // The three requests of the disabled application are not counted.
    expect(answers.map((answer) => Number(remaining(answer)))).toEqual([
      49, 48, 47, 46, 45, 44, 43, 42, 42, 42, 42, 41,
    ]);
    for (const { headers } of answers) expect(headers.get('x-ratelimit-limit')).toBe('50');

    const unknown = await from('203.0.113.1', `svc_test_${'0'.repeat(43)}`).me();
    expect(unknown.headers.get('x-ratelimit-limit')).toBeNull();
  });

  it('changes from the next request on when an admin sets it, and starts again with a new minute', async () => {
    const { application, token } = await service.anApplication({ requestsPerMinute: 1 });
    const { request } = createJourney(service, token);
    const me = () => request('GET', '/api/v1/me');
    const set = (count: number) => service.sql`
      update applications set requests_per_minute = ${count} where slug = ${application}`;
    await withinOneMinute(async () => {
      await set(1);
      await service.sql`delete from request_counts where application = ${application}`;
      expect([(await me()).status, (await me()).status]).toEqual([200, 429]);
      await set(4);
      const third = await me();
      expect([third.status, remaining(third)]).toEqual([200, '1']);
      expect(third.headers.get('x-ratelimit-limit')).toBe('4');
      await set(2);
      expect((await me()).status).toBe(429);
    });
    await service.sql`
      update request_counts set minute = minute - 1 where application = ${application}`;
    expect(remaining(await me())).toBe('1');
  });
});

describe('failed authentication', () => {
  const wrong = `svc_test_${'0'.repeat(43)}`;

  it('gets 429 after 20 failures from one /64 of IPv6; a valid token from there still works', async () => {
    const { token } = await service.anApplication();
    const site = '2001:db8:0:7:';
    const client = from(`${site}ffff::1`, wrong);
    for (let failure = 1; failure <= 20; failure += 1) {
      // What the client itself puts before its address does not count.
      const host = from(`2001:db8:0:${failure}::1, ${site}:${failure}`, wrong);
      const answer = failure % 2 === 0 ? await host.me() : await host.call('/api/v1/me');
      expect(answer.status).toBe(401);
    }
    for (const answer of [
      await client.me(),
      await client.me('nonsense'),
      await client.call('/api/v1/me'),
    ]) {
      expect(refusalOf(answer)).toEqual([429, 'RATE_LIMITED']);
      const { details } = errorOf(answer);
      expect(details.retry_after).toBeGreaterThanOrEqual(1);
      expect(answer.headers.get('retry-after')).toBe(String(details.retry_after));
      expect(answer.headers.get('x-ratelimit-limit')).toBeNull();
    }
    expect(await client.me(token)).toMatchObject({ status: 200 });
    expect(await from('2001:db8:0:8::1', wrong).me()).toMatchObject({ status: 401 });
    const other = createJourney({ url: secondUrl }, wrong).call('GET', '/api/v1/me', {
      headers: { 'x-forwarded-for': `${site}:1` },
    });
    expect(await other).toMatchObject({ status: 401 });
  });

  it('adds one line for the address and one for its request to the log after the limit', async () => {
    const client = from('203.0.113.23', wrong);
    const failures = Array.from({ length: 60 }, () => client.me());
    const ids = (await Promise.all(failures)).map(({ headers }) => headers.get('x-request-id'));
    const last = (await from('203.0.113.24', wrong).me()).headers.get('x-request-id');
    const linesOf = (id: string | null) =>
      service.api.lines.filter((line) => line.includes(`"${id}"`)).length;
    await until('the last request is logged', () => linesOf(last) === 2);
    expect(ids.map(linesOf).filter((count) => count > 0)).toEqual(Array(21).fill(2));
  });

  it('counts a disabled application, and logs the prefix of its token', async () => {
    const { application, token } = await service.anApplication();
    await service.sql`update applications set status = 'disabled' where slug = ${application}`;
    const client = from('203.0.113.22', token);
    for (let failure = 1; failure <= 20; failure += 1)
      expect(await client.me()).toMatchObject({ status: 403 });
    expect(await client.me()).toMatchObject({ status: 429 });
    const prefix = token.slice(0, 13);
    const isNamed = () => service.api.lines.some((line) => line.includes(`"${prefix}"`));
    await until('the prefix is logged', isNamed);
  });
});

it("payers' pages of a payment get 429 after 60 requests in a minute from one address, and those of others there do not", async () => {
  const { token } = await service.anApplication();
  const journey = createJourney(service, token);
  const [id, other] = [await journey.atGateway(), await journey.atGateway()];
  const client = from('203.0.113.60', token);
  const pagesOf = (of: string) => [
    `/api/v1/payments/${of}/checkout`,
    `/api/v1/payments/${of}/return`,
    `/api/v1/sandbox/${of}`,
  ];
  const all = pagesOf(id);
  const answers = await Promise.all(
    Array.from({ length: 60 }, (_, turn) => client.call(all[turn % all.length] ?? '')),
  );
  expect(answers.map(({ status }) => status)).not.toContain(429);
  for (const path of all) {
    const answer = await client.call(path);
    expect(answer.status).toBe(429);
    expect(answer.text).toMatch(/^<!doctype html>/);
    expect(answer.headers.get('retry-after')).toMatch(/^[1-9]\d?$/);
    // A returning payer continues without a click, and does not read of a failure.
    expect(answer.headers.get('refresh')).toBe(answer.headers.get('retry-after'));
    expect(answer.text).toMatch(/<h1>One moment, please<[^]*This page reloads by itself/);
    const posted = await client.call(path, 'POST');
    expect(posted.status).toBe(path.endsWith('checkout') ? 405 : 429);
  }
  expect(await client.me()).toMatchObject({ status: 200 });
  expect((await from('203.0.113.61', token).call(all[0] ?? '')).status).toBe(303);
  // Another payer behind the same address.
  expect((await client.call(pagesOf(other)[0] ?? '')).status).toBe(302);
});

it('links that belong to no payment get 429 after 60 requests in a minute from one address', async () => {
  const client = from('203.0.113.62', '');
  const answers = await Promise.all(
    Array.from({ length: 61 }, (_, turn) => client.call(`/api/v1/sandbox/unknown-${turn}`)),
  );
  const statuses = answers.map(({ status }) => status);
  expect(statuses.filter((status) => status === 404)).toHaveLength(60);
  expect(statuses.filter((status) => status === 429)).toHaveLength(1);
});

it('links of mails share that limit', async () => {
  const client = from('203.0.113.63', '');
  const link = `/api/v1/notices/${'x'.repeat(43)}`;
  const answers = await Promise.all(Array.from({ length: 61 }, () => client.call(link)));
  expect(answers.filter(({ status }) => status === 404).length).toBeGreaterThanOrEqual(60);
  for (const path of [link, `${link}/confirm`])
    for (const method of ['GET', 'POST'])
      // A minute may end between two of them.
      await until(
        `${method} ${path} is refused`,
        async () => (await client.call(path, method)).status === 429,
      );
});
