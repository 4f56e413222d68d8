import { expect, it } from 'vitest';
import { Payer, readSentPayer } from '../../../contract/payer.ts';

/** Each text of a list, with the field that it is sent for. */
const perField = (texts: Record<string, readonly string[]>) =>
  Object.entries(texts).flatMap(([field, all]) => all.map((text) => [field, text] as const));

it('keeps what is usable as it is', () => {
  const usable = perField({
    mobile: ['09121234567', '+989121234567', '+4915112345678', '+1234567'],
    email: ['a@b.co', "o'brien+shop@mail.example", 'root@localhost'],
    name: ['علی\u200cاکبر رضایی', 'A', '𝒜'.repeat(100), '👩\u200d💻'],
    // The pages have no such language as the last one, so the browser decides.
    locale: ['fa', 'de-AT', 'fa_IR', 'xx-YY-evil'],
  });
  for (const [field, text] of usable)
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

it.each(
  perField({
    mobile: [
      // Of Iran, India or Georgia in the USA.
      ...['9121234567', '0171 2345678', '4917123456789'],
      // A landline, one digit too few or too many, and two numbers.
      ...['+982188776655', '+98912123456', '091212345678'],
      ...['+491712345678 / 80', '09121234567, 09351234567', '+49171CALLME'],
      ...['+0123456789', '+123456', '+1234567890123456', '   ', '٩'.repeat(50_000)],
    ],
    email: [
      ...['a', 'a@b@c.example', 'a@b.example\r\nBcc: c@d.example', 'a b@c.example'],
      ...['Ada <a@b.example>', 'ада@b.example', 'a@b..example', 'a@b.example..', 'a@мир%2eb/c'],
      ...['a@１２３', `${'a'.repeat(65)}@b.example`, `a@${'b.'.repeat(130)}example`],
      `a@${'ü'.repeat(64)}.example`,
    ],
    name: [
      ...['   ', '\u200b', '\u200c\u200d', '\u3164', 'A\u0000B', 'A\nB', 'A\u202eB', 'A\u2066B'],
      ...['A\u2028B', 'x'.repeat(101), 'x'.repeat(50_000)],
    ],
    locale: ['f', 'C', 'POSIX', 'fa; q=1', '<script>', `de${'-x'.repeat(40)}`],
  }),
)('leaves the %s %j out, and names the field', (field, text) => {
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
