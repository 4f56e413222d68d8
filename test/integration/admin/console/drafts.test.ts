import { describe, expect, it } from 'vitest';
import { fieldOf, type Person } from '../../../support/service/console.ts';
import { startFilledConsole } from '../../../support/service/filled-console.ts';

const { console, ids } = await startFilledConsole();

const change = async (name: string, how: 'ended_at' | 'created_at') => {
  await console.sql`
    update console_sessions set ${console.sql(how)} = now() - interval '11 minutes' where name = ${name}`;
};
const path = '/applications/shop/callback-urls';
const typed = 'https://shop.example/typed';
const form = { reason: 'the shop has moved', callbacks: typed };
const send = (to: string, person: Person, fields: object = form) =>
  person.post(to, { form_id: 'x', ...fields });
/** The address to which the login leads back. */
const backIn = (text: string): string =>
  decodeURIComponent(/<main.*?name="back" value="([^"]+)"/s.exec(text)?.[1] ?? '').replaceAll(
    '&amp;',
    '&',
  );
const callbacks = async () => {
  const [row] = await console.sql`select callback_urls from applications where slug = 'shop'`;
  return row?.['callback_urls'] as string[];
};

describe('a form that is sent after its login', () => {
  it.each([
    ['has ended', 'ended_at'],
    ['is too old for it', 'created_at'],
  ] as const)('%s leads back to the form, filled and not sent', async (_, how) => {
    const before = await callbacks();
    const name = `person ${how}`;
    const old = await console.logIn('admin', name);
    await change(name, how);
    const refused = await send(path, old);
    const login = how === 'ended_at' ? await console.call(refused.headers.location ?? '') : refused;
    expect(login.text).toContain('what you typed');
    const back = backIn(login.text);
    expect(back).toMatch(/^\/applications\/shop\/callback-urls\?draft=/);
    const { text } = await (await console.logIn('admin', name)).get(back);
    expect(text).toContain(`${typed}</textarea>`);
    expect(text).toContain('the shop has moved</textarea>');
    expect(text).toContain('Nothing was sent yet');
    expect(await callbacks()).toEqual(before);
  });

  it('is sent from there as from any page', async () => {
    const old = await console.logIn('admin', 'sends');
    await change('sends', 'created_at');
    const back = backIn((await send(path, old)).text);
    const person = await console.logIn('admin', 'sends');
    const formId = fieldOf((await person.get(back)).text, 'form_id');
    expect(formId).not.toBe('x');
    const { status } = await send(back, person, { ...form, form_id: formId });
    expect([status, await callbacks()]).toEqual([303, [typed]]);
  });

  it('is shown to nobody else', async () => {
    const own = 'https://shop.example/own';
    const old = await console.logIn('admin', 'owner');
    await change('owner', 'ended_at');
    const back = decodeURIComponent(
      (await send(path, old, { ...form, callbacks: own })).headers.location ?? '',
    ).slice('/login?back='.length);
    const other = await console.logIn('admin', 'another');
    expect((await other.get(back)).text).not.toContain(own);
    const elsewhere = back.replace('/shop/', '/tickets/');
    const owner = await console.logIn('admin', 'owner');
    expect((await owner.get(elsewhere)).text).not.toContain(own);
    expect((await owner.get(back)).text).toContain(own);
  });

  it.each([
    ['/applications/shop/webhook-url', { url: 'https://shop.example/?key=hidden' }],
    ['/gateways/zarinpal/credentials', { credentials: '{"merchantId":"hidden"}', confirm: 'x' }],
    ['/applications/shop/tokens/issue', { name: 'svc_live_hidden', reason: 'whsec_hidden' }],
    ['/applications/shop/tokens/issue', { name: 'a', reason: 'card 4111 1111 1111 1111' }],
  ])('%s keeps no secret', async (to, fields) => {
    const old = await console.logIn('admin', 'secretive');
    await change('secretive', 'created_at');
    const back = backIn((await send(to, old, { ...form, ...fields })).text);
    const { text } = await (await console.logIn('admin', 'secretive')).get(back);
    expect(text).toContain('Nothing was sent yet');
    expect(text).not.toMatch(/":"hidden|_hidden|key=hidden|4111 1111/);
  });

  it('keeps the amount of a refund and the tick beside it', async () => {
    const old = await console.logIn('admin', 'refunds');
    await change('refunds', 'ended_at');
    const to = `/payments/${ids.paid}/refund`;
    const { headers } = await send(to, old, { amount: '1.23', recorded: 'yes' });
    const back = decodeURIComponent(headers.location ?? '').slice('/login?back='.length);
    const { text } = await (await console.logIn('admin', 'refunds')).get(back);
    expect([text.includes('value="1.23"'), / checked/.test(text)]).toEqual([true, true]);
  });

  it('of somebody who never logged in is kept nowhere', async () => {
    const cookie = `console=${'x'.repeat(43)}`;
    const stranger = await console.call(path, { method: 'POST', cookie, form });
    expect(stranger.headers.location).toBe('/login');
    const real = await console.logIn('admin', 'forged');
    await change('forged', 'ended_at');
    const forged = await send(path, real, { ...form, csrf: 'x'.repeat(43) });
    expect(forged.headers.location).toBe('/login');
  });
});
