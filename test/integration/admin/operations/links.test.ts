import { expect, it } from 'vitest';
import { createApplications } from '../../../../postgres/applications/applications.ts';
import { runLine, words } from '../../../support/service/admin-line.ts';
import { operationsOn } from '../../../support/service/admin-operations.ts';
import { startRecords } from '../../../support/data/records.ts';
import { forFile } from '../../../support/for-file.ts';

const { sql } = await forFile(startRecords());
const ada = operationsOn(sql);
const bob = operationsOn(sql, { actor: 'bob' });
const wanted = {
  ...{ application: 'shop', test: false, orderId: 'A-17', amount: 600, currency: 'EUR' },
  ...{ description: 'Invoice A-17', locale: 'de', expiresIn: 3_600 },
};
const auditOf = (id: string) => ada.auditLog({ subject: `link:${id}`, limit: 10 });

it('an admin makes a link, finds it and disables it once, with records', async () => {
  const { link, url } = await ada.links.create(wanted, 'asked by phone');
  expect(link).toMatchObject({ status: 'open', askedBy: 'ada', toConfirm: false });
  expect(link.expiresAt.getTime() - link.createdAt.getTime()).toBeCloseTo(3_600_000, -4);
  expect(url).toBe(`https://pay.example/api/v1/links/${link.id}/pay`);
  await ada.links.disable(link.id, 'the wrong amount');
  await expect(ada.links.disable(link.id, 'again')).rejects.toThrow('is disabled, so');
  expect(await ada.links.details(link.id)).toMatchObject({
    link: { status: 'disabled' },
    ...{ url, tries: [], event: undefined },
  });
  const facts = { application: 'shop', order_id: 'A-17', amount: 600, currency: 'EUR' };
  expect(await auditOf(link.id)).toMatchObject([
    { action: 'link.disable', reason: 'the wrong amount', after: { status: 'disabled' } },
    { action: 'link.create', reason: 'asked by phone', actor: 'ada', after: facts },
  ]);
});

it.each([
  [{ orderId: '' }, 'The order must have 1 to 100 characters.'],
  [{ description: 'x'.repeat(256) }, 'The text must have at most 255 characters.'],
  [{ expiresIn: 7_776_001 }, 'The time, in seconds, must be an integer from 300 to 7776000'],
  [{ currency: 'XXX' }, 'The currency must be an ISO 4217'],
  [{ locale: 'xx' }, 'The language must be one of'],
  [{ amount: 0 }, 'The amount must be an integer from 1'],
  [{ application: 'none' }, 'none'],
  [{ application: 'closed' }, 'closed is disabled, so nobody could pay the link.'],
  [{ application: 'rials' }, 'No gateway of rials takes it. The currency is not taken by rials'],
  [{ application: 'rials', test: true }, 'rials has live gateways, which no test uses'],
])('a link that nobody could pay is refused: %j', async (more, problem) => {
  await sql`
    insert into gateways (slug, driver, kind) values ('rials', 'zarinpal', 'live') on conflict do nothing`;
  for (const [slug, defaultGateway] of [
    ['closed', 'sandbox'],
    ['rials', 'rials'],
  ] as const)
    if (!(await createApplications(sql).get(slug)))
      await createApplications(sql).insert({
        ...{ slug, defaultGateway, callbackUrls: ['https://a.example/'], webhookUrl: null },
      });
  await sql`update applications set status = 'disabled' where slug = 'closed'`;
  const before = await ada.auditLog({ subject: null, limit: 100 });
  await expect(ada.links.create({ ...wanted, ...more }, 'why')).rejects.toThrow(problem);
  expect(await ada.auditLog({ subject: null, limit: 100 })).toHaveLength(before.length);
});

