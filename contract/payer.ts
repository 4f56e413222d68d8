import { z } from 'zod';
import { mailAddressMax, mailAddressPattern } from './mail-address.ts';
import { requestObject } from './request-fields.ts';

/** A text of one pattern. The message quotes nothing: the value is personal. */
const textLike = (
  pattern: string,
  { maxLength, ...problem }: { maxLength: number; error: string; rule: string },
) => {
  const form = new RegExp(pattern, 'u');
  return z
    .string({ error: 'must be a string' })
    .refine((text) => [...text].length <= maxLength && form.test(text), {
      error: problem.error,
      params: { rule: problem.rule },
    })
    .meta({ pattern, maxLength });
};

/**
 * No control character and no line separator. Joiners stay: Persian names need them. The marks of direction could make a
 * name look like another one.
 */
const name =
  '^[^\\u0000-\\u001f\\u007f-\\u009f\\u061c\\u200e\\u200f\\u2028-\\u202e\\u2066-\\u2069\\ufeff]+$';
const mobile = '^(?:\\+[1-9][0-9]{6,14}|09[0-9]{9})$';
const locale = '^[A-Za-z]{2,3}(?:[\\-_][A-Za-z0-9]{1,8}){0,3}$';

/** The data that an application has of its payer. Only the gateway gets to know it. */
export const Payer = requestObject({
  mobile: textLike(mobile, {
    maxLength: 16,
    error: 'must be + and 7 to 15 digits, or 09 and 9 digits, all from 0 to 9 and without spaces',
    rule: 'mobile',
  })
    .meta({
      description: '`+` with country code and number, or an Iranian one like `09121234567`.',
    })
    .optional(),
  email: textLike(mailAddressPattern, {
    maxLength: mailAddressMax,
    error: 'must be one e-mail address of at most 254 ASCII characters',
    rule: 'email',
  })
    .meta({ description: 'One address, in ASCII.' })
    .optional(),
  name: textLike(name, {
    maxLength: 100,
    error: 'must have 1 to 100 characters, none of which controls the text',
    rule: 'name',
  })
    .meta({
      minLength: 1,
      maxLength: 100,
      description: 'The full name, without control characters.',
    })
    .optional(),
  locale: textLike(locale, {
    maxLength: 35,
    error: 'must be a language tag like fa or de-AT',
    rule: 'locale',
  })
    .meta({
      description:
        "A language tag, the first choice for the payer's pages. For one that they lack, the browser decides.",
    })
    .optional(),
}).meta({
  id: 'Payer',
  description:
    'The gateway may know this of the payer, e.g. to fill in its form. Each gateway gets the fields that it has a place for; ' +
    'all but the locale are erased as soon as the payment is opened, and no response, event or log has them.',
});
export type Payer = z.infer<typeof Payer>;
