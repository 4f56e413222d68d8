import type { z } from 'zod';
import { fieldErrors } from '../contract/create-payment.ts';
import type { FieldError } from '../contract/errors.ts';
import { PaymentError } from '../contract/errors.ts';

/** Parses query parameters by a row's schema. @throws PaymentError VALIDATION_FAILED */
export const readQuery = (schema: z.ZodObject, text: string): Record<string, unknown> => {
  const given = new URLSearchParams(text);
  const names = [...new Set(given.keys())];
  const parsed = schema.strict().safeParse(Object.fromEntries(given));
  const problems: FieldError[] = [
    ...names
      .filter((name) => given.getAll(name).length > 1)
      .map((path) => ({ path, rule: 'repeated', message: 'must be given once' })),
    ...(parsed.success ? [] : fieldErrors(parsed.error)),
  ];
  if (parsed.success && problems.length === 0) return parsed.data;
  throw new PaymentError('VALIDATION_FAILED', 'The query is not valid, see details.fields.', {
    details: { fields: problems },
  });
};
