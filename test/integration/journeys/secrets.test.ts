import { describe, expect, it } from 'vitest';
import { createGateways } from '../../../postgres/gateways/gateways.ts';
import { createSecretBox } from '../../../postgres/secrets/secret-box.ts';
import { createTokens } from '../../../postgres/applications/tokens.ts';
import type { startStripe } from '../../fakes/stripe.ts';
import type { Vandar } from '../../support/gateways/vandar.ts';
import type { Answer } from '../../support/service/journey.ts';
import { endInEveryWay } from '../../support/service/every-outcome.ts';
import { consolePagesOf } from '../../support/checks/console-pages.ts';
import { leaksIn, metricsOf, placesOf, type Place } from '../../support/checks/secret-leaks.ts';
import { holdLock } from '../../support/data/hold-lock.ts';
import {
  providerNames,
  providerSecrets,
  reportsCard,
  startProviders,
  type ProviderName,
} from '../../support/service/providers.ts';
import { startService } from '../../support/service/service.ts';
import { skipAllTime } from '../../support/service/skip-time.ts';
import { until } from '../../support/until.ts';
import { forFile } from '../../support/for-file.ts';

const card = '4242424242424242';
const otherCard = '5555 5555 5555 4444';
const wrongKey = 'sk_live_51Habcdefghijklmnop';
/** Of a payment: they may stand in Postgres, and in no log. */
const personal = {
  description: 'a description of the order',
  metadata: { note: 'a note of the shop' },
};

const service = await forFile(startService({ ownTemporal: true }));
const providers = await forFile(startProviders(service));
const { token, secret, journey } = await service.anApplication();
const answers: Place[] = [];

/** Only the gateway may know it. */
const payer = {
  mobile: '+989127654321',
  email: 'ada.lovelace@payer.example',
  name: 'علی Rezaei-Lovelace',
  locale: 'fa',
};

const [key = Buffer.alloc(0)] = service.keyRing.keys.values();
const [webhooksKey = Buffer.alloc(0)] = service.webhookKeyRing.keys.values();
const secrets: Record<string, string> = {
  token,
  'webhook secret': secret,
  SECRETS_KEY: key.toString('base64'),
  'bytes of SECRETS_KEY': key.toString('latin1'),
  WEBHOOKS_KEY: webhooksKey.toString('base64'),
  'bytes of WEBHOOKS_KEY': webhooksKey.toString('latin1'),
  'key of a wrong account': wrongKey,
  'mobile of a payer': '9127654321',
  'e-mail address of a payer': payer.email,
  'name of a payer': payer.name,
  'part of the name': 'Lovelace',
  'address of the database': service.env.DATABASE_URL,
  ...Object.fromEntries(providerSecrets.map((each, at) => [`credential ${at + 1}`, each])),
};

/** Stores a response for the search. */
const keep = (answer: Answer): Answer => {
  const headers = JSON.stringify([...answer.headers]);
  answers.push({ where: `an answer ${answer.status}`, text: `${headers} ${answer.text}` });
  return answer;
};

const atEachProvider = (act: (name: ProviderName) => Promise<void>) =>
  Promise.all(providerNames.map(act));

/** The payments of the payer. */
const withPayer: string[] = [];

/** Each gateway gets the payer, and once more refuses the data and quotes them. The last payment is never opened. */
const payWithPayer = async () => {
  await atEachProvider(async (name) => {
    for (const dislikes of [false, true]) {
      const provider = providers.of(name);
      provider.dislikePayers?.(dislikes);
      const { id } = await providers.sent(journey, name, { payer });
      withPayer.push(id);
      const hasPayer = provider.calls.some(({ text }) =>
        /912765432|payer\.example|Lovelace/.test(text),
      );
      expect(hasPayer, name).toBe(provider.dislikePayers !== undefined);
      keep(await journey.get(id));
      keep(await journey.request('POST', `/api/v1/payments/${id}/cancel`, {}));
      provider.dislikePayers?.(false);
    }
  });
  const order = { order_id: 'o', amount: 150_000, currency: 'IRR', gateway: 'zibal', payer };
  providers.of('zibal').failAll(/./, 'error');
  const keyed = { 'idempotency-key': 'of a payer' };
  const { json } = keep(await journey.request('POST', '/api/v1/payments', order, keyed));
  keep(await journey.request('POST', '/api/v1/payments', order, keyed));
  keep(await journey.request('POST', '/api/v1/payments', { ...order, amount: 1 }, keyed));
  for (const wrong of [{ mobile: [payer.mobile] }, { [payer.email]: 1 }, { name: [payer.name] }])
    keep(await journey.request('POST', '/api/v1/payments', { ...order, payer: wrong }));
  const useless = {
    mobile: `${payer.mobile} / 2`,
    email: `<${payer.email}>`,
    name: `${payer.name}\n2`,
  };
  const atSandbox = { ...order, gateway: 'sandbox', payer: useless };
  const { json: taken } = keep(await journey.request('POST', '/api/v1/payments', atSandbox));
  expect(taken['payer_ignored']).toEqual(Object.keys(useless));
  const id = String(json['payment_id']);
  await until('the gateway gives no answer', async () => {
    const rows = await service.sql`select from gateway_exchanges where payment_id = ${id}`;
    return rows.length > 0;
  });
  expect(await service.sql`select from payers`).toHaveLength(1);
  keep(await journey.request('POST', `/api/v1/payments/${id}/cancel`, {}));
  await until('it has ended', async () => {
    const { json: now } = await journey.get(id);
    return now['status'] === 'cancelled';
  });
  providers.of('zibal').failAll(/./, undefined);
  expect(await service.sql`select from payers`).toEqual([]);
};

