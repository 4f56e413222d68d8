import { expect, it } from 'vitest';
import { Payer } from '../../../contract/payer.ts';

it.each([
  {},
  { mobile: '09121234567' },
  { mobile: '+989121234567' },
  { mobile: '+4915112345678' },
  { mobile: '+1234567' },
  { email: 'a@b.co' },
  { email: "o'brien+shop@mail.example" },
  { email: 'root@localhost' },
  { name: 'علی\u200cاکبر رضایی' },
  { name: 'A' },
  { name: '𝒜'.repeat(100) },
  { locale: 'fa' },
  { locale: 'de-AT' },
  { locale: 'fa_IR' },
  // The pages have no such language, so the browser decides.
  { locale: 'xx-YY-evil' },
])('takes %j', (payer) => {
  expect(Payer.parse(payer)).toEqual(payer);
});

it.each([
  ['mobile', '۰۹۱۲۱۲۳۴۵۶۷'],
  ['mobile', '0912 123 4567'],
  ['mobile', '09121234567\n'],
  ['mobile', '9121234567'],
  ['mobile', '00989121234567'],
  ['mobile', '+0123456789'],
  ['mobile', '+123456'],
  ['mobile', '+1234567890123456'],
  ['mobile', ''],
  ['mobile', 9121234567],
  ['email', ''],
  ['email', 'a'],
  ['email', 'a@b@c.example'],
  ['email', 'a@b.example\r\nBcc: c@d.example'],
  ['email', 'a b@c.example'],
  ['email', 'Ada <a@b.example>'],
  ['email', 'ада@b.example'],
  ['email', 'a@b..example'],
  ['email', `${'a'.repeat(65)}@b.example`],
  ['email', `a@${'b.'.repeat(130)}example`],
  ['name', ''],
  ['name', 'A\u0000B'],
  ['name', 'A\nB'],
  ['name', 'A\u202eB'],
  ['name', 'A\u2066B'],
  ['name', 'A\u2028B'],
  ['name', 'x'.repeat(101)],
  ['name', 'x'.repeat(1_000)],
  ['locale', ''],
  ['locale', 'f'],
  ['locale', 'fa; q=1'],
  ['locale', '<script>'],
  ['locale', `de${'-x'.repeat(40)}`],
  ['mobile', null],
  ['card', '6037991234567890'],
  ['nationalCode', '0012345678'],
])('refuses the %s %j, and quotes nothing', (field, value) => {
  const { error } = Payer.safeParse({ [field]: value });
  expect(error?.issues).toHaveLength(1);
  const { message } = error!.issues[0]!;
  if (String(value).trim().length > 2) expect(message).not.toContain(String(value));
});
