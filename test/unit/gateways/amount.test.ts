import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fromWire, problemsWith, toWire } from '../../../gateways/amount.ts';
import type { Capabilities } from '../../../gateways/gateway.ts';
import { findPaymentProblems, findDriver } from '../../../gateways/registry.ts';
import { maskedPan, wordsOf } from '../../../gateways/redact.ts';

const drivers = ['sandbox', 'zarinpal', 'zibal', 'payping', 'stripe'];
const capabilitiesOf = (driver: string): Capabilities => findDriver(driver)!.capabilities;

describe('amounts', () => {
  it.each(drivers)(
    'FS-19: %s says every amount it takes without loss, as a whole number',
    (driver) => {
      const capabilities = capabilitiesOf(driver);
      const anAmount = fc
        .constantFrom(...capabilities.currencies)
        .chain(([currency, { min, max, step }]) =>
          fc
            .integer({ min: Math.ceil(min / step), max: Math.floor(max / step) })
            .map((steps) => ({ amount: steps * step, currency })),
        );
      fc.assert(
        fc.property(anAmount, (money) => {
          const amount = toWire(capabilities, money);
          expect(Number.isSafeInteger(amount) && amount > 0).toBe(true);
          expect(fromWire(capabilities, { ...money, amount })).toBe(money.amount);
        }),
      );
    },
  );

  it('never rounds what a gateway confirms: a part of our minor unit equals no amount', () => {
    // ISK has two decimals on Stripe's wire and none with us.
    expect(fromWire(capabilitiesOf('stripe'), { amount: 50_050, currency: 'ISK' })).toBe(500.5);
    expect(fromWire(capabilitiesOf('stripe'), { amount: 100, currency: 'IRR' })).toBe(100);
  });

  it('does not say an amount that a create refuses', () => {
    expect(() => toWire(capabilitiesOf('payping'), { amount: 15, currency: 'IRR' })).toThrow(
      RangeError,
    );
    expect(() => toWire(capabilitiesOf('zibal'), { amount: 15, currency: 'USD' })).toThrow(
      RangeError,
    );
  });
});

describe('what a gateway does not take', () => {
  const terms = { wireExponent: 2, min: 50, max: 1_000, step: 10 };
  const bounds = {
    currencies: new Map([['USD', terms]]),
    expirySeconds: { min: 600, max: 3_600 },
  };
  it.each([
    [{ amount: 50, currency: 'USD', expiresInSeconds: 600 }, []],
    [{ amount: 1_000, currency: 'USD', expiresInSeconds: 3_600 }, []],
    [{ amount: 49, currency: 'USD', expiresInSeconds: 600 }, ['amount gateway_bounds']],
    [{ amount: 1_001, currency: 'USD', expiresInSeconds: 600 }, ['amount gateway_bounds']],
    [{ amount: 55, currency: 'USD', expiresInSeconds: 600 }, ['amount gateway_step']],
    [{ amount: 50, currency: 'EUR', expiresInSeconds: 600 }, ['currency gateway_currency']],
    [{ amount: 50, currency: 'USD', expiresInSeconds: 599 }, ['expires_in gateway_bounds']],
    [
      { amount: 1, currency: 'USD', expiresInSeconds: 3_601 },
      ['amount gateway_bounds', 'expires_in gateway_bounds'],
    ],
  ])('%o: %o', (wanted, expected) => {
    const problems = problemsWith(bounds, wanted);
    expect(problems.map(({ path, rule }) => `${path} ${rule}`)).toEqual(expected);
  });

  it('is not known of a driver of another version', () => {
    for (const driver of ['idpay', '__proto__', 'toString'])
      expect(findPaymentProblems(driver, { amount: 1, currency: 'USD', expiresInSeconds: 60 })).toEqual(
        [],
      );
  });
});

describe('what is kept of a gateway’s words', () => {
  it.each([
    ['502229******1234', '502229******1234'],
    ['502229XXXXXX1234', '502229******1234'],
    ['5022 2912 3456 1234', '502229******1234'],
    ['5022291234561234', '502229******1234'],
    ['50222912345678901234', null],
    ['62741****44', null],
    ['************1234', null],
    ['', null],
    [null, null],
    [undefined, null],
  ])('of the card %j: %j', (given, kept) => {
    expect(maskedPan(given)).toBe(kept);
  });

  it('holds no whole card number', () => {
    expect(wordsOf('4242-4242-4242-4242', 'card 5555 5555 5555 4444, order 123456789012')).toEqual({
      code: '424242******4242',
      message: 'card 555555******4444, order 123456789012',
    });
  });

  it.each([
    '6037.9912.3456.7890',
    '6037  9912  3456  7890',
    '6037\u00a09912\u202f3456\u200c7890',
    '6037–9912—3456‑7890',
    '6037/9912/3456/7890',
    '6037_9912. 3456-\n7890',
    '6037991234567890',
  ])('holds no whole card number, however it is written: %j', (card) => {
    for (const [before, after] of [
      ['', ''],
      ['PAN', '.'],
      ['2026/11/20 ', ' IRR'],
    ])
      expect(wordsOf(null, `${before}${card}${after}`).message).toBe(
        `${before}603799******7890${after}`,
      );
  });

  it.each([
    ['۶۰۳۷۹۹۱۲۳۴۵۶۷۸۹۰', '۶۰۳۷۹۹******۷۸۹۰'],
    ['٦٠٣٧-٩٩١٢-٣٤٥٦-٧٨٩٠', '٦٠٣٧٩٩******٧٨٩٠'],
    // With what stands behind it, e.g. the month in which it ends.
    ['60379912345678901402', '603799**********1402'],
    ['6037991234567890 1402/12', '603799************0212'],
    ['6037991234567890 6037991234567890', '603799**********************7890'],
  ])('nor one in %j', (text, message) => {
    expect(wordsOf(null, text).message).toBe(message);
  });

  it.each([
    `Authority A${'wwOGYpd'.padStart(35, '0')} is not valid`,
    `authority=S${'7'.padStart(35, '0')}`,
    '550e8400-e29b-41d4-a716-446655440000',
    'PAY_01KA7Q2S3T4V5W6X7Y8Z901234',
    'pi_3SVabcdEFghIJklMN0123456',
    'trackId 123456789012, ref_id 201',
    '999999999999 IRR',
    '1,250,000,000,000 IRR of 1,500,000,000,000',
    '1404/08/29 - 14:30:22',
    '2026-11-20T10:41:37.123+00:00',
    '2026.11.20 10.41.37',
  ])('leaves %j as it is', (text) => {
    expect(wordsOf(null, text).message).toBe(text);
  });

  it('is short, and text that Postgres can hold', () => {
    const { code, message } = wordsOf('c\0'.repeat(500), `m\0\ud800${'x'.repeat(5_000)}`);
    expect([code?.length, message?.length]).toEqual([100, 500]);
    expect(`${code}${message}`).not.toMatch(/\0/);
    expect(message?.isWellFormed()).toBe(true);
    const cut = wordsOf(null, `${'x'.repeat(499)}😀`).message;
    expect([cut?.length, cut?.isWellFormed()]).toEqual([500, true]);
    expect(wordsOf(null, undefined)).toEqual({ code: null, message: null });
    expect(wordsOf(0, '')).toEqual({ code: '0', message: '' });
  });
});
