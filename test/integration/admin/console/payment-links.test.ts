import { expect, it } from 'vitest';
import { linkEventId } from '../../../../contract/ids.ts';
import { createLinkEnds } from '../../../../postgres/links/ends.ts';
import { createLinks } from '../../../../postgres/links/links.ts';
import { aLink } from '../../../support/data/links-of-admins.ts';
import { fieldOf } from '../../../support/service/console.ts';
import { startFilledConsole } from '../../../support/service/filled-console.ts';

const { console, sql, ids: filled } = await startFilledConsole();
const ids = filled.links;
const viewer = await console.logIn('viewer', 'reader');
const operator = await console.logIn('operator', 'operator');
const admin = await console.logIn('admin', 'ada');
/** The value of a fact of a page, without its marks. */
const factOf = (text: string, name: string): string | undefined =>
  new RegExp(`<dt>${name}</dt><dd>(.*?)</dd>`, 's')
    .exec(text)?.[1]
    ?.replaceAll(/<[^>]+>/g, '')
    .trim();

it('the list has the links of the mode, and filters them', async () => {
  const all = await viewer.read('/links');
  for (const id of [ids.open, ids.disabled, ids.toConfirm]) expect(all).toContain(id);
  expect(all).not.toContain(ids.ofTickets);
  expect(all).not.toContain('/create-link');
  expect(await admin.read('/links')).toContain('/create-link');
  const held = await viewer.read('/links?status=to_confirm');
  expect([held.includes(ids.toConfirm), held.includes(ids.open)]).toEqual([true, false]);
  const ofOrder = await viewer.post('/links/filter', { order: 'of a link' });
  expect(ofOrder.headers.location).toBe('/links?order=of+a+link');
  const found = await viewer.read('/links?order=of+a+link&application=shop&status=open');
  expect([found.includes(ids.open), found.includes(ids.disabled)]).toEqual([true, false]);
  expect(await viewer.read('/links?order=none')).toContain('No link matches this filter.');
});

it('a link has a page with the address, for its order, found by its id and its order', async () => {
  const text = await viewer.read(`/links/${ids.open}`);
  const url = `https://pay.example/api/v1/links/${ids.open}/pay`;
  expect(text).toContain(`data-copy="${url}"`);
  expect(text).toContain('<strong>12.50 EUR</strong>');
  expect(factOf(text, 'Made by')).toBe('another admin');
  expect(text).toContain('Nobody has begun to pay it.');
  expect(await viewer.search(` see ${ids.open.toLowerCase()}.`)).toBe(`/links/${ids.open}`);
  expect(await viewer.search('of a link')).toBe(`/links/${ids.open}`);
  const order = await viewer.read('/orders/shop?mode=live&order=of+a+link');
  expect(order).toContain(`/links/${ids.open}`);
  expect(factOf(order, 'Held by')).toBe('no payment: those of a link alone can hold it');
  const stranger = await console.logIn('viewer', 'stranger', ['tickets']);
  expect((await stranger.get(`/links/${ids.open}`)).status).toBe(404);
  expect((await stranger.search(ids.open)) ?? null).toBeNull();
});

it('the payments of a link, and it of them, lead to each other', async () => {
  await sql`update payments set link_id = ${ids.open} where id = ${filled.paid}`;
  expect(await viewer.read(`/links/${ids.open}`)).toContain(`/payments/${filled.paid}`);
  expect(await viewer.read(`/payments/${filled.paid}`)).toContain(`/links/${ids.open}`);
});

it('the event of a link that nobody has tried shows the link, and no payment', async () => {
  const made = await createLinks(sql).insert(aLink({ orderId: 'over' }));
  await sql`update links set expires_at = now() where id = ${made?.id ?? ''}`;
  const end = await createLinkEnds(sql).end(made?.id ?? '', new Date());
  const event = linkEventId(made?.id ?? '');
  expect(end?.ownEventId).toBe(event);
  const text = await viewer.read(`/events/${event}`);
  expect(factOf(text, 'Link')).toBe(made?.id);
  expect(factOf(text, 'Payment')).toBeUndefined();
  expect(await viewer.read(`/links/${made?.id}`)).toContain(`/events/${event}`);
  expect(await operator.read(`/events/${event}/replay`)).toContain(`the link ${made?.id}`);
});

const typed = {
  ...{ application: 'tickets', mode: 'test', order: 'A-17', amount: '84.00 EUR', days: '30' },
};

it('an admin alone makes links, and one above the rule is warned of before', async () => {
  for (const person of [viewer, operator])
    expect((await person.get('/create-link')).status).toBe(403);
  const { operationsOf } = console.deps;
  await sql`insert into approvals (kind, currency, above) values ('link', 'EUR', 10000)`;
  const first = await admin.act('/create-link', typed);
  expect(first.answer.status, first.answer.text).toBe(303);
  const warning = await admin.act('/create-link', typed);
  expect(warning.answer.status).toBe(409);
  expect(warning.answer.text).toContain('asked for links of 168.00 EUR within 24 hours');
  const warned = fieldOf(warning.answer.text, 'warned');
  const { answer } = await admin.act('/create-link', { ...typed, warned: warned ?? '' });
  expect(answer.status).toBe(303);
  const path = answer.headers.location ?? '';
  const own = await admin.read(path);
  expect(own).toContain('You have asked for links above the amount of the rule');
  expect(own).not.toContain(`${path}/confirm`);
  expect((await admin.act(`${path}/confirm`, {})).answer.status).toBe(409);
  const other = await console.logIn('admin', 'bob');
  expect(await other.read(path)).toContain(`${path}/confirm`);
  expect(await operator.read(path)).not.toContain(`${path}/confirm`);
  await other.act(`${path}/confirm`, {});
  const { link } = await operationsOf('bob').links.details(path.replace('/links/', ''));
  expect(link).toMatchObject({ toConfirm: false, status: 'open', askedBy: 'ada', test: true });
  await sql`delete from approvals where kind = 'link'`;
});

it.each([
  [{ amount: '84' }, 'It is not money like'],
  [{ amount: '84.00 IRR' }, 'has no decimals'],
  [{ days: '91' }, 'from 1 to 90'],
  [{ order: ' ' }, 'The order must have'],
  [{ application: 'nowhere' }, 'nowhere'],
])('what is wrong in the form is said, and the rest stays: %j', async (wrong, problem) => {
  const { answer } = await admin.act('/create-link', { ...typed, text: 'For you', ...wrong });
  expect([answer.status, answer.text.includes(problem)], answer.text).toEqual([409, true]);
  expect(answer.text).toContain('value="For you"');
});
