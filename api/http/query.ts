import type { z } from 'zod';
import { fieldErrors } from '../../contract/create-payment.ts';
import type { FieldError } from '../../contract/errors.ts';
import { PaymentError } from '../../contract/errors.ts';

export type ReadQuery = (text: string) => Record<string, unknown>;

/** Parses query parameters by a row's schema. @throws PaymentError VALIDATION_FAILED */
export const createQueryReader = (schema: z.ZodObject): ReadQuery => {
  // Once: zod compiles a schema when it is first used.
  const strict = schema.strict();
  return (text) => readQuery(strict, text);
};

const readQuery = (schema: z.ZodObject, text: string): Record<string, unknown> => {
  const given = new URLSearchParams(text);
  const parsed = schema.safeParse(Object.fromEntries(given));
  const problems: FieldError[] = [
    ...repeatedNames(given).map((path) => ({
      path,
      rule: 'repeated',
      message: 'must be given once',
    })),
    ...(parsed.success ? [] : fieldErrors(parsed.error)),
  ];
  if (parsed.success && problems.length === 0) return parsed.data;
  throw new PaymentError('VALIDATION_FAILED', 'The query is not valid, see details.fields.', {
    details: { fields: problems },
  });
};

/** In one pass: a query may have thousands of names, and to look for each would take as many. */
const repeatedNames = (given: URLSearchParams): string[] => {
  const seen = new Set<string>();
  const repeated = new Set<string>();
  for (const name of given.keys()) (seen.has(name) ? repeated : seen).add(name);
  return [...repeated];
};
