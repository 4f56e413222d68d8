import { expect, it } from 'vitest';
import {
  createChange,
  hasCardNumber,
  problemOfReason,
} from '../../../../admin/operations/change.ts';
import type { Sql } from '../../../../postgres/driver/sql.ts';

it.each([
  `leaked: svc_live_${'x'.repeat(43)}`,
  'rotated whsec_abc',
  'the key sk_live_51Habc of Stripe',
  'the card 4242424242424242',
  'paid with 4242 4242 4242 4242.',
  'paid with 4242-4242-4242-4242',
  'کارت ۴۲۴۲۴۲۴۲۴۲۴۲۴۲۴۲',
  'البطاقة ٤٢٤٢٤٢٤٢٤٢٤٢٤٢٤٢',
  'x'.repeat(501),
])('refuses a reason that the audit log must not keep: %s', async (reason) => {
  expect(problemOfReason(reason)).toBeDefined();
  const change = createChange({ sql: {} as Sql, actor: 'ada', via: 'cli' });
  const made = change({ action: 'webhook.test', subject: 'b', reason }, async () => {
    throw new Error('It was not refused');
  });
  await expect(made).rejects.toThrow(/^The reason h/);
});

it.each([
  'the token of the shop has leaked',
  'agreed with +49 170 1234567 on 2026-11-27 14:05:09',
  'the bank reference 4242424242424243',
  'the refund REFUND_4T9GZ7Q2W8YB6K1MXR5C0NHJDV of PAY_01K9Z5W6X7Y8ZABCDEFGHJKMNP',
  'the authority A00000000000000000000000000000123456',
  'the last four digits: 4242',
])('keeps other reasons: %s', (reason) => {
  expect(problemOfReason(reason)).toBeUndefined();
});

it('takes zeros for no card number', () => {
  expect(hasCardNumber('0000 0000 0000 0000')).toBe(false);
});
