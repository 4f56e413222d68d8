import { expect, it } from 'vitest';
import { NotFound, Refusal } from '../../../../admin/operations/change.ts';
import { noticeFacts } from '../../../../admin/operations/facts.ts';
import { createNoticeAddresses } from '../../../../postgres/notices/addresses.ts';
import { createNoticeQueue } from '../../../../postgres/notices/queue.ts';
import { startRecords } from '../../../support/data/records.ts';
import { forFile } from '../../../support/for-file.ts';
import { anApplicationOn, operationsOn } from '../../../support/service/admin-operations.ts';

const records = await forFile(startRecords());
const { notices, auditLog } = operationsOn(records.sql);

it('adds an address once, with its question and a record in the audit log, and removes all of it', async () => {
  const slug = await anApplicationOn(records.sql);
  expect(await notices.add(slug, ' Ops@Shop.example ', 'asked for')).toMatchObject({
    address: 'ops@shop.example',
  });
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

it('asks an address once a day, however often and by whichever application it is added', async () => {
  const [one, two] = [await anApplicationOn(records.sql), await anApplicationOn(records.sql)];
  const address = 'often@shop.example';
  const hoursUntil = ({ asksAt }: { asksAt: Date }) =>
    Math.abs(Math.round((asksAt.getTime() - Date.now()) / 3_600_000));
  const add = (slug: string) => notices.add(slug, address, null);
  expect(hoursUntil(await add(one))).toBe(0);
  await notices.remove(one, address, null);
  expect(hoursUntil(await add(one))).toBe(24);
  await notices.remove(one, address, null);
  expect(hoursUntil(await add(one))).toBe(48);
  expect(hoursUntil(await add(two))).toBe(72);
  expect(await createNoticeQueue(records.sql).listDue(1_000)).not.toContainEqual(
    expect.objectContaining({ address }),
  );
  // The address that was removed is forgotten.
  const [kept] =
    await records.sql`select * from removed_notice_addresses where application = ${one}`;
  expect(JSON.stringify(kept)).not.toContain('often');
  await records.sql`
    update removed_notice_addresses set asked_at = now() - interval '25 hours' where application = ${one}`;
  await notices.add(two, 'another@shop.example', null);
  await notices.remove(two, 'another@shop.example', null);
  expect(
    await records.sql`select from removed_notice_addresses where application = ${one}`,
  ).toHaveLength(0);
});

it('never writes again to an address that has ended notices', async () => {
  const [slug, other] = [await anApplicationOn(records.sql), await anApplicationOn(records.sql)];
  const address = 'ended@shop.example';
  await notices.add(slug, address, null);
  const [due] = (await createNoticeQueue(records.sql).listDue(1_000)).filter(
    (notice) => notice.address === address,
  );
  await createNoticeQueue(records.sql).claim(due!, 'a-token');
  const addresses = createNoticeAddresses(records.sql);
  expect(await addresses.unsubscribe('another-token')).toBe(false);
  expect(await addresses.unsubscribe('a-token')).toBe(true);
  for (let times = 0; times < 2; times += 1) {
    await expect(notices.add(slug, address, null)).rejects.toThrow('has ended');
    if (times === 0) await notices.remove(slug, address, null);
  }
  await notices.add(other, address, null);
});

it('an address that nobody has confirmed in time waits no longer', async () => {
  const slug = await anApplicationOn(records.sql);
  await notices.add(slug, 'late@shop.example', null);
  const state = async () => (await notices.list(slug)).map((each) => noticeFacts(each).state.value);
  expect(await state()).toEqual(['waits until somebody agrees']);
  await records.sql`update notice_addresses set added_at = now() - interval '8 days' where application = ${slug}`;
  expect(await state()).toEqual([expect.stringContaining('nobody has agreed in time')]);
});
