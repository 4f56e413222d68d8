import { execFile } from 'node:child_process';
import { createHmac, randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, expect, it, onTestFinished } from 'vitest';
import { createRetention } from '../../../postgres/admin/retention.ts';
import { connect } from '../../../postgres/driver/connection.ts';
import { connectClient } from '../../../temporal/client.ts';
import { startStripe } from '../../fakes/stripe.ts';
import { startStack } from '../../support/demo/stack.ts';
import { forFile } from '../../support/for-file.ts';
import { removeFolder } from '../../support/remove-folder.ts';
import { call, logInBy } from '../../support/service/console.ts';
import { createJourney, type Journey } from '../../support/service/journey.ts';
import { startReceiver } from '../../support/service/receiver.ts';
import { skipAllTime } from '../../support/service/skip-time.ts';
import { checkOutNextMinor } from '../../support/stack/next-minor.ts';
import { until } from '../../support/until.ts';

/*
 * Data of this version as life leaves it, opened by the next minor version, by this one again, and by the next one again.
 */

const run = promisify(execFile);
const root = join(import.meta.dirname, '../../..');

const next = await checkOutNextMinor();
afterAll(() => removeFolder(next));

const receiver = await forFile(startReceiver());
/** Payments whose events the receiver refuses. */
const refused = new Set<string>();
/** Of each event, by how many of its POSTs were accepted. */
const accepted = new Map<string, number>();
receiver.behave((_nth, res) => {
  const { json, headers } = receiver.all.at(-1)!;
  if (refused.has(String(json['payment_id']))) return 500;
  const id = String(headers['x-service-event-id']);
  accepted.set(id, (accepted.get(id) ?? 0) + 1);
  return res.headersSent ? undefined : 204;
});

/** A provider that cannot be reached at first. */
const cards = await forFile(startStripe());
cards.failAll(/./, 'cut');

/** Runs a command as an admin, who is ada unless the line names another one. */
const admin = async ({ env }: Stack, line: string, input = '') => {
  const words = line.match(/"[^"]*"|\S+/g)?.map((word) => word.replaceAll('"', '')) ?? [];
  const as = words.includes('--as') ? [] : ['--as', 'ada'];
  const running = run('npm', ['run', '--silent', 'admin', '--', ...words, ...as, '--json'], {
    ...{ cwd: root, env },
  });
  running.child.stdin?.end(input);
  return JSON.parse((await running).stdout) as Record<string, string>;
};

type Stack = Awaited<ReturnType<typeof startStack>>;
let token = '';

const using = (stack: Stack) => {
  const {
    database_url: url,
    temporal_address: address,
    temporal_namespace: namespace,
  } = stack.facts;
  const sql = connect(url, { name: 'tests-upgrade', max: 2 });
  const client = connectClient({ connectionOptions: { address }, namespace });
  const journey = createJourney({ url: stack.facts.api_base_url }, token);
  return {
    ...{ stack, sql, client, journey },
    async end() {
      await Promise.all([sql.end({ timeout: 1 }), client.connection.close()]);
      await stack.pause();
    },
  };
};
type Used = ReturnType<typeof using>;

const statusOf = async (journey: Journey, id: string) => (await journey.get(id)).json['status'];
const becomes = (journey: Journey, id: string, status: string) =>
  until(`${id} is ${status}`, async () => (await statusOf(journey, id)) === status);
const pay = async ({ journey }: Used, id: string) => {
  await journey.choose(id, 'pay');
  await journey.comeBack(id);
  await becomes(journey, id, 'paid');
};

/** Makes an order in a state that `plan` leads to. */
const planned = (journey: Journey, name: string, plan: Record<string, unknown>, status: string) =>
  journey
    .create({ order_id: name, expires_in: 86_400, sandbox: plan })
    .then(async (id) => (await becomes(journey, id, status), id));

