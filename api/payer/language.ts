import { type Language, languageOf } from '../../contract/languages.ts';
import type { PayerPayment } from '../../postgres/payments/payments.ts';
import type { BrowserRequest } from '../http/error-response.ts';

/** The part of a payment that its pages show. */
export type ShownPayment = Pick<
  PayerPayment,
  'amount' | 'currency' | 'description' | 'test' | 'paidTo' | 'payerLocale' | 'locale'
>;

/** A page as one payer sees it. */
export interface Visit {
  /** Undefined on pages that are about no payment, or before it is read. */
  payment?: ShownPayment | undefined;
  language: Language;
  /** The query of the same page in another language. */
  searchIn(language: Language): string;
}

/** The parameter of the links to other languages. */
const parameter = 'lang';
/** The parameter of the page that waits: its end, in ms since 1970. No gateway has one of this name. */
export const waitsUntil = 'waits_until';

/** The query without what a gateway or anybody else has added: no page shows that, because it may be a card number. */
export const ownParameters = (search: URLSearchParams): URLSearchParams =>
  new URLSearchParams([...search].filter(([name]) => name === parameter || name === waitsUntil));

/** The first language of an Accept-Language that the pages have (RFC 9110, 12.5.4). */
const acceptedLanguage = (header: string | undefined): Language | undefined =>
  (header ?? '')
    .split(',')
    .map((range) => {
      const [tag = '', ...parameters] = range.split(';').map((part) => part.trim());
      const [, quality = '1'] =
        parameters.map((each) => /^q=([\d.]+)$/i.exec(each)).find((found) => found) ?? [];
      return { language: languageOf(tag), quality: Number(quality) };
    })
    .filter(({ language, quality }) => language !== undefined && quality > 0)
    .toSorted((one, two) => two.quality - one.quality)[0]?.language;

/**
 * In the language that the payer chose on a page, then the one that the application knows of the payer, then the browser's,
 * then the application's, then English.
 */
export const visitOf = (request: BrowserRequest, payment?: ShownPayment): Visit => ({
  payment,
  language:
    languageOf(request.search().get(parameter)) ??
    languageOf(payment?.payerLocale) ??
    acceptedLanguage(request.header('accept-language')) ??
    languageOf(payment?.locale) ??
    'en',
  searchIn(language) {
    const query = ownParameters(request.search());
    query.set(parameter, language);
    return `?${String(query)}`;
  },
});
