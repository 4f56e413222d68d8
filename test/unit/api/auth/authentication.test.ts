import { describe, expect, it } from 'vitest';
import { createAuthenticate } from '../../../../api/auth/authentication.ts';
import { createRateLimiter } from '../../../../api/http/rate-limiter.ts';
import type { Caller } from '../../../../postgres/applications/tokens.ts';
import { aCaller } from '../../../support/data/a-caller.ts';
import { until } from '../../../support/until.ts';

const good = `svc_test_${'g'.repeat(43)}`;
const otherGood = `svc_test_${'h'.repeat(43)}`;
const wrong = (nth: number) => `svc_test_${String(nth).padStart(43, '0')}`;

/** Authentication with a database that answers on command, and the lines that it logs. */
const anApi = () => {
  const lookups: { token: string; answer: PromiseWithResolvers<Caller | undefined> }[] = [];
  const lines: unknown[] = [];
  let time = 0;
  const authenticate = createAuthenticate({
    tokens: {
      authenticate(token) {
        const answer = Promise.withResolvers<Caller | undefined>();
        lookups.push({ token, answer });
        return answer.promise;
      },
    },
    failures: createRateLimiter({ perMinute: 20, now: () => time }),
    logger: { warn: (...line: unknown[]) => void lines.push(line) },
  });
  /** Starts a request. @returns its error code, or the application */
  const start = async (token: string, address = '192.0.2.1'): Promise<unknown> => {
    const credentials = { authorization: `Bearer ${token}`, address, onBudget() {} };
    return authenticate(credentials).then(
      ({ application }) => application,
      ({ code }: { code: string }) => code,
    );
  };
  const answerLookups = () => {
    for (const { token, answer } of lookups.splice(0))
      answer.resolve([good, otherGood].includes(token) ? aCaller() : undefined);
  };
  const request = async (token: string, address?: string) => {
    const result = start(token, address);
    answerLookups();
    return result;
  };
  return {
    lookups,
    lines,
    start,
    answerLookups,
    request,
    nextMinute: () => (time += 60_000),
    /** Within its limit an address has as many lookups at a time as it wants. */
    async reachLimit(address?: string) {
      const requests = Array.from({ length: 20 }, (_, nth) => start(wrong(nth), address));
      expect(lookups).toHaveLength(20);
      answerLookups();
      expect(new Set(await Promise.all(requests))).toEqual(new Set(['INVALID_TOKEN']));
    },
  };
};

describe('an address at its limit of failures', () => {
  it('gets four lookups at a time, and 500 requests wait at most', async () => {
    const { start, lookups, answerLookups, reachLimit } = anApi();
    await reachLimit();
    const requests = Array.from({ length: 600 }, (_, nth) => start(wrong(nth)));
    expect(lookups).toHaveLength(4);
    const rejected = Promise.all(requests.slice(504));
    expect(new Set(await rejected)).toEqual(new Set(['RATE_LIMITED']));
    for (let turn = 0; turn < 504 / 4; turn += 1) {
      await until('the next lookups start', () => lookups.length === 4);
      answerLookups();
    }
    expect(new Set(await Promise.all(requests))).toEqual(new Set(['RATE_LIMITED']));
    expect(lookups).toHaveLength(0);
  });

  it('delays no other address, and a slot passes on after a lookup that fails', async () => {
    const { start, lookups, answerLookups, reachLimit } = anApi();
    for (const address of ['192.0.2.1', '192.0.2.2']) await reachLimit(address);
    const requests = [1, 2, 3, 4, 5].map((nth) => start(wrong(nth)));
    requests.push(start(wrong(6), '192.0.2.2'));
    expect(lookups).toHaveLength(5);
    lookups.shift()?.answer.reject(Object.assign(new Error('It failed'), { code: 'FAILED' }));
    expect(await requests[0]).toBe('FAILED');
    await until('the slot passes on', () => lookups.length === 5);
    answerLookups();
    expect(new Set(await Promise.all(requests.slice(1)))).toEqual(new Set(['RATE_LIMITED']));
  });

  it('adds one line to the log for the rest of its minute', async () => {
    const { request, lines, nextMinute, reachLimit } = anApi();
    await reachLimit();
    expect(lines).toHaveLength(20);
    for (let nth = 0; nth < 50; nth += 1) await request(nth % 2 ? wrong(nth) : 'nonsense');
    expect(lines.slice(20)).toEqual([
      [{ token_prefix: 'malformed' }, expect.stringContaining('too often from this address')],
    ]);
    nextMinute();
    await request(wrong(1));
    expect(lines).toHaveLength(22);
  });

  it('can still use a valid token while it sends wrong ones', async () => {
    const { start, answerLookups, lookups, reachLimit } = anApi();
    await reachLimit();
    const attack = Array.from({ length: 20 }, (_, nth) => start(wrong(nth)));
    const valid = [start(good), start(otherGood)];
    for (let turn = 0; turn < 6; turn += 1) {
      await until('the next lookups start', () => lookups.length > 0);
      answerLookups();
    }
    expect(await Promise.all(valid)).toEqual(['shop', 'shop']);
    expect(new Set(await Promise.all(attack))).toEqual(new Set(['RATE_LIMITED']));
  });
});
