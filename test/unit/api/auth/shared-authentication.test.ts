import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { shareAuthentication } from '../../../../api/auth/shared-authentication.ts';
import type { Caller } from '../../../../postgres/tokens.ts';
import { aCaller } from '../../../support/data/a-caller.ts';

/** Shared authentication over statements that a test resolves. */
const aDatabase = () => {
  const statements: {
    token: string;
    requests: number | undefined;
    answer: PromiseWithResolvers<Caller | undefined>;
  }[] = [];
  const shared = shareAuthentication({
    authenticate(token, requests) {
      const answer = Promise.withResolvers<Caller | undefined>();
      statements.push({ token, requests, answer });
      return answer.promise;
    },
  });
  return { statements, authenticate: (token: string) => shared.authenticate(token) };
};

describe('concurrent requests of one token', () => {
  it('share the next statement, and each gets its own number', async () => {
    const { statements, authenticate } = aDatabase();
    const first = authenticate('a');
    const others = [authenticate('a'), authenticate('a'), authenticate('a')];
    const otherToken = authenticate('b');
    expect(statements.map(({ token, requests }) => [token, requests])).toEqual([
      ['a', 1],
      ['b', 1],
    ]);

    statements[0]!.answer.resolve(aCaller(7));
    expect((await first)?.budget.used).toBe(7);
    await expect.poll(() => statements.length).toBe(3);
    expect(statements[2]).toMatchObject({ token: 'a', requests: 3 });
    statements[2]!.answer.resolve(aCaller(10));
    expect((await Promise.all(others)).map((one) => one?.budget.used)).toEqual([8, 9, 10]);

    statements[1]!.answer.resolve(undefined);
    expect(await otherToken).toBeUndefined();
  });

  it('are decided by a statement that began after they arrived', async () => {
    const { statements, authenticate } = aDatabase();
    const before = authenticate('a');
    const after = authenticate('a');
    statements[0]!.answer.resolve(aCaller(1));
    expect(await before).toBeDefined();
    await expect.poll(() => statements.length).toBe(2);
    statements[1]!.answer.resolve(undefined); // The token was revoked.
    expect(await after).toBeUndefined();
  });

  it('share one number for a disabled application, which is not counted', async () => {
    const { statements, authenticate } = aDatabase();
    const all = [authenticate('a'), authenticate('a'), authenticate('a')];
    statements[0]!.answer.resolve({ ...aCaller(7), disabled: true });
    await expect.poll(() => statements.length).toBe(2);
    statements[1]!.answer.resolve({ ...aCaller(7), disabled: true });
    expect((await Promise.all(all)).map((one) => one?.budget.used)).toEqual([7, 7, 7]);
  });

  it('fail together when Postgres is away, and the next request starts a new statement', async () => {
    const { statements, authenticate } = aDatabase();
    const failing = [authenticate('a'), authenticate('a')];
    statements[0]!.answer.reject(new Error('connection lost'));
    for (const { status } of await Promise.allSettled(failing)) expect(status).toBe('rejected');
    const next = authenticate('a');
    statements[1]!.answer.resolve(aCaller(1));
    expect((await next)?.budget.used).toBe(1);
  });

  it('do not accumulate memory while requests keep coming', async () => {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    const heapAt: Record<number, number> = {};
    let statements = 0;
    const { authenticate } = shareAuthentication({
      async authenticate() {
        statements += 1;
        if (statements % 20_000 === 0) {
          collect();
          heapAt[statements] = process.memoryUsage().heapUsed;
        }
        await new Promise((resolve) => setImmediate(resolve));
        return aCaller(1);
      },
    });
    const client = async () => {
      while (statements < 60_000) await authenticate('a');
    };
    await Promise.all([client(), client(), client()]);
    expect((heapAt[60_000]! - heapAt[20_000]!) / 40_000).toBeLessThan(50);
  });
});
