import type { z } from 'zod';
import type { FieldError } from '../../contract/errors.ts';
import { PaymentError } from '../../contract/errors.ts';
import { fieldErrors, invalidMessage } from './validation.ts';

export type QueryReader = (text: string) => Record<string, unknown>;

/** The reader parses a query by a route's schema. @throws PaymentError VALIDATION_FAILED */
export const createQueryReader = (schema: z.ZodObject): QueryReader => {
  // One schema object for all requests: zod compiles a schema on its first use.
  const strict = schema.strict();
  return (text) => readQuery(strict, text);
};

const readQuery = (schema: z.ZodObject, text: string): Record<string, unknown> => {
  const given = new URLSearchParams(text);
  const parsed = schema.safeParse(Object.fromEntries(given));
  const repeated = repeatedNames(given)
    .filter((name) => Object.hasOwn(schema.shape, name))
    .map((path) => ({ path, rule: 'repeated', message: 'must be given once' }));
  const problems: FieldError[] = [
    ...repeated,
    ...(parsed.success ? [] : fieldErrors(parsed.error)),
  ];
  if (parsed.success && problems.length === 0) return parsed.data;
  throw new PaymentError('VALIDATION_FAILED', invalidMessage('query'), {
    details: { fields: problems },
  });
};

/** Linear in the number of names: a query has room for thousands. */
const repeatedNames = (given: URLSearchParams): string[] => {
  const seen = new Set<string>();
  const repeated = new Set<string>();
  for (const name of given.keys()) (seen.has(name) ? repeated : seen).add(name);
  return [...repeated];
};