/** Thirty payments in all states, with what belongs to them. */
const live = async (used: Used) => {
  const { journey, client, sql } = used;
  const outcomes = ['paid', 'failed', 'cancelled'].flatMap((outcome) =>
    [1, 2, 3].map((nth) => planned(journey, `${outcome}-${nth}`, { outcome }, outcome)),
  );
  const others = [
    planned(journey, 'other-amount', { outcome: 'other_amount' }, 'failed'),
    planned(journey, 'silent', { outcome: 'silent', after_seconds: 3_600 }, 'processing'),
    planned(journey, 'dispute-lost', { outcome: 'dispute_lost', after_seconds: 3_600 }, 'paid'),
    planned(journey, 'dispute-won', { outcome: 'dispute_won' }, 'paid'),
    planned(journey, 'inquiry', { outcome: 'inquiry_closed' }, 'paid'),
    ...[1, 2, 3].map((nth) =>
      planned(journey, `later-${nth}`, { outcome: 'paid', after_seconds: 1_200 }, 'pending'),
    ),
  ];
  const refundOutcomes = ['succeeded', 'pending', 'returned', 'waiting_for_balance', 'failed'];
  const refunds = refundOutcomes.map(async (outcome) => {
    const id = await planned(journey, `refund-${outcome}`, { outcome: 'paid' }, 'paid');
    const path = `/api/v1/payments/${id}/refunds`;
    const plan = outcome === 'succeeded' ? { outcome } : { outcome, after_seconds: 3_600 };
    const made = await journey.request(
      'POST',
      path,
      { amount: 250, sandbox: plan },
      { 'idempotency-key': outcome },
    );
    expect(made.status, made.text).toBe(201);
  });
  const expired = journey.atGateway({ order_id: 'expired', expires_in: 60 }).then(async (id) => {
    await skipAllTime(client, id);
    await becomes(journey, id, 'expired');
  });
  const waiting = Promise.all(
    [1, 2, 3, 4].map((nth) => journey.atGateway({ order_id: `open-${nth}`, expires_in: 86_400 })),
  );
  const link = journey.request('POST', '/api/v1/links', {
    order_id: 'invoice-1',
    amount: 1250,
    currency: 'EUR',
  });
  // Not before the opening: the receiver must refuse from the first POST on.
  const failing = Promise.all(
    [1, 2, 3].map(async (nth) => {
      const id = await journey.atGateway({ order_id: `failing-${nth}` });
      refused.add(id);
      await pay(used, id);
      await until('its first POST', () => receiver.of(id)[0]);
      return id;
    }),
  );
  await Promise.all([...outcomes, ...others, ...refunds, expired]);
  await until('the service has heard of the disputes', async () => {
    const disputes =
      await sql`select status from disputes where status not in ('needs_response', 'under_review')`;
    const open = await sql`select from disputes`;
    return open.length === 3 && disputes.length === 2;
  });
  const [exhausted = '', ...stillFailing] = await failing;
  await skipAllTime(client, exhausted);
  await until('its webhook is exhausted', async () => {
    const [row] = await sql`select status from deliveries where payment_id = ${exhausted}`;
    return row?.['status'] === 'exhausted';
  });
  return {
    open: await waiting,
    exhausted,
    failing: stillFailing,
    link: String((await link).json['link_id']),
  };
};

const payer = { email: 'ada@payers.example' };
/** The same request each time. */
const repeat = ({ journey }: Used) =>
  journey.request(
    'POST',
    '/api/v1/payments',
    { order_id: 'repeated', amount: 1250, currency: 'EUR', expires_in: 86_400, payer },
    { 'idempotency-key': 'repeated' },
  );

/** What is there beside payments and refunds: data of payers, rotated keys, a claim, and what waits for a person. */
const leave = async (used: Used, tokenId: string) => {
  const { journey, client, sql, stack } = used;
  const late = await journey.atGateway({
    ...{ order_id: 'late', expires_in: 60, sandbox: { outcome: 'paid_late' } },
  });
  await skipAllTime(client, late);
  const rival = await journey.atGateway({ order_id: 'claimed', expires_in: 86_400 });
  const silent = { outcome: 'silent', after_seconds: 3_600 };
  const claimed = await planned(journey, 'claimed', silent, 'processing');
  // As if its gateway had become silent in the confirmation, before which the payment claims its order.
  await sql`update payments set order_claimed_at = now() where id = ${claimed}`;
  const unopened = await journey.create({
    ...{ order_id: 'unopened', gateway: 'cards', expires_in: 80_000, payer },
  });
  const repeated = await repeat(used);
  expect(repeated.status, repeated.text).toBe(201);

  const refunded = await planned(journey, 'asked-for', { outcome: 'paid' }, 'paid');
  await admin(stack, 'refunds confirm-above EUR --amount "1.00 EUR" --reason "a rule"');
  // Another admin must confirm the first two.
  const [{ id: refund = '' }, replaced, rotated, login] = await Promise.all([
    admin(stack, `refunds create ${refunded} --reason "a wish" --yes`),
    admin(stack, `tokens replace store ${tokenId} --keep-old-days 1 --yes`),
    admin(stack, 'secrets rotate store --yes'),
    admin(stack, 'console login eve'),
  ]);
  const link = new URL(login['url'] ?? '');
  const cookie = await logInBy(Number(link.port), link.pathname.split('/').at(-1) ?? '');
  await becomes(journey, late, 'expired');
  await until('the late money is found', async () => {
    await journey.comeBack(late);
    const found = await sql`select from late_payments where payment_id = ${late}`;
    return found.length === 1;
  });
  const [waiting] = await sql`
    select (select count(*) from payers)::int as payers, (select stage from refunds where id = ${refund}) as refund,
      (select count(*) from tokens where to_confirm)::int as tokens`;
  expect(waiting).toEqual({ payers: 1, refund: 'reserved', tokens: 1 });
  return {
    ...{ late, rival, claimed, unopened, refund, cookie, repeated: repeated.json['payment_id'] },
    token: { id: replaced['id'] ?? '', text: replaced['token'] ?? '' },
    secret: rotated['secret'] ?? '',
  };
};