it('above the sum of 24 hours another admin confirms, whatever was disabled meanwhile', async () => {
  await ada.links.setApprovalAbove('EUR', 2_000, 'the rule of the house');
  const own = operationsOn(sql, { actor: 'eve' });
  const first = await own.links.create({ ...wanted, amount: 2_000 }, 'up to the rule');
  expect(first.link.toConfirm).toBe(false);
  await own.links.disable(first.link.id, 'never mind');
  expect(await own.links.overRule({ ...wanted, amount: 1 })).toEqual({
    total: 2_001,
    above: 2_000,
  });
  expect(await own.links.overRule({ ...wanted, amount: 1, test: true })).toBeUndefined();
  expect(await own.links.overRule({ ...wanted, amount: 1, currency: 'USD' })).toBeUndefined();
  const { link } = await operationsOn(sql, { actor: ' EVE' }).links.create(wanted, 'more');
  expect(link.toConfirm).toBe(true);
  await expect(own.links.confirm(link.id, null)).rejects.toThrow('Another admin than');
  await bob.links.confirm(link.id, 'seen');
  expect(await bob.links.get(link.id)).toMatchObject({ toConfirm: false, status: 'open' });
  await expect(bob.links.confirm(link.id, null)).rejects.toThrow('does not wait');
  await sql`update links set created_at = now() - interval '25 hours'`;
  expect(await own.links.overRule({ ...wanted, amount: 2_000 })).toBeUndefined();
  await ada.links.setApprovalAbove('EUR', null, 'the end');
  expect(await own.links.overRule({ ...wanted, amount: 9_999_999 })).toBeUndefined();
});

it('of two links at once that are above the rule together one waits', async () => {
  await ada.links.setApprovalAbove('EUR', 1_000, 'the rule of the house');
  const by = operationsOn(sql, { actor: 'at once' });
  const made = await Promise.all([by.links.create(wanted, 'one'), by.links.create(wanted, 'two')]);
  expect(made.filter(({ link }) => link.toConfirm)).toHaveLength(1);
  await ada.links.setApprovalAbove('EUR', null, 'the end');
});

const line = (text: string, ...more: string[]) => runLine(() => ada, [...words(text), ...more]);

it('the command line makes, lists, shows, confirms and disables links', async () => {
  const create =
    'links create shop --order B-1 --text Invoice --language fa --days 90 --test --reason r';
  const made = await line(create, '--amount', '1084.00 EUR', '--json');
  expect(made).toMatchObject({ code: 0, notes: '' });
  const { id, url, ...link } = JSON.parse(made.out) as Record<string, string>;
  expect(link).toMatchObject({
    ...{ order_id: 'B-1', amount: 108_400, description: 'Invoice', locale: 'fa', test: true },
  });
  const shown = await line(`links show ${id}`);
  expect(shown.out).toContain(url);
  expect(shown.out).toContain('Nobody has begun to pay it.');
  const listed = await line('links list --application shop --order B-1 --status open');
  expect(listed.out).toMatch(new RegExp(`${id} +shop +B-1 +1,084.00 EUR +open`));
  expect((await line('links list --to-confirm --order B-1')).out).toBe('No link matches.');
  const disabled = await line(`links disable ${id} --reason r --yes`);
  expect([disabled.code, disabled.out.trim()]).toEqual([0, `${id} is disabled.`]);

  const rule = await line('links confirm-above EUR --reason r', '--amount', '1.00 EUR');
  expect(rule.out).toContain('A second admin confirms links: above 1.00 EUR.');
  const held = await line('links create shop --order B-2 --reason r', '--amount', '2.00 EUR');
  expect(held.out).toMatch(
    /^LNK_\w+ waits: links confirm\. Another admin must confirm it, because/,
  );
  const [heldId = ''] = /LNK_\w+/.exec(held.out) ?? [];
  expect((await line('links list --to-confirm')).out).toContain(heldId);
  const confirmed = await runLine(() => bob, words(`links confirm ${heldId} --yes`));
  expect(confirmed).toMatchObject({ code: 0, notes: '' });
  expect((await line('links confirm-above EUR --reason r')).out).toContain('never');
});

it.each([
  ['links show LNK_1', 1, 'There is no link LNK_1.'],
  ['links disable PAY_1 --reason r --yes', 1, 'There is no link PAY_1.'],
  ['links create shop --order a --reason r', 2, 'It is not money like', '84'],
  ['links create shop --order a --days 91 --reason r', 2, 'from 1 to 90'],
  ['links create shop --order a --language xx --reason r', 2, 'Allowed choices'],
  ['links create shop --order a', 2, '--reason'],
  ['links create nowhere --order a --reason r', 1, 'nowhere'],
  ['links list --application nowhere', 1, 'nowhere'],
  ['links confirm-above XXX --reason r', 1, 'There is no currency XXX.'],
])('%s is refused', async (text, code, problem, amount = '1.00 EUR') => {
  const ran = await line(text, ...(text.includes('create') ? ['--amount', amount] : []));
  expect([ran.code, ran.notes.includes(problem)], ran.notes).toEqual([code, true]);
});
