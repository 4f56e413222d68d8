import type { Payer } from '../contract/payer.ts';

/** A mobile number as Iranian providers write it. Undefined for one of another country, which they refuse. */
export const iranianMobile = (payer: Payer | null | undefined): string | undefined => {
  const [, digits] = /^(?:\+98|0)(9\d{9})$/.exec(payer?.mobile ?? '') ?? [];
  return digits === undefined ? undefined : `0${digits}`;
};

/**
 * The fields of a payer that a request has. `undefined` for none, so that a request without a payer is what it was.
 * Providers may store every field: none is sent that they do not document.
 */
export const sentFields = <Field extends string>(
  fields: Record<Field, string | undefined>,
): Partial<Record<Field, string>> =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Partial<
    Record<Field, string>
  >; // Object.fromEntries forgets the keys.
