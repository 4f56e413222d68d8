import { expect, it } from 'vitest';
import { createRoutes } from '../../../../admin/console/routes.ts';
import { fillConsole } from '../../../support/data/fill-console.ts';
import { fillReserved } from '../../../support/data/fill-reserved.ts';
import { forFile } from '../../../support/for-file.ts';
import { startConsole } from '../../../support/service/console.ts';

const console = await forFile(startConsole({ skipsTime: true, temporal: {} }));
const ids = await fillConsole(console.sql);
const stops = await fillReserved(console.sql, ids);

const pathsOfThings = createRoutes(console.deps)
  .filter(({ method, path, role }) => method === 'GET' && path.includes(':') && role !== 'anyone')
  .map(({ path }) => path);

it.each(pathsOfThings)('%s of a thing that does not exist is not there', async (path) => {
  const { cookie } = await console.logIn('admin', 'seeks');
  // The application may exist, and the thing below it not.
  const owners = /:(?:token|secret)/.test(path) ? ['shop', 'nothing'] : ['nothing'];
  for (const owner of owners) {
    const nothing = path.replace(':slug/', `${owner}/`).replaceAll(/:\w+/g, '404');
    const { status, text } = await console.call(nothing, { cookie });
    expect([status, text.includes('<textarea')], text).toEqual([404, false]);
  }
});

it.each([
  ['/applications/shop/disable', 'https://shop.example/return'],
  ['/applications/shop/tokens/TOKEN/revoke', 'checkout'],
  ['/applications/shop/secrets/1/retire', 'the older one'],
  ['/gateways/zarinpal/disable', 'live'],
  ['/people/eve/end', 'Open sessions'],
  ['/payments/OPEN/cancel', '/payments/OPEN'],
])('the question %s shows what it is about', async (path, fact) => {
  const { cookie } = await console.logIn('admin', 'eve');
  const [token] = await console.sql<{ id: string }[]>`
    select left(encode(hash, 'hex'), 16) as id from tokens where application = 'shop' and name = 'checkout'`;
  const fill = (text: string) => text.replace('TOKEN', token?.id ?? '').replace('OPEN', ids.open);
  const { text } = await console.call(fill(path), { cookie });
  const [facts = ''] = /<dl class="facts">[^]*?<\/dl>/.exec(text) ?? [];
  expect(facts).toContain(fill(fact));
});

it('who issued a token that gives money back is offered no “Confirm” of it', async () => {
  const path = `/applications/shop/tokens/${stops.tokenToConfirm}/confirm`;
  const issuer = await console.logIn('admin', 'Another Admin');
  const other = await console.logIn('admin', 'eve');
  const page = async ({ cookie }: { cookie: string }) =>
    (await console.call('/applications/shop', { cookie })).text;
  expect([(await page(other)).includes(path), (await page(issuer)).includes(path)]).toEqual([
    true,
    false,
  ]);
  expect((await console.call(path, other)).status).toBe(200);
  expect((await console.call(path, issuer)).status).toBe(409);
});