/** The worker is killed after the gateway has the payment and its payer, before that is recorded. */
const killAtOpening = async () => {
  const zibal = providers.of('zibal');
  const exchanges = await holdLock(
    service.sql,
    (tx) => tx`lock table gateway_exchanges in exclusive mode`,
  );
  const openings = zibal.calls.length;
  const id = await journey.create({ gateway: 'zibal', amount: 150_000, currency: 'IRR', payer });
  await until('the gateway has the payer', () =>
    zibal.calls.slice(openings).some(({ text }) => text.includes('9127654321')),
  );
  await exchanges.blocked('the record of the opening', { by: 'payments-worker' });
  await service.worker.kill();
  // Postgres would carry out the statement that it has already.
  await service.sql`
    select pg_terminate_backend(pid) from pg_stat_activity
    where application_name = 'payments-worker' and wait_event_type = 'Lock' and datname = current_database()`;
  await exchanges.release();
  expect(await service.sql`select from payers where payment_id = ${id}`).toHaveLength(1);
  await service.worker.start();
  const isSent = async () => (await journey.checkout(id)).status === 302;
  await until('the checkout redirects', isSent);
  expect(await service.sql`select from payers`).toEqual([]);
};

/** One account whose tokens the sweeper renews, and one where the gateway refuses it. @returns a wait for both */
const renewTokens = async () => {
  const vandar = providers.of('vandar') as Vandar;
  for (const [slug, refreshToken] of [
    ['vandar-live', vandar.tokens().refresh],
    ['vandar-served', 'refresh-token-served'],
  ] as const) {
    const refunds = { business: 'my-shop', accessToken: vandar.tokens().access, refreshToken };
    const credentials = { apiKey: 'live-key-0123456789', refunds, baseUrl: vandar.url };
    await service.addGateway({ slug, driver: 'vandar', kind: 'live', credentials });
    Object.assign(secrets, { [`access ${slug}`]: refunds.accessToken, [slug]: refreshToken });
  }
  return async () => {
    await until('the tokens are renewed', () => vandar.renewals() > 0);
    const { access, refresh } = vandar.tokens();
    Object.assign(secrets, { 'renewed access': access, 'renewed refresh': refresh });
    await until('one renewal is refused', () =>
      vandar.calls.some(({ text }) => text.includes('refresh-token-served')),
    );
  };
};

/** The sandbox shows the payer on its page, and keeps nothing after the end. */
const payAtSandbox = async () => {
  const id = await journey.atGateway({ payer });
  const { text } = await journey.call('GET', `/api/v1/sandbox/${id}`);
  for (const shown of [payer.mobile, payer.email, payer.name]) expect(text).toContain(shown);
  const inColumns = (await placesOf(service)).filter(({ where }) => !where.startsWith('log'));
  expect(leaksIn(inColumns, secrets)).toEqual([]);
  await journey.choose(id, 'pay');
  await journey.comeBack(id);
  expect(keep(await journey.get(id)).json['status']).toBe('paid');
  keep(await journey.call('GET', `/api/v1/sandbox/${id}`));
  expect(await service.sql`select from sandbox_payments where payer is not null`).toEqual([]);
};

/** The gateway returns the whole card number, and the browser sends one. */
const payWithCard = async (name: ProviderName) => {
  const { id, reference } = await providers.sent(journey, name);
  const entry = providers.entry(name, reference);
  if (reportsCard(name)) entry.card = card;
  await providers.of(name).pay(reference);
  const { method, url, fields } = providers.of(name).back(reference);
  const to = `${url}${url.includes('?') ? '&' : '?'}cardNumber=${card}`;
  const body = new URLSearchParams({ ...fields, cardNumber: otherCard });
  keep(await journey.call(method, to, method === 'POST' ? { body } : {}));
  expect(keep(await journey.get(id)).json['status']).toBe('paid');
  if (reportsCard(name))
    expect((await journey.get(id)).json['card_pan_masked']).toBe('424242******4242');
};

