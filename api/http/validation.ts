import type { z } from 'zod';
import { fieldErrors } from '../../contract/create-payment.ts';
import type { FieldError, PaymentError } from '../../contract/errors.ts';
import { type JsonNode, toPlainValue } from '../../contract/json.ts';
import type { Refuse } from './route.ts';

export const invalidMessage = (part: 'body' | 'query'): string =>
  `The ${part} is not valid, see details.fields.`;

/** Makes the error for a body with these problems. */
export const invalidBody = (
  refuse: Refuse<'VALIDATION_FAILED'>,
  fields: readonly FieldError[],
): PaymentError => refuse('VALIDATION_FAILED', invalidMessage('body'), { details: { fields } });

/** Parses a body by its schema. @throws PaymentError VALIDATION_FAILED with every problem at once */
export const parseBody = <Schema extends z.ZodType>(
  schema: Schema,
  body: JsonNode,
  refuse: Refuse<'VALIDATION_FAILED'>,
): z.output<Schema> => {
  const parsed = schema.safeParse(toPlainValue(body));
  if (parsed.success) return parsed.data;
  throw invalidBody(refuse, fieldErrors(parsed.error));
};
