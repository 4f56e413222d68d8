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

it('reports each repeated name once', () => {
  const fields = fieldsOf('page=1&page=2&page=3&a=1&b=1&a=2');
  expect(fields.map(({ path, rule }) => [path, rule])).toEqual([
    ['page', 'repeated'],
    ['a', 'repeated'],
    ['a', 'unknown_field'],
    ['b', 'unknown_field'],
  ]);
});

it('takes time in proportion to the number of names', () => {
  const cpuMs = (count: number) => {
    const text = Array.from({ length: count }, (_, index) => `n${index}`).join('&');
    const before = process.cpuUsage();
    fieldsOf(text);
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1000;
  };
  // A request head has room for 4,000 names. Many tries in turn: another process may take the cache away.
  const tries = Array.from({ length: 20 }, () => ({ few: cpuMs(500), many: cpuMs(4_000) }));
  const least = (pick: (each: { few: number; many: number }) => number) =>
    Math.min(...tries.map(pick));
  // 8 times as many names: 64 times the work if each is compared with all others.
  expect(least(({ many }) => many) / least(({ few }) => few)).toBeLessThan(20);
});
