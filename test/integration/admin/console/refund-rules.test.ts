import { describe, expect, it } from 'vitest';
import { fieldOf } from '../../../support/service/console.ts';
import { startFilledConsole } from '../../../support/service/filled-console.ts';

const { console, sql } = await startFilledConsole();
const ada = await console.logIn('admin', 'ada');
const bob = await console.logIn('admin', 'bob');

const set = (fields: Record<string, string>, person = ada) =>
  person.act('/refunds/rules/change', fields);
const limit = (fields: Record<string, string>, person = ada) =>
  person.act('/applications/shop/refund-limit', fields);
const approvals = async () =>
  (await sql`select currency, above from approvals where kind = 'refund' order by currency`).map(
    ({ currency, above }) => `${String(currency)} ${String(above)}`,
  );
const limits = async () =>
  (
    await sql`select currency, per_day, test from refund_limits where application = 'shop' order by currency, test`
  ).map(({ currency, per_day, test }) => `${String(currency)} ${String(per_day)} ${String(test)}`);

describe('the amount for the second admin', () => {
  it('is stricter at once', async () => {
    await set({ currency: 'eur', amount: '500.00' });
    await set({ currency: 'EUR', amount: '100.00' });
    expect(await approvals()).toEqual(['EUR 10000']);
  });

  it.each([
    ['higher', '900.00', ['EUR 90000']],
    ['none', '', []],
  ])('is %s only when another admin has confirmed it', async (_, amount, then) => {
    const before = await approvals();
    const { answer } = await set({ currency: 'EUR', amount });
    expect(answer.headers.location).toBe('/refunds/rules');
    expect(await approvals()).toEqual(before);
    const path = '/refunds/rules/EUR/confirm';
    expect((await ada.get(path)).status).toBe(409);
    const list = await ada.get('/refunds/rules');
    expect(list.text).not.toContain(path);
    const { text } = await bob.get(path);
    expect(text).toContain('ada');
    const seen = fieldOf(text, 'seen');
    const { answer: confirmed } = await bob.act(path, { seen });
    expect(confirmed.status).toBe(303);
    expect(await approvals()).toEqual(then);
    expect(await sql`select from refund_rule_requests`).toHaveLength(0);
    await set({ currency: 'EUR', amount: '100.00' });
  });

  it('is not confirmed with another amount than was seen', async () => {
    await set({ currency: 'EUR', amount: '200.00' });
    const { text } = await bob.get('/refunds/rules/EUR/confirm');
    const seen = fieldOf(text, 'seen');
    await set({ currency: 'EUR', amount: '999999.00' });
    const { answer } = await bob.act('/refunds/rules/EUR/confirm', { seen });
    expect([answer.status, await approvals()]).toEqual([409, ['EUR 10000']]);
  });

  it('stays as it is when somebody refuses the wish', async () => {
    await ada.act('/refunds/rules/EUR/refuse', {});
    expect(await sql`select from refund_rule_requests`).toHaveLength(0);
    expect(await approvals()).toEqual(['EUR 10000']);
  });

  it.each([
    [{ currency: 'XYZ', amount: '1.00' }, 'no currency'],
    [{ currency: 'EUR', amount: '1.000' }, 'separators of thousands'],
    [{ currency: 'EUR', amount: '100.00' }, 'so already'],
  ])('%j is refused', async (fields, why) => {
    const { answer } = await set(fields);
    expect([answer.status, answer.text.includes(why)], answer.text).toEqual([409, true]);
  });
});

describe('the limit of an application', () => {
  it('is stricter at once, in both modes', async () => {
    await limit({ currency: 'EUR', amount: '100.00' });
    expect(await limits()).toEqual(['EUR 10000 false', 'EUR 10000 true']);
    await limit({ currency: 'EUR', amount: '50.00' });
    expect(await limits()).toEqual(['EUR 5000 false', 'EUR 5000 true']);
    expect((await ada.get('/applications/shop')).text).toContain('up to 50.00 EUR');
  });

  it.each([
    ['higher', 'EUR', '70.00'],
    ['in another currency, which had none', 'USD', '1.00'],
    ['none', 'EUR', ''],
  ])('waits for another admin when it is %s', async (_, currency, amount) => {
    const before = await limits();
    await limit({ currency, amount });
    expect(await limits()).toEqual(before);
    const path = `/refunds/rules/shop.${currency}/confirm`;
    expect((await bob.get(path)).status).toBe(200);
    await ada.act(`/refunds/rules/shop.${currency}/refuse`, {});
  });

  it('is what one admin says while no refund needs two', async () => {
    await sql`delete from approvals where kind = 'refund'`;
    await limit({ currency: 'EUR', amount: '' });
    expect(await limits()).toEqual([]);
  });
});
