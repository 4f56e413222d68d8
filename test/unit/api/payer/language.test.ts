import { expect, it } from 'vitest';
import { visitOf } from '../../../../api/payer/language.ts';
import { aBrowser } from '../../../support/data/a-browser.ts';
import { aPayerPayment } from '../../../support/data/payer-requests.ts';

it.each([
  [undefined, 'en'],
  ['', 'en'],
  ['*', 'en'],
  ['fa', 'fa'],
  ['FA-ir', 'fa'],
  ['tr-TR,tr;q=0.9,en-US;q=0.8,en;q=0.7', 'tr'],
  ['xx,de;q=0.5', 'de'],
  ['en;q=0.2, ar ; q=0.7', 'ar'],
  ['fa;q=0, de;q=0.1', 'de'],
  ['xx, yy', 'en'],
  ['far, enx, dea', 'en'],
  [';;;,,;q=1,=', 'en'],
])('a browser that accepts %j gets %s', (acceptLanguage, language) => {
  expect(visitOf(aBrowser(acceptLanguage === undefined ? {} : { acceptLanguage })).language).toBe(
    language,
  );
});

it('a link to another language wins over the browser, and has nothing that a gateway has added', () => {
  const query = 'Authority=A1&lang=fa&waits_until=17&cardNumber=5022291012345678';
  const visit = visitOf(aBrowser({ acceptLanguage: 'en', query }));
  expect(visit.language).toBe('fa');
  expect(visit.searchIn('tr')).toBe('?lang=tr&waits_until=17');
});

it.each(['xx', '', '<script>', 'en%00'])('no language is taken from lang=%s', (lang) => {
  expect(visitOf(aBrowser({ acceptLanguage: 'de', query: `lang=${lang}` })).language).toBe('de');
});

it.each([
  ['xx', 'fa', 'fa'],
  ['de', 'fa', 'de'],
  ['xx', null, 'en'],
  ['xx', 'yy', 'en'],
])('with a browser of %s and an application of %s it is %s', (acceptLanguage, locale, language) => {
  const payment = aPayerPayment({ locale });
  expect(visitOf(aBrowser({ acceptLanguage }), payment).language).toBe(language);
});

it.each([
  ['fa', 'de', 'fa'],
  ['fa_IR', 'de', 'fa'],
  ['xx-YY-evil', 'de', 'de'],
  [null, 'de', 'de'],
])('for a payer of %s with a browser of %s it is %s', (payerLocale, acceptLanguage, language) => {
  const payment = aPayerPayment({ locale: 'tr', payerLocale });
  expect(visitOf(aBrowser({ acceptLanguage }), payment).language).toBe(language);
  const chosen = aBrowser({ acceptLanguage, query: 'lang=ar' });
  expect(visitOf(chosen, payment).language).toBe('ar');
});
