import { expect, it } from 'vitest';
import { Payer, readSentPayer } from '../../../contract/payer.ts';

it.each([
  ['mobile', '09121234567'],
  ['mobile', '+989121234567'],
  ['mobile', '+4915112345678'],
  ['mobile', '+1234567'],
  ['email', 'a@b.co'],
  ['email', "o'brien+shop@mail.example"],
  ['email', 'root@localhost'],
  ['name', 'علی\u200cاکبر رضایی'],
  ['name', 'A'],
  ['name', '𝒜'.repeat(100)],
  ['name', '👩\u200d💻'],
  ['locale', 'fa'],
  ['locale', 'de-AT'],
  ['locale', 'fa_IR'],
  // The pages have no such language, so the browser decides.
  ['locale', 'xx-YY-evil'],
])('keeps the %s %j', (field, text) => {
  expect(readSentPayer({ [field]: text })).toEqual({ payer: { [field]: text }, ignored: [] });
});

it.each([
  ['mobile', '00989121234567', '+989121234567'],
  ['mobile', '+00989121234567', '+989121234567'],
  ['mobile', '989121234567', '+989121234567'],
  ['mobile', '+9809121234567', '+989121234567'],
  ['mobile', '+98 (0) 912 123 4567', '+989121234567'],
  ['mobile', '+98 912 123 4567', '+989121234567'],
  ['mobile', '+98-912-1234567', '+989121234567'],
  ['mobile', '(+98) 912.123.4567', '+989121234567'],
  ['mobile', 'tel:+98-912-1234567', '+989121234567'],
  ['mobile', '＋９８９１２１２３４５６７', '+989121234567'],
  ['mobile', '\u202a+98\u00a0912\u2011123\u20114567\u202c', '+989121234567'],
  ['mobile', '0912 123 4567', '09121234567'],
  ['mobile', ' 09121234567\n', '09121234567'],
  ['mobile', '۰۹۱۲۱۲۳۴۵۶۷', '09121234567'],
  ['mobile', '٠٩١٢ ١٢٣ ٤٥٦٧', '09121234567'],
  ['mobile', '०९१२१२३४५६७', '09121234567'],
  ['mobile', '+49 (0)171 2345678', '+491712345678'],
  ['mobile', '0049 171/2345678', '+491712345678'],
  ['email', ' ada@shop.example\t', 'ada@shop.example'],
  ['email', '\u200bada@shop.example\u200f', 'ada@shop.example'],
  ['email', 'ada@shop.example.', 'ada@shop.example'],
  ['email', 'ada@münchen.example', 'ada@xn--mnchen-3ya.example'],
  ['email', 'ali@مثال.ایران', 'ali@xn--mgbh0fb.xn--mgba3a4f16a'],
  ['email', 'ali۱۲@shop.example', 'ali12@shop.example'],
  ['name', ' Ada Lovelace\u00a0', 'Ada Lovelace'],
  ['name', '\u200fعلی\u200e', 'علی'],
  ['locale', 'en_US.UTF-8', 'en_US'],
  ['locale', 'sr_RS@latin', 'sr_RS'],
  ['locale', 'ca_ES.UTF-8@valencia', 'ca_ES'],
  ['locale', ' de', 'de'],
])('writes the %s %j as %j', (field, text, usable) => {
  expect(readSentPayer({ [field]: text })).toEqual({ payer: { [field]: usable }, ignored: [] });
});

it.each([
  // Of Iran, India or Georgia in the USA.
  ['mobile', '9121234567'],
  ['mobile', '0171 2345678'],
  ['mobile', '4917123456789'],
  // A landline, and one digit too few or too many.
  ['mobile', '+982188776655'],
  ['mobile', '+98912123456'],
  ['mobile', '091212345678'],
  ['mobile', '+491712345678 / 80'],
  ['mobile', '09121234567, 09351234567'],
  ['mobile', '+49171CALLME'],
  ['mobile', '+0123456789'],
  ['mobile', '+123456'],
  ['mobile', '+1234567890123456'],
  ['mobile', '   '],
  ['email', 'a'],
  ['email', 'a@b@c.example'],
  ['email', 'a@b.example\r\nBcc: c@d.example'],
  ['email', 'a b@c.example'],
  ['email', 'Ada <a@b.example>'],
  ['email', 'ада@b.example'],
  ['email', 'a@b..example'],
  ['email', 'a@b.example..'],
  ['email', 'a@мир%2eb/c'],
  ['email', 'a@１２３'],
  ['email', `${'a'.repeat(65)}@b.example`],
  ['email', `a@${'b.'.repeat(130)}example`],
  ['email', `a@${'ü'.repeat(64)}.example`],
  ['name', '   '],
  ['name', '\u200b'],
  ['name', '\u200c\u200d'],
  ['name', '\u3164'],
  ['name', 'A\u0000B'],
  ['name', 'A\nB'],
  ['name', 'A\u202eB'],
  ['name', 'A\u2066B'],
  ['name', 'A\u2028B'],
  ['name', 'x'.repeat(101)],
  ['name', 'x'.repeat(50_000)],
  ['mobile', '٩'.repeat(50_000)],
  ['locale', 'f'],
  ['locale', 'C'],
  ['locale', 'POSIX'],
  ['locale', 'fa; q=1'],
  ['locale', '<script>'],
  ['locale', `de${'-x'.repeat(40)}`],
])('leaves the %s %j out, and names the field', (field, text) => {
  const sent = Payer.parse({ [field]: text, locale: field === 'locale' ? text : 'tr' });
  const locale = field === 'locale' ? {} : { locale: 'tr' };
  expect(readSentPayer(sent)).toEqual({ payer: locale, ignored: [field] });
});

it('takes an empty text as not sent', () => {
  const empty = { mobile: '', email: '', name: '', locale: '' };
  expect(readSentPayer(Payer.parse(empty))).toEqual({ payer: {}, ignored: [] });
  expect(readSentPayer(undefined)).toEqual({ payer: undefined, ignored: [] });
});

it.each([
  ['mobile', 9121234567],
  ['mobile', null],
  ['email', ['a@b.example']],
  ['name', { first: 'Ada' }],
  ['locale', true],
  ['card', '6037991234567890'],
  ['nationalCode', '0012345678'],
])('refuses the %s %j, and quotes nothing', (field, value) => {
  const { error } = Payer.safeParse({ [field]: value });
  expect(error?.issues).toHaveLength(1);
  expect(error!.issues[0]!.message).not.toMatch(/\d|Ada|example/);
});
