import { expect, it } from 'vitest';
import { z } from 'zod';
import { createQueryReader } from '../../../../api/http/query.ts';
import { PaymentError } from '../../../../contract/errors.ts';

const read = createQueryReader(z.object({ page: z.string().optional() }));

const fieldsOf = (text: string) => {
  try {
    read(text);
  } catch (error) {
    if (error instanceof PaymentError) return error.details?.fields ?? [];
    throw error;
  }
  return [];
};

it('reports each repeated name once, and an unknown one as that alone', () => {
  const fields = fieldsOf('page=1&page=2&page=3&a=1&b=1&a=2');
  expect(fields.map(({ path, rule }) => [path, rule])).toEqual([
    ['page', 'repeated'],
    ['a', 'unknown_field'],
    ['b', 'unknown_field'],
  ]);
});

it('takes time in proportion to the number of names', () => {
  const cpuMs = (queries: number, names: number) => {
    const text = Array.from({ length: names }, (_, index) => `n${index}`).join('&');
    const before = process.cpuUsage();
    for (let query = 0; query < queries; query += 1) fieldsOf(text);
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1000;
  };
  let [inMany, inOne] = [0, 0];
  for (let round = 0; round < 4; round += 1) {
    inMany += cpuMs(64, 500);
    inOne += cpuMs(1, 32_000);
  }
  // As many names in one query as in 64: 64 times the work if each is compared with all others.
  expect(inOne / inMany).toBeLessThan(12);
});
