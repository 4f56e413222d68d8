import { describe, expect, it } from 'vitest';
import { createAddressLimiter } from '../../api/address-limiter.ts';
import { createAuthenticate } from '../../api/authentication.ts';
import type { Caller } from '../../postgres/tokens.ts';
import { aCaller } from '../support/caller.ts';
import { until } from '../support/until.ts';

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
  it('costs two lookups at once, whatever it sends', async () => {
    const { ask, lookups, answerAll, useUp } = anApi();
    await useUp();
    const tries = Array.from({ length: 200 }, (_, nth) => ask(wrong(nth)));
    expect(lookups).toHaveLength(2);
    answerAll();
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

  it('is told in the log also where nothing was looked up for it', async () => {
    const { ask, lines, answerAll, useUp } = anApi();
    await useUp();
    const tries = [ask(wrong(1)), ask(wrong(2)), ask(wrong(3))];
    expect(await tries[2]).toBe('RATE_LIMITED');
    expect(lines).toHaveLength(21);
    answerAll();
    await Promise.all(tries);
    expect(lines).toHaveLength(21);
  });

  it('does not keep a token from passing that was good before, and each is looked up', async () => {
    const { ask, answered, answerAll, lookups, useUp } = anApi();
    expect(await answered(good)).toBe('shop');
    await useUp();
    const attack = [ask(wrong(1)), ask(wrong(2))];
    const calls = [ask(good), ask(good), ask(good)];
    expect(lookups).toHaveLength(5);
    expect(await ask(otherGood)).toBe('RATE_LIMITED');
    answerAll();
    expect(await Promise.all(calls)).toEqual(['shop', 'shop', 'shop']);
    await Promise.all(attack);
    expect(await answered(otherGood)).toBe('shop');
  });

  it('gets nothing by a token that was good and is revoked', async () => {
    const { ask, answered, lookups, useUp } = anApi();
    expect(await answered(good)).toBe('shop');
    await useUp();
    const revoked = ask(good);
    lookups.splice(0).forEach(({ answer }) => answer(undefined));
    expect(await revoked).toBe('RATE_LIMITED');
    void Array.from({ length: 10 }, () => ask(good));
    await until('they are refused', () => lookups.length > 0);
    expect(lookups).toHaveLength(2);
  });
});
