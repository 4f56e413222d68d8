import { expect, it } from 'vitest';
import { createRoutes } from '../../../../admin/console/routes.ts';
import {
  disputeId,
  eventId,
  newLinkId,
  newPaymentId,
  newReplayId,
  refundId,
} from '../../../../contract/ids.ts';
import { fillReserved } from '../../../support/data/fill-reserved.ts';
import { fieldOf } from '../../../support/service/console.ts';
import { startFilledConsole } from '../../../support/service/filled-console.ts';

const { console, ids } = await startFilledConsole({ skipsTime: true, temporal: {} });
const stops = await fillReserved(console.sql, ids);

const seeker = await console.logIn('admin', 'eve');
const pathsOfThings = createRoutes(console.deps)
  .filter(({ method, path, role }) => method === 'GET' && path.includes(':') && role !== 'anyone')
  .map(({ path }) => path);
/** Ids as the service makes them, of things that do not exist. */
const wellFormed = {
  '/payments/:id': `/payments/${newPaymentId()}`,
  '/refunds/:id': `/refunds/${refundId(['nothing'])}`,
  '/disputes/:id': `/disputes/${disputeId('nobody', 'dp_1')}`,
  '/links/:id': `/links/${newLinkId()}`,
  '/replays/:id': `/replays/${newReplayId()}`,
  ':event': eventId(newPaymentId()),
};

it.each(pathsOfThings)('%s of a thing that does not exist is not there', async (path) => {
  let known = path;
  for (const [part, id] of Object.entries(wellFormed)) known = known.replace(part, id);
  // The application may exist, and the thing below it not.
  const paths = /:(?:token|secret)/.test(path) ? [path, path.replace(':slug', 'shop')] : [path];
  for (const each of [...paths, known]) {
    const nothing = each.replace(':slug/', 'nothing/').replaceAll(/:\w+/g, '404');
    const { status, text } = await seeker.get(nothing);
    expect([status, text.includes('<textarea')], text).toEqual([404, false]);
  }
});

const tokenOf = async (application: string): Promise<string> => {
  const [token] = await console.sql<{ id: string }[]>`
    select left(encode(hash, 'hex'), 16) as id from tokens
    where application = ${application} and name = 'checkout'`;
  return token?.id ?? '';
};
const [shopToken, ticketsToken] = [await tokenOf('shop'), await tokenOf('tickets')];

it.each([
  ['/applications/shop/disable', 'https://shop.example/return'],
  [`/applications/shop/tokens/${shopToken}/revoke`, 'checkout'],
  ['/applications/shop/secrets/1/retire', 'the older one'],
  ['/gateways/zarinpal/disable', 'live'],
  ['/people/eve/end', 'Open sessions'],
  [`/payments/${ids.open}/cancel`, `/payments/${ids.open}`],
])('the question %s shows what it is about', async (path, fact) => {
  const { text } = await seeker.get(path);
  const [facts = ''] = /<dl class="facts">[^]*?<\/dl>/.exec(text) ?? [];
  expect(facts).toContain(fact);
});

it('who issued a token that gives money back is offered no “Confirm” of it', async () => {
  const path = `/applications/shop/tokens/${stops.tokenToConfirm}/confirm`;
  const issuer = await console.logIn('admin', 'Another Admin');
  const other = seeker;
  expect(await other.read('/applications/shop')).toContain(path);
  expect(await issuer.read('/applications/shop')).not.toContain(path);
  expect((await other.get(path)).status).toBe(200);
  expect((await issuer.get(path)).status).toBe(409);
});

it.each([
  ['/gateways/sandbox/disable', /then have no gateway[^<]*tickets/],
  ['/applications/tickets/disable', /tickets has \d+ open payments/],
  [`/applications/tickets/tokens/${ticketsToken}/revoke`, /can create no live payments/],
])('the question %s says what it does to payments', async (path, what) => {
  expect((await seeker.get(path)).text).toMatch(what);
});

