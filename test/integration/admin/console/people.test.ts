import { describe, expect, it } from 'vitest';
import { createApplications } from '../../../../postgres/applications/applications.ts';
import { createGateways, sandboxAccount } from '../../../../postgres/gateways/gateways.ts';
import { forFile } from '../../../support/for-file.ts';
import { startConsole } from '../../../support/service/console.ts';

const console = await forFile(startConsole({ temporal: {} }));
const { sql } = console;
await createGateways(sql).insert(sandboxAccount);
await createApplications(sql).insert({
  slug: 'shop',
  defaultGateway: 'sandbox',
  callbackUrls: ['https://shop.example/return'],
  webhookUrl: null,
});
const admin = await console.logIn('admin', 'ada');
const linkIn = (text: string): string => /\/login\/[\w-]{43}/.exec(text)?.[0] ?? '';
const open = (link: string) => console.call(link, { method: 'POST', form: {} });
const invite = (fields: Record<string, string>) => admin.act('/invite', fields);

describe('a person whom an admin lets in', () => {
  it('logs in once with the link, which is shown once and kept nowhere', async () => {
    const fields = { name: 'eve', role: 'operator', applications: 'shop' };
    const { answer } = await invite(fields);
    const link = linkIn(answer.text);
    const { text } = await admin.get('/people');
    expect(text).toContain('operator of shop');
    const kept = await sql`
      select l::text as link, (select string_agg(a::text, '') from audit_log a) as audit from console_links l`;
    const code = link.slice('/login/'.length);
    expect(code).toHaveLength(43);
    for (const place of [text, JSON.stringify(kept), JSON.stringify(console.lines)])
      expect(place).not.toContain(code);
    expect([(await open(link)).status, (await open(link)).status]).toEqual([303, 410]);
  });

  it('is known already: nothing changes', async () => {
    const { answer } = await invite({ name: 'eve', role: 'viewer' });
    expect([answer.status, answer.text.includes('already')]).toEqual([409, true]);
    const [eve] = await sql`select role, applications from console_people where name = 'eve'`;
    expect(eve).toEqual({ role: 'operator', applications: ['shop'] });
  });

  it('is never an admin, whatever the form says', async () => {
    const { answer } = await invite({ name: 'mallory', role: 'admin' });
    expect(answer.status).toBe(200);
    const [mallory] = await sql`select role from console_people where name = 'mallory'`;
    expect(mallory).toEqual({ role: 'viewer' });
    await expect(
      console.deps
        .operationsOf('ada')
        .console.invite({ name: 'trudy', role: 'admin', applications: null }, 'why'),
    ).rejects.toThrow('command line');
  });

  it.each([
    [{ name: 'new', role: 'viewer', applications: 'nothing' }, 'no application'],
    [{ name: 'service', role: 'viewer' }, 'name needs'],
    [{ name: 'new', role: 'viewer', email: 'not-an-address' }, 'not valid'],
  ])('%j is refused', async (fields, why) => {
    const { answer } = await invite(fields);
    expect([answer.status, answer.text.includes(why)], answer.text).toEqual([409, true]);
    expect(await sql`select from console_people where name = 'new'`).toHaveLength(0);
  });

  it('comes by the identity provider with an address, and gets no link', async () => {
    const { answer } = await invite({ name: 'bob', role: 'viewer', email: 'Bob@Example.com' });
    expect([answer.status, answer.headers.location]).toEqual([303, '/people']);
    const [bob] = await sql`select role, email from console_people where name = 'bob'`;
    expect(bob).toEqual({ role: 'viewer', email: 'bob@example.com' });
    expect(await sql`select from console_links where name = 'bob'`).toHaveLength(0);
  });
});

it('a new link opens the console as the person, and an admin has none', async () => {
  const { answer } = await admin.act('/people/eve/link', {});
  expect((await open(linkIn(answer.text))).status).toBe(303);
  await console.logIn('admin', 'grace');
  const refused = await admin.act('/people/grace/link', {});
  expect([refused.answer.status, linkIn(refused.answer.text)]).toEqual([409, '']);
});

it('who is removed can be let in anew with another role', async () => {
  await console.logIn('operator', 'leaver');
  await admin.act('/people/leaver/remove', { confirm: 'leaver' });
  const { answer } = await invite({ name: 'leaver', role: 'viewer' });
  expect(answer.status).toBe(200);
});
