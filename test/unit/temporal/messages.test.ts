import { expect, it } from 'vitest';
import { paymentStartOptions } from '../../../temporal/messages.ts';

const startWith = (orderId: string) =>
  paymentStartOptions({
    ...{ id: 'PAY_1', application: 'shop', gateway: 'zibal', amount: 1_250, currency: 'EUR' },
    ...{ orderId, expiresAt: new Date('2026-11-20T10:41:37Z') },
  });

it.each(['`', '\n\n', '\r', '\u2028', '\u2029', '\u0085', '\v'])(
  'an order id with %j stays code in the Temporal UI, and makes no link',
  (end) => {
    const { staticDetails } = startWith(`1${end}[log in again](https://elsewhere.example) `);
    expect(staticDetails).toMatch(
      /^Order `1'+\[log in again\]\(https:\/\/elsewhere\.example\) ` through zibal, [^`]+$/,
    );
    expect(staticDetails).not.toMatch(/[\p{Cc}\u2028\u2029]/u);
  },
);

it('an order id is shown as it is, and found as it is', () => {
  const start = startWith('سفارش 10/2 <b>*_#');
  expect(start.staticDetails).toMatch(/^Order `سفارش 10\/2 <b>\*_#` through/);
  expect(start.typedSearchAttributes[1]?.value).toBe('سفارش 10/2 <b>*_#');
});
