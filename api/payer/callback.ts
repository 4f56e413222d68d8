import { domainToASCII } from 'node:url';
import type { Payment } from '../../contract/payment.ts';
import type { Status } from '../../contract/status.ts';

/** A header takes ASCII only, so other characters of the URL are encoded. All ASCII stays as it was registered. */
const toAscii = (url: string): string =>
  url
    .replace(/^(https?:\/\/)([^/?#:]*[^\0-\x7f][^/?#:]*)/i, (_, scheme: string, host: string) => {
      return scheme + domainToASCII(host);
    })
    .replaceAll(/[^\x21-\x7e]+/g, (text) => encodeURIComponent(text.toWellFormed()));

/** The name of a part of a query, as its receiver reads it. */
const nameOf = (part: string): string => new URLSearchParams(part).keys().next().value ?? '';

/** Adds to the query of a URL, whose own bytes stay as they are. The added parameters replace its own of the same names. */
export const addToQuery = (registered: string, added: Readonly<Record<string, string>>): string => {
  const [, base = '', query, fragment = ''] =
    /^([^?#]*)(?:\?([^#]*))?(#.*)?$/s.exec(toAscii(registered)) ?? [];
  const own = (query ?? '')
    .split('&')
    .filter((part) => !Object.hasOwn(added, nameOf(part)))
    .join('&');
  const separator = own === '' || own.endsWith('&') ? '' : '&';
  return `${base}?${own}${separator}${String(new URLSearchParams(added))}${fragment}`;
};

/** Sends the payer back to the application. */
export const redirectToCallback = (payment: Payment, status: Status) => {
  const { callbackUrl, id: payment_id, orderId: order_id } = payment;
  const location = addToQuery(callbackUrl, { payment_id, order_id, status });
  return { status: 303 as const, headers: { location } };
};
