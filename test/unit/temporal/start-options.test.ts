import { describe, expect, it } from 'vitest';
import {
  latePaymentStartOptions,
  paymentIdOf,
  paymentStartOptions,
} from '../../../temporal/start-options.ts';
import { aPayment } from '../../support/data/payments.ts';

const optionsFor = (orderId: string) =>
  paymentStartOptions(aPayment({ id: 'PAY_1', gateway: 'zibal', orderId }));

describe('the start options of a payment', () => {
  it.each(['`', '\n\n', '\r', '\u2028', '\u2029', '\u0085', '\v'])(
    'keep an order id with %j in a code span, so that the Temporal UI shows no link',
    (end) => {
      const { staticDetails } = optionsFor(`1${end}[log in again](https://elsewhere.example) `);
      expect(staticDetails).toMatch(
        /^Order `1'+\[log in again\]\(https:\/\/elsewhere\.example\) ` through zibal, [^`]+$/,
      );
      expect(staticDetails).not.toMatch(/[\p{Cc}\u2028\u2029]/u);
    },
  );

  it('show an order id and make it searchable without a change', () => {
    const options = optionsFor('سفارش 10/2 <b>*_#');
    expect(options.staticDetails).toMatch(/^Order `سفارش 10\/2 <b>\*_#` through/);
    expect(options.typedSearchAttributes[1]?.value).toBe('سفارش 10/2 <b>*_#');
  });
});

it('paymentIdOf returns the payment of both workflows', () => {
  expect(paymentIdOf(optionsFor('1').workflowId)).toBe('PAY_1');
  expect(paymentIdOf(latePaymentStartOptions('PAY_1').workflowId)).toBe('PAY_1');
});
