import { describe, expect, it } from 'vitest';
import { maskedPan, providerMessage } from '../../../gateways/redact.ts';

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
])('maskedPan returns for %j: %j', (text, masked) => {
  expect(maskedPan(text)).toBe(masked);
});

describe('providerMessage', () => {
  it('masks card numbers', () => {
    expect(
      providerMessage('4242-4242-4242-4242', 'card 5555 5555 5555 4444, order 123456789012'),
    ).toEqual({
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
  ])('masks the card number %j', (card) => {
    for (const [before, after] of [
      ['', ''],
      ['PAN', '.'],
      ['2026/11/20 ', ' IRR'],
    ])
      expect(providerMessage(null, `${before}${card}${after}`).message).toBe(
        `${before}603799******7890${after}`,
      );
  });

  it.each([
    ['۶۰۳۷۹۹۱۲۳۴۵۶۷۸۹۰', '۶۰۳۷۹۹******۷۸۹۰'],
    ['٦٠٣٧-٩٩١٢-٣٤٥٦-٧٨٩٠', '٦٠٣٧٩٩******٧٨٩٠'],
    // With the digits behind it, e.g. the expiry.
    ['60379912345678901402', '603799**********1402'],
    ['6037991234567890 1402/12', '603799************0212'],
    ['6037991234567890 6037991234567890', '603799**********************7890'],
  ])('masks a card number in %j', (text, message) => {
    expect(providerMessage(null, text).message).toBe(message);
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
  ])('keeps %j', (text) => {
    expect(providerMessage(null, text).message).toBe(text);
  });

  it('cuts a text to a length that is valid in Postgres', () => {
    const { code, message } = providerMessage('c\0'.repeat(500), `m\0\ud800${'x'.repeat(5_000)}`);
    expect([code?.length, message?.length]).toEqual([100, 500]);
    expect(`${code}${message}`).not.toMatch(/\0/);
    expect(message?.isWellFormed()).toBe(true);
    const cut = providerMessage(null, `${'x'.repeat(499)}😀`).message;
    expect([cut?.length, cut?.isWellFormed()]).toEqual([500, true]);
    expect(providerMessage(null, undefined)).toEqual({ code: null, message: null });
    expect(providerMessage(0, '')).toEqual({ code: '0', message: '' });
  });
});