const payLate = async () => {
  const { id, reference } = await providers.sent(journey, 'zarinpal');
  await skipAllTime(service.client, id);
  await until('it expires', () => service.receiver.of(id)[0]);
  await providers.of('zarinpal').pay(reference);
  keep(await providers.comeBack(journey, 'zarinpal', reference));
  await service.client.workflow.getHandle(`LATE_${id}`).result();
};

const mismatch = async () => {
  const { id, reference } = await providers.sent(journey, 'stripe');
  providers.entry('stripe', reference).amount += 1;
  await providers.of('stripe').pay(reference);
  keep(await journey.verify(id));
  await service.client.workflow.getHandle(`LATE_${id}`).result();
};

/** The provider's message holds a card number, and its calls fail in every way. */
const failuresOfGateways = async () => {
  const stripe = providers.of('stripe') as Awaited<ReturnType<typeof startStripe>>;
  const message = `Your card ${otherCard} (${card}) was declined`;
  stripe.failWith({ code: 'card_declined', decline_code: 'do_not_honor', message });
  const declined = await providers.sent(journey, 'stripe');
  stripe.move(declined.reference, 'complete unpaid requires_payment_method');
  expect(keep(await journey.verify(declined.id)).json['status']).toBe('failed');
  await atEachProvider(async (name) => {
    for (const fault of ['error', 'html', 'lost', 'odd', 'moved', 'huge'] as const) {
      const { id } = await providers.sent(journey, name);
      providers.of(name).fail(fault);
      expect(keep(await journey.verify(id)).status).toBe(502);
    }
  });
  for (const [slug, credentials] of [
    ['wrong-key', { secretKey: wrongKey, baseUrl: stripe.url }],
    ['wrong-shape', { secretKey: 'sk_test_1', webhookSecrets: wrongKey }],
    ['wrong-url', { secretKey: 'sk_test_12345678', baseUrl: `https://${wrongKey}.example` }],
  ] as const) {
    const sealed = createSecretBox(service.keyRing).seal(
      JSON.stringify(credentials),
      `gateway:${slug}`,
    );
    const account = { slug, driver: 'stripe', kind: 'sandbox', credentials: sealed } as const;
    await createGateways(service.sql).insert(account);
    await service.allowGateway(slug);
    const id = await journey.create({ gateway: slug });
    keep(await journey.checkout(id));
    expect(keep(await journey.get(id)).json['failure_code']).toBe('merchant_configuration');
  }
};

const badRequests = async () => {
  const { call, request } = journey;
  const bearer = (text: string) => ({ headers: { authorization: text } });
  const json = { 'content-type': 'application/json', authorization: `Bearer ${token}` };
  const post = (body: string, headers: Record<string, string> = json) =>
    call('POST', '/api/v1/payments', { headers, body });
  const whole = { order_id: 'o', amount: 1, currency: 'EUR' };
  const { application } = await service.anApplication();
  const tokens = createTokens(service.sql);
  const revoked = await tokens.issue({ application, mode: 'test', name: 'revoked' });
  secrets['revoked token'] = revoked;
  await service.sql`
    update tokens set revoked_at = now() where application = ${application} and name = 'revoked'`;
  const all = [
    call('GET', '/api/v1/me', bearer(`Bearer ${token}x`)),
    call('GET', '/api/v1/me', bearer(`Basic ${token}`)),
    call('GET', '/api/v1/me', bearer(token)),
    call('GET', '/api/v1/me', bearer(`Bearer ${revoked}`)),
    call('GET', `/api/v1/payments?token=${token}`),
    call('GET', `/api/v1/payments?access_token=${token}`, bearer(`Bearer ${token}`)),
    call('GET', `/api/v1/payments?cursor=${token}`, bearer(`Bearer ${token}`)),
    call('GET', `/api/v1/payments/${token}`, bearer(`Bearer ${token}`)),
    call('GET', `/api/v1/nowhere/${token}`),
    call('GET', `/api/v1/payments/${token}/checkout`),
    call('GET', `/api/v1/payments/${token}/return?cardNumber=${card}`),
    post(`{"token":"${token}", "order_id": ${card}`),
    post(JSON.stringify({ ...whole, token })),
    post(JSON.stringify({ ...whole, amount: card })),
    ...[card, payer.email, payer.name, secrets['webhook secret']].flatMap((typed = '') => [
      request('POST', '/api/v1/payments', { ...whole, [typed]: 1 }),
      request('POST', '/api/v1/payments', { ...whole, payer: { [typed]: 1 } }),
      request('GET', `/api/v1/payments?${encodeURIComponent(typed)}=1`),
    ]),
    post(JSON.stringify({ ...whole, currency: card, gateway: card, callback_url: card })),
    post(JSON.stringify({ ...whole, expires_in: Number(card) })),
    post(token, { authorization: `Bearer ${token}`, 'content-type': 'text/plain' }),
    post(JSON.stringify(whole), { ...json, 'idempotency-key': `${token} é` }),
    request('POST', '/api/v1/payments', { ...whole, description: card.repeat(20) }),
    call('DELETE', `/api/v1/payments?secret=${secrets['webhook secret']}`),
  ];
  for (const answer of await Promise.all(all)) {
    keep(answer);
    expect(answer.status, answer.text).toBeGreaterThanOrEqual(400);
  }
  const typed = `card ${card} of ${payer.email}`;
  const order = { order_id: 'o', amount: 1_250, currency: 'EUR' };
  const made = await request('POST', '/api/v1/payments', order, { 'idempotency-key': typed });
  expect(made.status, made.text).toBe(201);
  keep(made);
};

