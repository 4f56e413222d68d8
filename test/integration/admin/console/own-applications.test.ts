import { expect, it } from 'vitest';
import type { Route } from '../../../../admin/console/request.ts';
import { createRoutes } from '../../../../admin/console/routes.ts';
import { eventId } from '../../../../contract/ids.ts';
import { operationsOn } from '../../../support/service/admin-operations.ts';
import { startFilledConsole } from '../../../support/service/filled-console.ts';

const { console, ids } = await startFilledConsole({
  skipsTime: true,
  temporal: {
    cancel: async () => ({ kind: 'ended', status: 'cancelled' }),
    testWebhook: async (id) => {
      await console.sql`
        update webhook_tests set completed_at = now(), sent = '{}', duration_ms = 7,
          response_status = 204 where id = ${id}::uuid`;
    },
  },
});
const { accounts } = ids;

const paymentsOf = async (application: string) => {
  const [row] = await console.sql<
    { delivered: string; open: string; refund: string; dispute: string; order: string }[]
  >`
    select
      (select id from disputes where application = ${application} limit 1) as dispute,
      (select id from refunds where application = ${application} limit 1) as refund,
      (select 'mode=' || case when test then 'test' else 'live' end || '&order=' || order_id from payments
        where application = ${application} and status = 'pending' limit 1) as order,
      (select payment_id from deliveries where application = ${application} and status = 'delivered' limit 1)
        as delivered,
      (select id from payments where application = ${application} and status = 'pending' limit 1) as open`;
  if (!row) throw new Error(`No payments of ${application}`);
  return row;
};
const { links } = ids;
const objects = {
  shop: { ...(await paymentsOf('shop')), difference: accounts.mendable, link: links.open },
  tickets: { ...(await paymentsOf('tickets')), difference: accounts.open, link: links.ofTickets },
};

const developer = await console.logIn('operator', 'developer', ['shop']);
const reader = await console.logIn('viewer', 'reader', ['shop']);

type Owner = keyof typeof objects;

const addressOf = ({ path, owner }: Route & { owner?: unknown }, application: Owner): string => {
  const { delivered, open, refund, dispute, link, order, difference } = objects[application];
  const address = path
    .replace(':slug', application)
    .replace(':number', String(difference))
    .replace(':gateway/:day', `zarinpal/${accounts.openDay}`)
    .replace(':event', eventId(delivered))
    .replace('/refunds/:id', `/refunds/${refund}`)
    .replace('/disputes/:id', `/disputes/${dispute}`)
    .replace('/links/:id', `/links/${link}`)
    .replace(':id', /verify|cancel|skip/.test(path) ? open : delivered)
    .replaceAll(/:\w+/g, '1');
  if (path.startsWith('/orders/')) return `${address}?${order}`;
  return owner === 'list' ? `${address}?application=${application}` : address;
};

const isOfPeople = (route: Route) => route.role !== 'anyone' && route.path !== '/logout';
const routes = createRoutes(console.deps).filter(isOfPeople);
const ownerOf = (route: Route) => ('owner' in route ? route.owner : undefined);

const ask = (route: Route, application: Owner, person = developer) => {
  const address = addressOf(route, application);
  return route.method === 'POST' ? person.post(address, { reason: 'a walk' }) : person.get(address);
};

it.each(routes)('$method $path of another application is not there', async (route) => {
  const owner = ownerOf(route);
  const { status, text } = await ask(route, 'tickets');
  if (owner !== 'person') return expect(status).toBe(404);
  expect([200, 303, 400, 404, 409]).toContain(status);
  return expect(text).not.toContain('tickets');
});

it.each(routes.filter((route) => !['person', undefined].includes(ownerOf(route) as string)))(
  '$method $path of the own application is there',
  async (route) => {
    const { status } = await ask(route, 'shop');
    // 409: the state of the payment does not allow it.
    expect([200, 303, 409]).toContain(status);
  },
);

it.each(routes.filter((route) => ownerOf(route) && route.role === 'operator'))(
  '$method $path needs more than a viewer',
  async (route) => expect((await ask(route, 'shop', reader)).status).toBe(403),
);

it.each([
  '/payments',
  '/refunds',
  '/disputes',
  '/links',
  '/accounts',
  `/accounts/zarinpal/${accounts.openDay}`,
  '/deliveries',
  '/payments?application=&status=paid',
])('the list %s shows the own application alone', async (path) => {
  const { status, headers } = await reader.get(path);
  expect(status).toBe(303);
  expect(headers.location).toContain('application=shop');
  expect(await reader.read(headers.location ?? '')).not.toContain('tickets');
  const twice = '/payments?application=shop&application=tickets';
  expect((await reader.get(twice)).text).not.toContain('>tickets<');
});

it('an account of another application is the same as one that there is not', async () => {
  await console.sql`
    insert into gateways (slug, driver, kind) values ('secret-bank', 'zibal', 'live'), ('secret-test', 'zibal', 'sandbox')`;
  await console.sql`update applications set allowed_gateways = '{secret-bank,secret-test}' where slug = 'tickets'`;
  const of = 'application=shop';
  for (const slug of ['secret-bank', 'secret-test']) {
    for (const path of ['/payments', '/disputes', '/refunds', '/links', '/deliveries', '/accounts'])
      expect(await reader.read(`${path}?${of}`), path).not.toContain(slug);
    const answerTo = async (path: (slug: string) => string, asked: string) => {
      const { status, text } = await developer.get(path(asked));
      return [status, text.replaceAll(asked, 'SLUG').replaceAll(/csrf" value="[^"]*"/g, '')];
    };
    for (const path of [
      (each: string) => `/payments?${of}&gateway=${each}`,
      (each: string) => `/payments/file?${of}&gateway=${each}`,
      (each: string) => `/disputes?${of}&gateway=${each}`,
      (each: string) => `/accounts/${each}/${accounts.openDay}?${of}`,
      (each: string) => `/accounts/${each}/${accounts.openDay}/state?${of}`,
      (each: string) => `/accounts/${each}/${accounts.openDay}/file?${of}`,
      (each: string) => `/search?q=${each}`,
    ])
      expect(await answerTo(path, slug), path(slug)).toEqual(await answerTo(path, 'no-such-bank'));
  }
  await console.sql`update applications set allowed_gateways = '{secret-bank}' where slug = 'shop'`;
  expect(await reader.read(`/payments?${of}&gateway=secret-bank`)).toContain('value="secret-bank"');
});

it('the overview leads to the own application', async () => {
  expect((await reader.get('/')).headers.location).toBe('/applications/shop');
});

it('the command line gives a role for applications that exist, and never to an admin', async () => {
  const { console: people } = operationsOn(console.sql);
  const letIn = (rights: object) => people.issueLink(rights, { name: 'ada' });
  await expect(letIn({ role: 'operator', applications: ['none'] })).rejects.toThrow(
    'There is no application "none".',
  );
  await expect(letIn({ role: 'admin', applications: ['shop'] })).rejects.toThrow('whole service');
  await letIn({ role: 'operator', applications: ['shop'] });
  // A new link alone changes nothing.
  expect(await letIn({})).toMatchObject({ role: 'operator', applications: ['shop'] });
  await expect(letIn({ role: 'admin' })).rejects.toThrow('whole service');
  const account = { name: 'ada', role: 'viewer', email: 'ada@shop.example' } as const;
  expect(await people.add(account, null)).toEqual({ role: 'viewer', applications: ['shop'] });
});