/** New keys of the deployment in front of the old ones, or the newest alone, while nothing runs. */
const rotateKeys = (dataDir: string, { retire = false } = {}) => {
  // Fingerprints of requests and data of payers live for a day, and need the old key of payers.
  const names = [
    'secrets-key',
    'webhooks-key',
    'notifications-key',
    ...(retire ? [] : ['payers-key']),
  ];
  for (const name of names) {
    const file = join(dataDir, name);
    const [newest = '', ...others] = readFileSync(file, 'utf8').trim().split(',');
    expect(others).toHaveLength(retire ? 1 : 0);
    writeFileSync(file, retire ? newest : `k2:${randomBytes(32).toString('base64')},${newest}`);
  }
};

/** Each start has ports of its own. */
const listAll = async ({ journey, stack }: Used, path: string) => {
  const { status, text } = await journey.request('GET', `/api/v1/${path}?per_page=100`);
  expect(status, text).toBe(200);
  const { data } = JSON.parse(text.replaceAll(stack.facts.api_base_url, 'https://pay.example')) as {
    data: Record<string, unknown>[];
  };
  return data;
};
/** The lists as an admin sees them, whose login was made before. */
const consoleLists = async ({ stack }: Used, cookie: string) => {
  const { port } = new URL(stack.facts.console_url);
  const lists = ['payments', 'refunds', 'disputes', 'links', 'accounts'];
  const pages = lists.map(async (list) => {
    const seen = `${cookie}; console-mode=test`;
    const { status, text } = await call(Number(port), `/${list}`, { cookie: seen });
    expect([list, status]).toEqual([list, 200]);
    const [main = ''] = /<main[\s\S]*<\/main>/.exec(text) ?? [];
    // Without the time that is left for a dispute.
    const rest = main
      .replaceAll(/(\d+ (day|hour|minute)s?[, ]*)+/g, '')
      .replaceAll(/<[^>]*>/g, ' ');
    return rest.replaceAll(/\s+/g, ' ');
  });
  return Promise.all(pages);
};
/** What no upgrade may change: all that the application and admins see of it. */
const snapshot = async (used: Used, cookie: string) => ({
  payments: await listAll(used, 'payments'),
  refunds: await listAll(used, 'refunds'),
  links: await listAll(used, 'links'),
  events: (await listAll(used, 'events')).map((event) => [
    event['event_id'],
    event['kind'],
    event['payload'],
  ]),
  console: await consoleLists(used, cookie),
});