const temporalAway = async () => {
  const id = await journey.atGateway();
  await service.engine.stop();
  for (const answer of await Promise.all([journey.verify(id), journey.comeBack(id)])) keep(answer);
  await service.engine.start();
  await until('verify works again', async () => (await journey.verify(id)).status === 200);
};

const failedDelivery = async () => {
  service.receiver.behave((_, res) => void res.writeHead(500).end('<b>out of order</b>'));
  const id = await journey.atGateway(personal);
  await journey.choose(id, 'pay');
  await journey.comeBack(id);
  await until('an attempt', () => service.receiver.of(id)[0]);
  service.receiver.behave(() => 204);
};

describe('after payments of every outcome, failures and attacks', () => {
  it('no log, history, column or response holds a secret or a whole card number', async () => {
    const renewed = await renewTokens();
    await endInEveryWay(service, journey);
    await atEachProvider(payWithCard);
    await payWithPayer();
    await payAtSandbox();
    await killAtOpening();
    await payLate();
    await mismatch();
    await failuresOfGateways();
    await badRequests();
    await failedDelivery();
    await temporalAway();
    await renewed();
    const searches = [payer.mobile, payer.email, payer.name];
    const paths = withPayer.map((id) => `/payments/${id}`);
    const pages = await consolePagesOf(service, { paths, searches });
    const visited = pages.places.map(({ where }) => where);
    const parts = ['/audit', '/deliveries', '/refunds', '/gateways/zibal', ...paths];
    expect(visited).toEqual(expect.arrayContaining(parts.map((path) => `console ${path}`)));
    expect(pages.found).toEqual(searches.map(() => 404));
    const metrics = await metricsOf(service);
    // The logs are buffered.
    await service.api.stop();
    await service.worker.stop();

    const places = [...answers, ...pages.places, ...metrics, ...(await placesOf(service))];
    const kinds = new Set(places.map(({ where }) => where.split(' ')[0]));
    expect([...kinds]).toEqual(
      expect.arrayContaining([
        'an',
        'log',
        'history',
        'console',
        'metrics',
        'payments.gateway_message',
      ]),
    );
    expect(places.length).toBeGreaterThan(1_000);
    expect(leaksIn(places, secrets)).toEqual([]);
    const [paid] = await service.sql<{ card: string }[]>`
      select card_pan_masked as card from payments where card_pan_masked is not null`;
    const logs = places.filter(({ where }) => where.startsWith('log'));
    const { description, metadata } = personal;
    expect(leaksIn(logs, { description, ...metadata, card: paid!.card })).toEqual([]);
  });

  it('the search finds secrets and card numbers in every encoding', () => {
    const at = (text: string) => leaksIn([{ where: 'a log', text }], { token }).length;
    const [bytes, hex] = [Buffer.from(token), Buffer.from(token).toString('hex')];
    for (const text of [token, bytes.toString('base64'), hex, encodeURIComponent(token)])
      expect(at(`{"msg":"${text}"}`)).toBe(1);
    for (const text of [card, otherCard, otherCard.replaceAll(' ', '-')])
      expect(at(`declined: ${text}.`)).toBe(1);
    for (const text of [token.slice(0, 13), '424242******4242', '1234567890123456', `a${card}`])
      expect(at(`{"msg":"${text}"}`)).toBe(0);
  });
});