it('a change of gateways is made once the person has read what it does, for the fields that are sent', async () => {
  await console.sql`update gateways set credentials = 'sealed' where slug = 'zarinpal'`;
  const person = await console.logIn('admin', 'reader');
  const choose = async (fields: Record<string, string>) => {
    const { answer } = await person.act('/applications/tickets/gateway', fields);
    return { ...answer, warned: fieldOf(answer.text, 'warned') };
  };
  const zarinpal = { gateway: 'zarinpal', fallbacks: '' };
  const first = await choose(zarinpal);
  expect(first.status).toBe(409);
  expect(first.text).toMatch(/zarinpal(?:&quot;|") takes no EUR, which \d+ payments/);
  expect(first.text).toContain('Nothing was changed yet');
  await console.sql`
    insert into gateways (slug, driver, kind, credentials) values ('other', 'zibal', 'live', 'sealed')`;
  const other = await choose({ ...zarinpal, fallbacks: 'other', warned: first.warned });
  expect([other.status, other.text.includes('other')]).toEqual([409, true]);
  expect(await console.auditOf('reader')).toEqual([]);
  expect((await choose({ ...zarinpal, warned: first.warned })).status).toBe(303);
  expect(await console.auditOf('reader')).toHaveLength(1);
});

it('the choice of a gateway says which ones take no payment', async () => {
  await console.sql`
    insert into gateways (slug, driver, kind, enabled)
    values ('off', 'sandbox', 'sandbox', false), ('bare', 'zibal', 'live', true)`;
  for (const path of ['/applications/shop/gateway', '/create-application']) {
    const { text } = await seeker.get(path);
    expect(text).toContain('off (is disabled)');
    expect(text).toContain('bare (has no credentials)');
  }
});

const asks = async (path: string) => {
  const { status, text } = await seeker.get(path);
  return { status, text, isAsked: text.includes('<textarea') };
};
const setUrl = (url: string | null) => console.sql`update applications set webhook_url = ${url}`;

it.each([
  `/payments/${ids.paid}/cancel`,
  `/payments/${ids.paid}/verify`,
  `/payments/${ids.paid}/release-order`,
  `/payments/${ids.paid}/checked`,
  `/payments/${ids.open}/release-order`,
])('%s is not asked of a payment that does not allow it', async (path) => {
  expect(await asks(path)).toMatchObject({ status: 409, isAsked: false });
});

it('the question whether to cancel says what becomes of the money and of the webhook', async () => {
  const path = `/payments/${ids.open}/cancel`;
  const before = await asks(path);
  expect(before.text).toContain('and a webhook tells the application');
  expect(before.text).toContain('otherwise a person must look after it');
  await setUrl(null);
  const [payment] = await console.sql<{ reference: string }[]>`
    select gateway_reference as reference from payments where id = ${ids.open}`;
  await console.sql`update payments set gateway_reference = null where id = ${ids.open}`;
  const { text } = await asks(path);
  await console.sql`
    update payments set gateway_reference = ${payment?.reference ?? ''} where id = ${ids.open}`;
  expect(text).toContain('no webhook tells the application: it has no webhook URL');
  expect(text).not.toContain('Money that still comes');
  await setUrl('https://shop.example/webhook');
});

it('what needs a webhook URL is not promised to an application without one', async () => {
  await setUrl(null);
  const replay = await asks(`/events/${eventId(ids.exhausted)}/replay`);
  const events = await asks('/applications/shop/refund-events');
  const disable = await asks('/applications/shop/disable');
  await setUrl('https://shop.example/webhook');
  expect(replay).toMatchObject({ status: 409, isAsked: false });
  expect(events.text).toContain('nothing is sent before it has one');
  expect(disable.text).not.toContain('webhooks are still delivered');
});

it('a replay that has ended is not asked to stop', async () => {
  const id = newReplayId();
  await console.sql`
    insert into replays (id, trigger, delivery, to_at, matched, status, ended_at)
    values (${id}, 'admin', 'failing', now(), 1, 'done', now())`;
  expect(await asks(`/deliveries/replays/${id}/stop`)).toMatchObject({ status: 409 });
});

it('the revocation of a token that gives money back says what does not stop with it', async () => {
  const words = 'Refunds that it has asked for do not stop';
  const path = (id: string) => `/applications/shop/tokens/${id}/revoke`;
  expect((await asks(path(stops.tokenToConfirm))).text).toContain(words);
  expect((await asks(path(shopToken))).text).not.toContain(words);
});
