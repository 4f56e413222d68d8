import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, expect, it, onTestFinished } from 'vitest';
import { connect } from '../../../postgres/driver/connection.ts';
import { connectClient } from '../../../temporal/client.ts';
import { projectFiles } from '../../support/checks/project-files.ts';
import { startStack } from '../../support/demo/stack.ts';
import { forFile } from '../../support/for-file.ts';
import { removeFolder } from '../../support/remove-folder.ts';
import { createJourney, type Journey } from '../../support/service/journey.ts';
import { startReceiver } from '../../support/service/receiver.ts';
import { skipAllTime } from '../../support/service/skip-time.ts';
import { until } from '../../support/until.ts';

/*
 * Data of this version as life leaves it, opened by the next minor version, by this one again, and by the next one again. The next
 * minor is made up: `1.1.0.patch` adds a column, a field of an activity's result and a branch of the payment's workflow.
 */

const run = promisify(execFile);
const root = join(import.meta.dirname, '../../..');

/** A checkout of the made-up minor version. */
const next = mkdtempSync(join(tmpdir(), 'payments-next-'));
for (const file of projectFiles()) {
  if (/^(test|bench|chaos|protocol)\//.test(file)) continue;
  cpSync(join(root, file), join(next, file), { recursive: true });
}
symlinkSync(join(root, 'node_modules'), join(next, 'node_modules'));
await run('git', ['apply', '-C1', join(import.meta.dirname, '1.1.0.patch')], { cwd: next });
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

const admin = async (stack: Stack, ...line: string[]) => {
  const command = ['run', '--silent', 'admin', '--', ...line, '--json'];
  const env = { ...stack.env, DATA_DIR: stack.dataDir };
  const { stdout } = await run('npm', command, { cwd: root, env });
  return JSON.parse(stdout) as Record<string, unknown>;
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
  const expired = journey.create({ order_id: 'expired', expires_in: 60 }).then(async (id) => {
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

/** Each start has ports of its own. */
const listAll = async ({ journey, stack }: Used, path: string) => {
  const { status, text } = await journey.request('GET', `/api/v1/${path}?per_page=100`);
  expect(status, text).toBe(200);
  const { data } = JSON.parse(text.replaceAll(stack.facts.api_base_url, 'https://pay.example')) as {
    data: Record<string, unknown>[];
  };
  return data;
};
/** What no upgrade may change: all that the application sees of it. */
const snapshot = async (used: Used) => ({
  payments: await listAll(used, 'payments'),
  refunds: await listAll(used, 'refunds'),
  links: await listAll(used, 'links'),
  events: (await listAll(used, 'events')).map((event) => [
    event['event_id'],
    event['kind'],
    event['payload'],
  ]),
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
    await admin(
      used.stack,
      'applications',
      'create',
      'store',
      '--gateway',
      'sandbox',
      '--callback-url',
      'http://127.0.0.1:9/return',
      '--webhook-url',
      receiver.url,
      '--requests-per-minute',
      '6000',
    );
    const issued = await admin(
      used.stack,
      'tokens',
      'issue',
      'store',
      '--mode',
      'test',
      '--name',
      'upgrade',
      '--scopes',
      'read,create,replay,refund,link',
    );
    token = String(issued['token']);
    used.journey = createJourney({ url: used.stack.facts.api_base_url }, token);
    const made = await live(used);
    const before = await snapshot(used);
    expect(before.payments.length).toBeGreaterThanOrEqual(30);

    /** Stops everything, and starts a version on the same data. */
    const move = async (checkout: string) => {
      await used.end();
      used = using(await startStack({ dataDir, checkout }));
      expect(await snapshot(used)).toEqual(seen);
    };
    const [first = '', second = '', third = '', fourth = ''] = made.open;
    let seen = before;
    await move(next);
    expect(await used.sql`select version from versions order by migrated_at`).toEqual([
      { version: '1.0.0' },
      { version: '1.1.0' },
    ]);
    await pay(used, first);
    // It takes the new way.
    const newer = await used.journey.atGateway({ order_id: 'made-by-the-next' });
    seen = await snapshot(used);

    await move(root);
    await run('npm', ['run', '--silent', 'replay-open', '--', '--reset'], {
      cwd: root,
      env: { ...used.stack.env, DATA_DIR: dataDir },
    });
    await pay(used, second);
    await pay(used, newer);
    seen = await snapshot(used);

    await move(next);
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
    expect(books?.['moved']).toBe(books?.['paid']);
  },
);
