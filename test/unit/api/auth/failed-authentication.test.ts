import { describe, expect, it } from 'vitest';
import { createAddressLimiter } from '../../../../api/http/address-limiter.ts';
import { createAuthenticate } from '../../../../api/auth/authentication.ts';
import type { Caller } from '../../../../postgres/tokens.ts';
import { aCaller } from '../../../support/caller.ts';
import { until } from '../../../support/until.ts';

const good = `svc_test_${'g'.repeat(43)}`;
const otherGood = `svc_test_${'h'.repeat(43)}`;
const wrong = (nth: number) => `svc_test_${String(nth).padStart(43, '0')}`;

/** Authentication by a database that answers when it is told to, and what is logged of it. */
const anApi = () => {
  const lookups: { token: string; answer: (caller: Caller | undefined) => void }[] = [];
  const lines: unknown[] = [];
  let time = 0;
  const authenticate = createAuthenticate({
    tokens: {
      authenticate(token) {
        const { promise, resolve } = Promise.withResolvers<Caller | undefined>();
        lookups.push({ token, answer: resolve });
        return promise;
      },
    },
    failures: createAddressLimiter({ perMinute: 20, now: () => time }),
    logger: { warn: (...line: unknown[]) => void lines.push(line) },
  });
  /** The answer's code, or the application. */
  const ask = async (token: string, address = '192.0.2.1'): Promise<unknown> => {
    const credentials = { authorization: `Bearer ${token}`, address, tell() {} };
    return authenticate(credentials).then(
      ({ application }) => application,
      ({ code }: { code: string }) => code,
    );
  };
  const answerAll = () => {
    for (const { token, answer } of lookups.splice(0))
      answer([good, otherGood].includes(token) ? aCaller() : undefined);
  };
  const answered = async (token: string, address?: string) => {
    const answer = ask(token, address);
    answerAll();
    return answer;
  };
  return {
    ...{ lookups, lines, ask, answerAll, answered },
    nextMinute: () => (time += 60_000),
    async useUp() {
      for (let nth = 1; nth <= 20; nth += 1)
        expect(await answered(wrong(nth))).toBe('INVALID_TOKEN');
    },
  };
};

describe('an address that has used up its failures', () => {
  it('costs four lookups at once, whatever it sends, and no more than 500 wait', async () => {
    const { ask, lookups, answerAll, useUp } = anApi();
    await useUp();
    const tries = Array.from({ length: 600 }, (_, nth) => ask(wrong(nth)));
    expect(lookups).toHaveLength(4);
    const refused = Promise.all(tries.slice(504));
    expect(new Set(await refused)).toEqual(new Set(['RATE_LIMITED']));
    for (let turn = 0; turn < 504 / 4; turn += 1) {
      await until('the next come', () => lookups.length === 4);
      answerAll();
    }
    expect(new Set(await Promise.all(tries))).toEqual(new Set(['RATE_LIMITED']));
    expect(lookups).toHaveLength(0);
  });

  it('costs one line of the log for its minute', async () => {
    const { answered, lines, nextMinute, useUp } = anApi();
    await useUp();
    expect(lines).toHaveLength(20);
    for (let nth = 0; nth < 50; nth += 1) await answered(nth % 2 ? wrong(nth) : 'nonsense');
    expect(lines.slice(20)).toEqual([
      [{ token_prefix: 'malformed' }, expect.stringContaining('too often from this address')],
    ]);
    nextMinute();
    await answered(wrong(1));
    expect(lines).toHaveLength(22);
  });

  it('does not keep a valid token from passing, in its turn', async () => {
    const { ask, answerAll, lookups, useUp } = anApi();
    await useUp();
    const attack = Array.from({ length: 20 }, (_, nth) => ask(wrong(nth)));
    const calls = [ask(good), ask(otherGood)];
    for (let turn = 0; turn < 6; turn += 1) {
      await until('the next come', () => lookups.length > 0);
      answerAll();
    }
    expect(await Promise.all(calls)).toEqual(['shop', 'shop']);
    expect(new Set(await Promise.all(attack))).toEqual(new Set(['RATE_LIMITED']));
  });
});
