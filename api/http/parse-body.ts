import type { z } from 'zod';
import { fieldErrors } from '../../contract/create-payment.ts';
import { type JsonNode, toPlainValue } from '../../contract/json.ts';
import type { Refuse } from './route.ts';

/** Parses a body by its schema. @throws PaymentError VALIDATION_FAILED with every problem at once */
export const parseBody = <Schema extends z.ZodType>(
  schema: Schema,
  body: JsonNode,
  refuse: Refuse<'VALIDATION_FAILED'>,
): z.output<Schema> => {
  const parsed = schema.safeParse(toPlainValue(body));
  if (parsed.success) return parsed.data;
  throw refuse('VALIDATION_FAILED', 'The body is not valid, see details.fields.', {
    details: { fields: fieldErrors(parsed.error) },
  });
};
