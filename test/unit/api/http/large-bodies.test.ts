import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { AnyRequest } from '../../../../api/http/route.ts';
import { toPlainValue } from '../../../../contract/json.ts';
import { serve } from '../../../support/http-application.ts';

/** Sends bodies of 15 to 64 KB, 40 at once and 400 in all, no two alike. @returns those read otherwise */
const mixedUpBy = async (read: (request: AnyRequest) => Promise<unknown[]>) => {
  const sent = new Map<string, string>();
  const mixedUp: string[] = [];
  const { url } = await serve(
    {
      createPayment: async (request) => {
        await sleep(Math.random() * 20);
        const key = request.header('idempotency-key') ?? '';
        for (const value of await read(request)) if (value !== sent.get(key)) mixedUp.push(key);
        return { status: 201 };
      },
    },
    { requestsMax: 40 },
  );
  let answered = 0;
  const lane = async (_: unknown, index: number) => {
    for (let turn = 0; turn < 10; turn += 1) {
      const key = `${100 + index}-${turn}`;
      const value = `${key} `.repeat(2_200 + ((index * 7 + turn) % 50) * 140);
      sent.set(key, value);
      const headers = { 'content-type': 'application/json', 'idempotency-key': key };
      const body = JSON.stringify(value);
      const { status } = await fetch(`${url}/api/v1/payments`, { method: 'POST', headers, body });
      if (status === 201) answered += 1;
    }
  };
  await Promise.all(Array.from({ length: 40 }, lane));
  expect(answered).toBe(400);
  return mixedUp;
};

describe('large bodies at once', () => {
  it('are read as they were sent', async () => {
    expect(await mixedUpBy(async ({ readJson }) => [toPlainValue(await readJson())])).toEqual([]);
  });

  it('are not mixed up where one is read twice', async () => {
    const twice = async ({ readJson }: AnyRequest) =>
      (await Promise.all([readJson(), readJson()])).map(toPlainValue);
    expect(await mixedUpBy(twice)).toEqual([]);
  });
});
