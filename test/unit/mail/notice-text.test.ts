import { expect, it } from 'vitest';
import { noticeKinds } from '../../../contract/notice.ts';
import { writeNotice } from '../../../mail/notice-text.ts';

const link = 'https://pay.example/api/v1/notices/token';
const links = {
  docs: 'https://pay.example/api/v1/docs',
  console: 'https://console.example/applications/shop',
  unsubscribe: link,
  confirm: `${link}/confirm`,
};
const facts = { waiting: 1, exhausted: 2, lastError: 'tls', nextAttemptAt: new Date(0) };
const write = (kind: (typeof noticeKinds)[number], more = {}) =>
  writeNotice(
    { kind, application: 'shop', since: new Date(0), facts: { ...facts, ...more } },
    links,
  );

it.each(noticeKinds)(
  'a mail of the kind %s is plain ASCII text that says how to end it',
  (kind) => {
    const { subject, text, headers } = write(kind);
    expect(subject).toMatch(/^[ -~]{1,78}$/);
    expect(text).toMatch(/^[ -~\n]+$/);
    expect(text).toContain(kind === 'confirmation' ? links.confirm : links.unsubscribe);
    expect(headers).toEqual({
      'Auto-Submitted': 'auto-generated',
      'List-Unsubscribe': `<${link}>`,
      'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
    });
  },
);

it('a question for agreement says nothing about the receiver', () => {
  expect(write('confirmation').text).not.toMatch(/TLS|event/);
});

it('an error that is not known here is left out', () => {
  expect(write('failing').text).toContain('TLS');
  for (const lastError of ['new_class', 'constructor', null])
    expect(write('failing', { lastError }).text).not.toContain('Last error');
});
