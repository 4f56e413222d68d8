import { expect, it } from 'vitest';
import { NotFound, Refusal } from '../../../../admin/operations/change.ts';
import { noticeFacts } from '../../../../admin/operations/facts.ts';
import { startRecords } from '../../../support/data/records.ts';
import { forFile } from '../../../support/for-file.ts';
import { anApplicationOn, operationsOn } from '../../../support/service/admin-operations.ts';

const records = await forFile(startRecords());
const { notices, auditLog } = operationsOn(records.sql);

it('adds an address once, with its question and a record in the audit log, and removes all of it', async () => {
  const slug = await anApplicationOn(records.sql);
  expect(await notices.add(slug, ' Ops@Shop.example ', 'asked for')).toBe('ops@shop.example');
  await expect(notices.add(slug, 'ops@SHOP.example', null)).rejects.toThrow('already');
  expect(await notices.list(slug)).toMatchObject([
    {
      address: 'ops@shop.example',
      confirmedAt: null,
      last: { kind: 'confirmation', result: null },
    },
  ]);
  await notices.remove(slug, 'ops@shop.example', null);
  await expect(notices.remove(slug, 'ops@shop.example', null)).rejects.toThrow(NotFound);
  expect(await records.sql`select from notices where application = ${slug}`).toHaveLength(0);
  const log = await auditLog({ subject: `application:${slug}`, limit: 10 });
  expect(log.slice(0, 2)).toMatchObject([
    { action: 'notice.remove', before: { address: 'ops@shop.example' }, after: null },
    { action: 'notice.add', reason: 'asked for', after: { address: 'ops@shop.example' } },
  ]);
});

it('refuses what is not one address in ASCII, and never repeats it', async () => {
  const slug = await anApplicationOn(records.sql);
  for (const bad of [
    '',
    'ops',
    'ops@',
    '@shop.example',
    'a@b@shop.example',
    'ops@shop.example,all@shop.example',
    'ops@shop.example\r\nBcc: all@shop.example',
    'ops@shop.example\u0000x',
    'Ops <ops@shop.example>',
    '"ops"@shop.example',
    'öps@shop.example',
    'ops@sh\u00f6p.example',
    'ops@-shop.example',
    'ops @shop.example',
    `${'a'.repeat(65)}@shop.example`,
    `ops@${'a.'.repeat(130)}example`,
  ]) {
    const refusal: unknown = await notices.add(slug, bad, null).catch((error: unknown) => error);
    expect(refusal, bad).toBeInstanceOf(Refusal);
    expect(String(refusal)).toContain('not one e-mail address');
  }
  expect(await notices.list(slug)).toEqual([]);
});

it('has at most five addresses of an application, also of two admins at once', async () => {
  const slug = await anApplicationOn(records.sql);
  const adding = Array.from({ length: 8 }, (_, n) => notices.add(slug, `a${n}@shop.example`, null));
  const ends = await Promise.allSettled(adding);
  expect(ends.filter(({ status }) => status === 'fulfilled')).toHaveLength(5);
  expect(await notices.list(slug)).toHaveLength(5);
});

it('adds nobody without a mail server, and removes still', async () => {
  const slug = await anApplicationOn(records.sql);
  await notices.add(slug, 'ops@shop.example', null);
  const without = operationsOn(records.sql, { sendsMail: false }).notices;
  await expect(without.add(slug, 'b@shop.example', null)).rejects.toThrow('SMTP_HOST');
  await without.remove(slug, 'ops@shop.example', null);
  expect(await without.list(slug)).toEqual([]);
});

it('knows no application that is not there', async () => {
  await expect(notices.add('nobody', 'ops@shop.example', null)).rejects.toThrow(NotFound);
  await expect(notices.list('nobody')).rejects.toThrow(NotFound);
});

it('an address that nobody has confirmed in time waits no longer', async () => {
  const slug = await anApplicationOn(records.sql);
  await notices.add(slug, 'late@shop.example', null);
  const state = async () => (await notices.list(slug)).map((each) => noticeFacts(each).state.value);
  expect(await state()).toEqual(['waits until somebody agrees']);
  await records.sql`update notice_addresses set added_at = now() - interval '8 days' where application = ${slug}`;
  expect(await state()).toEqual([expect.stringContaining('nobody has agreed in time')]);
});
