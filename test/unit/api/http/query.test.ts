import { expect, it } from 'vitest';
import { z } from 'zod';
import { toErrorReply } from '../../../../api/http/errors.ts';
import { createQueryReader } from '../../../../api/http/query.ts';
import { errorResponses } from '../../../../contract/responses.ts';
import { newRequestId } from '../../../../contract/ids.ts';

const read = createQueryReader(z.object({ page: z.string().optional() }));

const problemOf = (text: string): unknown => {
  try {
    return read(text);
  } catch (error) {
    return error;
  }
};

const answerTo = async (text: string) => {
  const logger = { error: expect.unreachable };
  const { body = '' } = await toErrorReply(problemOf(text), {
    requestId: newRequestId(),
    route: undefined,
    logger,
  });
  // It holds an answer to the same number of problems.
  errorResponses.VALIDATION_FAILED.parse(JSON.parse(String(body)));
  const { error } = JSON.parse(String(body)) as {
    error: { message: string; details: { fields: { path: string; rule: string }[] } };
  };
  return { length: body.length, message: error.message, fields: error.details.fields };
};

const names = (count: number) => Array.from({ length: count }, (_, index) => `n${index}`);
const madeUp = (count: number) => names(count).join('&');

it('tells each name that is given more than once, once', async () => {
  const { fields } = await answerTo('page=1&page=2&page=3&a=1&b=1&a=2');
  expect(fields.map(({ path, rule }) => [path, rule])).toEqual([
    ['page', 'repeated'],
    ['a', 'repeated'],
    ['a', 'unknown_field'],
    ['b', 'unknown_field'],
  ]);
});

it('reads as many names as a head can hold without keeping others waiting', () => {
  const text = madeUp(4_000);
  const tookMs = Array.from({ length: 3 }, () => {
    const began = performance.now();
    problemOf(text);
    return performance.now() - began;
  });
  // About 5 ms; where each name is looked for in all of them, 200.
  expect(Math.min(...tookMs)).toBeLessThan(60);
});

it('tells 50 problems, and of more the first 50 and how many there are', async () => {
  const all = await answerTo(madeUp(50));
  expect(all.fields.map(({ path }) => path)).toEqual(names(50));
  expect(all.message).toBe('The query is not valid, see details.fields.');
  const some = await answerTo(madeUp(4_000));
  expect(some.fields).toEqual(all.fields);
  expect(some.message).toContain('the first 50 of 4000.');
  expect(some.length).toBeLessThan(5_000);
});
