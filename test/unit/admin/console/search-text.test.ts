import { expect, it } from 'vitest';
import { inOtherCases, readSearch } from '../../../../admin/console/search-text.ts';

it.each([
  ['84.00 EUR', 8400, 'EUR'],
  ['EUR 84', 8400, 'EUR'],
  ['84,00 eur', 8400, 'EUR'],
  ['€84', 8400, 'EUR'],
  ['1,504.62 USD', 150462, 'USD'],
  ['1.504,62 EUR', 150462, 'EUR'],
  ['USD 1 504.62', 150462, 'USD'],
  ['150,000 IRR', 150000, 'IRR'],
  ['“84.00 EUR”', 8400, 'EUR'],
  ['84,00 €', 8400, 'EUR'],
  ['¥79,000', 79000, 'JPY'],
  ['79,000￥', 79000, 'JPY'],
  ['۴۰ EUR', 4000, 'EUR'],
  ['۷۹٬۰۰۰ IRR', 79000, 'IRR'],
  ['€ ۴۰٫۵۰', 4050, 'EUR'],
  ['79,000円', 79000, 'JPY'],
  ['۹۸٬۰۰۰٬۰۰۰ ریال', 98000000, 'IRR'],
  ['\u2067۹٬۸۰۰٬۰۰۰ تومان\u2069', 98000000, 'IRR'],
  ['98.000.000 İran riyali', 98000000, 'IRR'],
  ['98,000,000 rials', 98000000, 'IRR'],
])('%s is an amount', (text, amount, currency) => {
  expect(readSearch(text).money).toEqual({ amount, currency });
});

it.each(['84.00', '84.00 XXX', '84.0 EUR'])('%s is none, and says why', (text) => {
  const { money, moneyProblem } = readSearch(text);
  expect([money, moneyProblem === null]).toEqual([null, false]);
});

it.each([
  ['4242', '4242'],
  ['•••• 4242', '4242'],
  ['**** 4242', '4242'],
  ['603799******4242', '4242'],
  ['xxxx-4242', '4242'],
  [' "4242" ', '4242'],
  ['۴۲۴۲', '4242'],
])('%s is the end of a card', (text, card) => {
  expect(readSearch(text)).toMatchObject({ card, isCardNumber: false });
});

it.each([
  ['#77', '77'],
  ['Order #77', '77'],
  ['order no. 77', '77'],
  ['ORDER NUMBER: 77', '77'],
  ['Tracking code ۷۷', '77'],
  ['سفارش ۷۷', '77'],
  ['شماره سفارش: ۷۷', '77'],
  ['رقم الطلب ٧٧', '77'],
  ['Ihre Bestellung 77', '77'],
  ['Bestell-Nr. 77', '77'],
  ['Sipariş numarası 77', '77'],
  ['orderly 77', 'orderly 77'],
  ['order-77', 'order-77'],
  ['orders', 'orders'],
  ['#', '#'],
])('%s may mean the order %s', (text, order) => {
  expect(readSearch(text).texts.at(-1)).toBe(order);
  expect(readSearch(text).texts[0]).toBe(text);
});

it.each(['T-2026-1.', 'T-2026-1?', '“T-2026-1”,'])('%s ends with the sentence', (text) => {
  expect(readSearch(text).text).toBe('T-2026-1');
});

it('an order is looked for in the cases that shops write', () => {
  for (const order of ['T-2026-ABC', 't-2026-abc', 'T-2026-abc'])
    expect(inOtherCases(['t-2026-aBC'])).toContain(order);
});

it.each(['4242 4242 4242 4242', '4242424242424242', '۴۲۴۲ ۴۲۴۲ ۴۲۴۲ ۴۲۴۲'])(
  '%s is a whole card number, and means its end alone',
  (text) => {
    expect(readSearch(text)).toMatchObject({
      card: '4242',
      isCardNumber: true,
      idPrefix: null,
      idSuffix: null,
    });
  },
);

it.each([
  ['pay_01K9Z5', { kind: 'PAY', part: '01K9Z5' }, null],
  ['PAY_01K9 Z5W6 X7', { kind: 'PAY', part: '01K9Z5W6X7' }, null],
  ['<REFUND_4T9GZ7Q2…>', { kind: 'REFUND', part: '4T9GZ7Q2' }, null],
  ['…7XSN4K2M', null, '7XSN4K2M'],
  ['7XSN4K2M', { kind: null, part: '7XSN4K2M' }, '7XSN4K2M'],
  ['short', null, null],
])('%s is a part of an id', (text, idPrefix, idSuffix) => {
  expect(readSearch(text)).toMatchObject({ idPrefix, idSuffix });
});

it.each([
  ['0b6f2c64', '0b6f2c64'],
  ['0B6F2C64-8a35-4f', '0b6f2c64-8a35-4f'],
  ['0b6f2c6', null],
])('%s is the beginning of an event', (text, eventPrefix) => {
  expect(readSearch(text).eventPrefix).toBe(eventPrefix);
});
