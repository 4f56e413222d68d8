import { z } from 'zod';
import { asciiDigits } from './digits.ts';
import { isMailAddress } from './mail-address.ts';
import { requestObject } from './request-fields.ts';

export const payerFields = ['mobile', 'email', 'name', 'locale'] as const;
type PayerField = (typeof payerFields)[number];

const textAbout = (description: string) =>
  z.string({ error: 'must be a string' }).optional().meta({ description });

/** The data that an application has of its payer. Only the gateway gets to know it. */
export const Payer = requestObject({
  mobile: textAbout(
    '`+` or `00`, country code and number, or an Iranian one like `09121234567`; with separators, in the digits of any script.',
  ),
  email: textAbout(
    'One address of at most 254 characters. Only its domain may have letters beyond ASCII.',
  ),
  name: textAbout('The full name: 1 to 100 characters, none of which controls the text.'),
  locale: textAbout(
    "A language tag like `fa`, `de-AT` or `en_US.UTF-8`, the first choice for the payer's pages. For one that they lack, the browser decides.",
  ),
}).meta({
  id: 'Payer',
  description:
    'The gateway may know this of the payer, e.g. to fill in its form. It costs no payment: what the service cannot use is left ' +
    'out, and `payer_ignored` of the response names the field; an empty text counts as not sent. Each gateway gets the fields that ' +
    'it has a place for; all but the locale are erased as soon as the payment is opened, and no response, event or log has them.',
});
export type Payer = z.infer<typeof Payer>;

/** Blanks and marks that nobody sees. The joiners stay: they are a part of the last letter in some scripts. */
const around = /^(?:\s|(?![\u200c\u200d])\p{Cf})+|(?:\s|(?![\u200c\u200d])\p{Cf})+$/gu;
/** A slash separates two numbers unless digits touch it. */
const separators = /[\s\p{Cf}\p{Pd}\u2212().]|(?<=\d)\/(?=\d)/gu;

const mobileOf = (text: string): string | undefined => {
  const typed = asciiDigits(text).replaceAll('\uff0b', '+').replace(/^tel:/i, '');
  // "(0)" is dialled within the country alone.
  const dialled = /^\(?\s*(?:\+|00)/.test(typed) ? typed.replace(/\(\s*0\s*\)/, '') : typed;
  const number = dialled
    .replaceAll(separators, '')
    .replace(/^\+?00/, '+')
    // No number but an Iranian mobile one begins so and is as long.
    .replace(/^\+?980?(9\d{9})$/, '+98$1');
  return /^(?:\+(?!98)[1-9]\d{6,14}|\+989\d{9}|09\d{9})$/.test(number) ? number : undefined;
};

const emailOf = (text: string): string | undefined => {
  const [, local = '', domain = ''] = /^([^@]+)@([^@]+?)\.?$/.exec(text) ?? [];
  const isInternational = /^(?=.*\p{L})(?=.*\P{ASCII})[\p{L}\p{M}\p{N}\p{Cf}.。．｡-]+$/u.test(
    domain,
  );
  const host = isInternational ? URL.parse(`http://${domain}`)?.hostname : domain;
  const address = `${asciiDigits(local)}@${host ?? ''}`;
  return isMailAddress(address) ? address : undefined;
};

/**
 * No control character and no line separator. Joiners stay: Persian names need them. The marks of direction could make a
 * name look like another one.
 */
const controls = /[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/u;
const visible = /[^\p{Z}\p{C}\p{M}\p{DI}\u2800]/u;

const nameOf = (text: string): string | undefined =>
  [...text].length <= 100 && visible.test(text) && !controls.test(text) ? text : undefined;

const localeOf = (text: string): string | undefined => {
  // An encoding, or a variant of a system.
  const tag = text.replace(/[.@][\w.@=-]*$/, '');
  return tag.length <= 35 && /^[A-Za-z]{2,3}(?:[-_][A-Za-z0-9]{1,8}){0,3}$/.test(tag)
    ? tag
    : undefined;
};

const usable = { mobile: mobileOf, email: emailOf, name: nameOf, locale: localeOf };
/** No usable text is longer. */
const sentMax = 1_000;

/** Reads the data that gateways and pages can use, written in one way, and names the fields that nobody can use. */
export const readSentPayer = (
  sent: Payer | undefined,
): { payer: Payer | undefined; ignored: PayerField[] } => {
  const payer: Payer = {};
  const ignored: PayerField[] = [];
  for (const field of payerFields) {
    const text = sent?.[field] ?? '';
    if (text === '') continue;
    const value = text.length > sentMax ? undefined : usable[field](text.replaceAll(around, ''));
    if (value === undefined) ignored.push(field);
    else payer[field] = value;
  }
  return { payer: sent && payer, ignored };
};
