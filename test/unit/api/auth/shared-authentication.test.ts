import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { shareAuthentication } from '../../../../api/auth/shared-authentication.ts';
import type { Caller } from '../../../../postgres/tokens.ts';
import { aCaller } from '../../../support/caller.ts';

/** Statements that answer when they are told to. */
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

describe('requests of one token at the same time', () => {
  it('share the statement after the one that runs, and each has its own number', async () => {
    const { statements, authenticate } = aDatabase();
    const first = authenticate('a');
    const others = [authenticate('a'), authenticate('a'), authenticate('a')];
    const elsewhere = authenticate('b');
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
    expect(await elsewhere).toBeUndefined();
  });

  it('are judged by a statement that began after they came', async () => {
    const { statements, authenticate } = aDatabase();
    const before = authenticate('a');
    const after = authenticate('a');
    statements[0]!.answer.resolve(aCaller(1));
    expect(await before).toBeDefined();
    await expect.poll(() => statements.length).toBe(2);
    statements[1]!.answer.resolve(undefined); // Revoked meanwhile.
    expect(await after).toBeUndefined();
  });

  it('have one number where they are not counted: those of a disabled application', async () => {
    const { statements, authenticate } = aDatabase();
    const all = [authenticate('a'), authenticate('a'), authenticate('a')];
    statements[0]!.answer.resolve({ ...aCaller(7), disabled: true });
    await expect.poll(() => statements.length).toBe(2);
    statements[1]!.answer.resolve({ ...aCaller(7), disabled: true });
    expect((await Promise.all(all)).map((one) => one?.budget.used)).toEqual([7, 7, 7]);
  });

  it('fail together when Postgres is away, and the next one asks again', async () => {
    const { statements, authenticate } = aDatabase();
    const failing = [authenticate('a'), authenticate('a')];
    statements[0]!.answer.reject(new Error('away'));
    for (const { status } of await Promise.allSettled(failing)) expect(status).toBe('rejected');
    const next = authenticate('a');
    statements[1]!.answer.resolve(aCaller(1));
    expect((await next)?.budget.used).toBe(1);
  });

  it('leave nothing in memory, however long they come without a pause', async () => {
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
