import { z } from 'zod';

/** An object that an application sends. Unknown fields are rejected. */
export const requestObject = <Shape extends z.ZodRawShape>(shape: Shape) =>
  z.strictObject(shape, { error: 'must be an object' });

/** One of these words. */
export const oneOf = <const Word extends string>(words: readonly Word[]) =>
  z.enum(words, { error: `must be one of ${words.join(', ')}` });

/** Characters are Unicode code points, as in JSON Schema. */
export const lengthBetween = ({ min, max }: { min: number; max: number }) =>
  z
    .string({ error: 'must be a string' })
    .refine((value) => [...value].length >= min && [...value].length <= max, {
      error:
        min === 0 ? `must have at most ${max} characters` : `must have ${min} to ${max} characters`,
      params: { rule: 'length' },
    })
    .meta({ minLength: min, maxLength: max });

export const integerBetween = ({ min, max }: { min: number; max: number }) => {
  const error = `must be an integer from ${min} to ${max}, written without fraction or exponent`;
  return z.int({ error }).min(min, { error }).max(max, { error });
};

/** The API ignores a value that W3C Trace Context does not allow, so the schema allows every text. */
export const Traceparent = z.string().meta({
  description:
    'The trace of the caller (W3C Trace Context). The webhooks that follow have it too. A value that is not valid is ignored.',
});

export const IdempotencyKey = z
  .string()
  .regex(/^[\x20-\x7e]{1,255}$/)
  .meta({ description: '1 to 255 printable ASCII characters, sent once.' });
