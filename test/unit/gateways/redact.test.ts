import { describe, expect, it } from 'vitest';
import { maskedPan, providerMessage, withoutEcho } from '../../../gateways/redact.ts';

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
    '2026.09.12 10.41.37.123',
    '0.98 of 9123456789 IRR, trackId 3912345678',
    'order_09, 30 of 90 attempts',
    '+1.5 %',
  ])('keeps %j', (text) => {
    expect(providerMessage(null, text).message).toBe(text);
  });

  it.each([
    '09121234567',
    '0912 123 4567',
    '0912-1234567',
    '+98 912 123 4567',
    '+989121234567',
    '00989121234567',
    '989121234567',
    '+98 (0)912 1234567',
    '۰۹۱۲۱۲۳۴۵۶۷',
    '٠٩١٢ ١٢٣ ٤٥٦٧',
    '۰۰۹۸۹۱۲۱۲۳۴۵۶۷',
    '+49 151 1234-5678',
    '+4915112345678',
    '０９１２１２３４５６７',
  ])('masks every digit of the mobile number %j', (mobile) => {
    for (const [before, after] of [
      ['', ''],
      ['mobile:', '.'],
      ['شماره ', ' نامعتبر است'],
      ['{"mobile":"', '"} 100000 IRR'],
      ['code 12, ', ', 13'],
    ]) {
      const { message } = providerMessage(null, `${before}${mobile}${after}`);
      expect(message).toBe(`${before}${mobile.replaceAll(/\p{Nd}/gu, '*')}${after}`);
    }
  });

  it.each([
    ['ada@shop.example is not valid', '*** is not valid'],
    ['metadata.email: Ada.O+x@Mail.Shop.Example.', 'metadata.email: ***.'],
    ['email=ada%40shop.example&x=1', 'email=***&x=1'],
    ['<علی@نمونه.ایران>', '<***>'],
  ])('masks the e-mail address in %j', (text, message) => {
    expect(providerMessage(null, text).message).toBe(message);
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

describe('withoutEcho', () => {
  const payer = { mobile: '+989121234567', email: 'a.b+c@shop.example', name: 'علی  Rezaei' };

  it.each([
    ['The payer علی rezaei is not known', 'The payer *** is not known'],
    ['payerName=علی+REZAEI', 'payerName=***'],
    ['A.B+C@SHOP.EXAMPLE!', '***!'],
    ['9121234567, 912-123-4567 and ۹۱۲۱۲۳۴۵۶۷', '***, *** and ***'],
    ['no such merchant', 'no such merchant'],
    ['amount 1912123456 IRR', 'amount 1912123456 IRR'],
  ])('hides in %j what it has of the payer', (text, hidden) => {
    expect(withoutEcho(text, payer)).toBe(hidden);
  });

  it('hides a number of another country however it is written', () => {
    const mobile = '+4915112345678';
    for (const written of ['+49 151 12345678', '0151 1234 5678', '015112345678'])
      expect(withoutEcho(`${written} is odd`, { mobile })).toBe('*** is odd');
  });

  it('takes every character that a name or an address may have', () => {
    const characters = Array.from({ length: 0x7e - 0x20 }, (_, n) => String.fromCharCode(0x21 + n));
    for (const each of [...characters, 'ß', 'ي', '\u200c', '😀', characters.join('')]) {
      const name = `x${each}y`;
      expect(withoutEcho(`is ${name} not`, { name })).toBe('is *** not');
      expect(withoutEcho(`is ${name}@b.c not`, { email: `${name}@b.c` })).toBe('is *** not');
    }
  });

  it('takes a name letter by letter, and hides whole words alone', () => {
    expect(withoutEcho('a (b) is a*b', { name: 'a*b' })).toBe('a (b) is ***');
    expect(withoutEcho('Annual Ann', { name: 'Ann' })).toBe('Annual ***');
    expect(withoutEcho('a text', {})).toBe('a text');
    expect(withoutEcho('a text', { name: '  ' })).toBe('a text');
    expect(withoutEcho(null, payer)).toBeNull();
  });
});