it(
  'data of this version open in the next minor, in this one again, and in the next again',
  { timeout: 900_000 },
  async () => {
    let used = using(await startStack());
    const { dataDir } = used.stack;
    onTestFinished(async () => {
      await used.end();
      removeFolder(dataDir);
    });
    const credentials = JSON.stringify({
      ...{ secretKey: 'sk_test_0123456789abcdef', baseUrl: cards.url },
      webhookSecrets: ['whsec_0123456789'],
    });
    await admin(used.stack, 'gateways add cards --driver stripe --kind sandbox', credentials);
    const created = await admin(
      used.stack,
      `applications create store --gateway sandbox --allowed-gateway sandbox cards --orders-paid-once yes --callback-url http://127.0.0.1:9/return --webhook-url ${receiver.url} --requests-per-minute 6000`,
    );
    const issued = await admin(
      used.stack,
      'tokens issue store --mode test --name upgrade --scopes read,create,replay,refund,link',
    );
    token = issued['token'] ?? '';
    used.journey = createJourney({ url: used.stack.facts.api_base_url }, token);
    await planned(used.journey, 'purged', { outcome: 'paid' }, 'paid');
    await until('the old payment is deleted', () =>
      createRetention(used.sql).deletePayments(new Date(), 1),
    );
    const made = await live(used);
    const left = await leave(used, issued['id'] ?? '');
    const before = await snapshot(used, left.cookie);
    expect(before.payments.length).toBeGreaterThanOrEqual(30);

    /** Stops everything, and starts a version on the same data. */
    const move = async (checkout: string, meanwhile = () => {}) => {
      await used.end();
      meanwhile();
      used = using(await startStack({ dataDir, checkout }));
      expect(await snapshot(used, left.cookie)).toEqual(seen);
      expect((await repeat(used)).json['payment_id']).toBe(left.repeated);
    };
    const [first = '', second = '', third = '', fourth = ''] = made.open;
    let seen = before;
    await move(next, () => rotateKeys(dataDir));
    expect(await used.sql`select version from versions order by migrated_at`).toEqual([
      { version: '1.0.0' },
      { version: '1.1.0' },
    ]);
    await pay(used, first);
    cards.failAll(/./, undefined);
    const { unopened } = left;
    await until('it is opened', async () => (await used.journey.checkout(unopened)).status === 302);
    expect(cards.calls.some(({ form }) => form.get('customer_email') === payer.email)).toBe(true);
    // It takes the new way.
    const newer = await used.journey.atGateway({ order_id: 'made-by-the-next' });
    seen = await snapshot(used, left.cookie);

    await move(root);
    await run('npm', ['run', '--silent', 'replay-open', '--', '--reset'], {
      cwd: root,
      env: { ...used.stack.env, DATA_DIR: dataDir },
    });
    await pay(used, second);
    await pay(used, newer);
    await admin(used.stack, 'secrets reseal --reason "new keys"');
    await admin(used.stack, `tokens confirm store ${left.token.id} --as bob --yes`);
    await admin(used.stack, `refunds confirm ${left.refund} --as bob --yes`);
    await until('the refund is done', async () => {
      const [row] = await used.sql`select status from refunds where id = ${left.refund}`;
      return row?.['status'] === 'succeeded';
    });
    seen = await snapshot(used, left.cookie);

    // The old one works for a day.
    expect((await used.journey.get(newer)).status).toBe(200);
    token = left.token.text;
    await move(next, () => rotateKeys(dataDir, { retire: true }));
    await pay(used, third);
    await pay(used, fourth);
    const { journey, client, sql } = used;
    const begun = await journey.call('POST', `/api/v1/links/${made.link}/pay`);
    const byLink = /PAY_\w{26}/.exec(begun.headers.get('location') ?? '')?.[0] ?? '';
    await journey.checkout(byLink);
    await pay(used, byLink);
    refused.clear();
    const [lost] = await sql`select id from events where payment_id = ${made.exhausted}`;
    const replayed = await journey.request('POST', `/api/v1/events/${lost?.['id']}/replay`);
    expect(replayed.status, replayed.text).toBe(202);
    for (const id of made.failing) await skipAllTime(client, id);
    await journey.choose(left.rival, 'pay');
    await journey.comeBack(left.rival);
    expect(await statusOf(journey, left.rival)).not.toBe('paid');
    await until('the late money goes back', async () => {
      const [row] = await sql`select result from late_payments where payment_id = ${left.late}`;
      return row?.['result'] === 'returns';
    });
    const undelivered = () => sql`
      select kind, status, order_id from deliveries where application = 'store' and status <> 'delivered'`;
    await until(
      'each event has been accepted',
      async () => (await undelivered()).length === 0,
      60_000,
    ).catch(async () => expect(await undelivered()).toEqual([]));
    const events = await sql<
      { id: string }[]
    >`select event_id as id from deliveries where application = 'store'`;
    for (const { id } of events) expect([id, accepted.get(id)]).toEqual([id, 1]);
    const [books] = await sql`
    select (select sum(amount) from payments where status = 'paid' and application = 'store')::int as paid,
      (select sum(amount) from movements where kind = 'payment' and application = 'store')::int as moved`;
    // With the movement of the payment that was deleted.
    expect(books?.['moved']).toBe(books?.['paid'] + 1250);
    const { headers, body } = receiver.of(byLink)[0]!;
    const signed = String(headers['x-service-signature']);
    const [time = ''] = /(?<=t=)\d+/.exec(signed) ?? [];
    for (const secret of [created['webhook_secret'] ?? '', left.secret])
      expect(signed).toContain(
        createHmac('sha256', secret).update(`${time}.${body.toString()}`).digest('hex'),
      );
  },
);
