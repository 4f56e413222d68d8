import { setTimeout as sleep } from 'node:timers/promises';
import { newReplayId } from '../contract/ids.ts';
import { createApplications } from '../postgres/applications/applications.ts';
import { connect } from '../postgres/driver/connection.ts';
import { createGateways, sandboxAccount } from '../postgres/gateways/gateways.ts';
import { everyDelivery } from '../postgres/webhooks/delivery-filter.ts';
import { createEvents } from '../postgres/webhooks/events.ts';
import { createPayments } from '../postgres/payments/payments.ts';
import { createReplays } from '../postgres/webhooks/replays.ts';
import { type Answer, startConsole } from '../test/support/service/console.ts';
import { parseWholeNumber } from '../contract/whole-number.ts';
import { SetupError } from '../process.ts';
import { fill, fillForAdmins } from '../test/support/data/fill-tables.ts';
import { cpuMs } from './production/usage.ts';

/*
 * Measures the service with 1,000,000 payments and 50 applications. Every page of the console takes at most 300 ms and
 * 100 KB. Ten tabs stay open for a minute, and use at most 2 % of a core, Postgres included. The API's lists of payments
 * and events take at most 10 ms, for every combination of filters. Takes 30 minutes and 4 GB.
 */

const count = parseWholeNumber(process.argv[2] ?? '1000000', { min: 1, max: 100_000_000 });
if (count === undefined) throw new SetupError('Usage: npm run measure [-- payments]');
const applications = ['big', ...Array.from({ length: 49 }, (_, n) => `small-${n}`)];
const limits = { ms: 300, kb: 100, percentOfCore: 2, listMs: 10 } as const;
const rounds = { page: 5, list: 21 } as const;

const server = await startConsole();
let isSlow = false;

const report = (isBad: boolean, text: string) => {
  if (isBad) isSlow = true;
  console.log(`${isBad ? 'SLOW' : 'ok  '} ${text}`);
};

/** @returns the durations, the shortest one first, and the last result */
const time = async <T>(runs: number, work: () => Promise<T>) => {
  const times: number[] = [];
  for (;;) {
    const began = performance.now();
    const result = await work();
    times.push(performance.now() - began);
    if (times.length === runs)
      return { times: times.toSorted((one, other) => one - other), result };
  }
};

const measurePage = async (name: string, work: () => Promise<Answer>) => {
  const { times, result } = await time(rounds.page, work);
  const kb = result.text.length / 1024;
  const isBad = times.some((ms) => ms > limits.ms) || kb > limits.kb;
  const ms = times.map(Math.round).join(' ');
  report(isBad, `${result.status} ${ms} ms, ${kb.toFixed(1)} KB: ${name}`);
};

/** The values of each filter in turn, with all values of the others. */
const combinations = <T extends object>(values: { [K in keyof T]: readonly T[K][] }): T[] =>
  Object.entries<readonly unknown[]>(values).reduce<object[]>(
    (all, [name, own]) => all.flatMap((one) => own.map((value) => ({ ...one, [name]: value }))),
    [{}],
  ) as T[]; // Object.entries loses which value belongs to which name.

const measureList = async <T extends object>(
  name: string,
  values: { [K in keyof T]: readonly T[K][] },
  list: (query: T) => Promise<unknown>,
) => {
  const queries = combinations(values);
  const slowest = { ms: 0, query: '' };
  for (const query of queries) {
    const { times } = await time(rounds.list, () => list(query));
    const ms = times[Math.floor(rounds.list / 2)] ?? NaN;
    if (ms > slowest.ms) Object.assign(slowest, { ms, query: JSON.stringify(query) });
  }
  const { ms, query } = slowest;
  report(
    ms > limits.listMs,
    `${ms.toFixed(1)} ms at most, ${queries.length} lists of ${name}: ${query}`,
  );
};

const postgresCpuMs = async (): Promise<number> => {
  const [row] = await server.sql<{ pid: number }[]>`
    select split_part(pg_read_file('postmaster.pid'), chr(10), 1)::int as pid`;
  return cpuMs(row?.pid ?? NaN);
};

const tabsMs = 60_000;

/** Keeps tabs open, each of which asks for a path every few seconds. */
const measureTabs = async (
  name: string,
  tabs: readonly (readonly [path: string, seconds: number])[],
  cookie: string,
) => {
  const until = performance.now() + tabsMs;
  const before = { own: process.cpuUsage(), postgres: await postgresCpuMs() };
  await Promise.all(
    tabs.map(async ([path, seconds], index) => {
      await sleep((seconds * 1000 * index) / tabs.length);
      while (performance.now() < until) {
        await server.call(path, { cookie });
        await sleep(seconds * 1000);
      }
    }),
  );
  const { user, system } = process.cpuUsage(before.own);
  const postgres = (await postgresCpuMs()) - before.postgres;
  const percent = (ms: number) => (100 * ms) / tabsMs;
  const own = percent((user + system) / 1000);
  report(
    own + percent(postgres) > limits.percentOfCore,
    `${own.toFixed(2)} % of a core here, ${percent(postgres).toFixed(2)} % in Postgres: ${name}`,
  );
};

try {
  await createGateways(server.sql).insert(sandboxAccount);
  await createGateways(server.sql).insert({ ...sandboxAccount, slug: 'rare' });
  for (const slug of applications)
    await createApplications(server.sql).insert({
      slug,
      defaultGateway: 'sandbox',
      callbackUrls: ['http://127.0.0.1:9/return'],
      webhookUrl: 'http://127.0.0.1:9/webhook',
    });
  console.log(`Filling ${count} payments …`);
  // Its statements take minutes.
  const filler = connect(server.ownerUrl, { name: 'fill', max: 1, patient: true });
  await fill(filler, { application: 'big', count });
  await fillForAdmins(filler);
  // Tokens are issued by hand: nobody has a million.
  await filler.begin(async (transaction) => {
    // Without the checks of each row's references, which take minutes.
    await transaction`set local session_replication_role = replica`;
    await transaction`delete from tokens where hash not in (select hash from tokens limit 1000)`;
  });
  await filler.unsafe('vacuum analyze tokens');
  // The first page must not wait for the disk to write the payments.
  await filler.unsafe('checkpoint');
  await filler.end();
  const { cookie: session, csrf } = await server.logIn('admin');
  // The payments are tests.
  const cookie = `${session}; console-mode=test`;
  const [exhausted] = await server.sql<{ id: string }[]>`
    select payment_id as id from deliveries where status = 'exhausted' limit 1`;
  const [open] = await server.sql<{ id: string }[]>`
    select id from payments where status = 'pending' limit 1`;
  const [refund] = await server.sql<{ id: string; payment_id: string }[]>`
    select id, payment_id from refunds where status = 'succeeded' limit 1`;
  const [token] = await server.sql<{ id: string }[]>`
    select left(encode(hash, 'hex'), 16) as id from tokens where application = 'big'
    order by created_at desc, hash offset 500 limit 1`;
  const [event] = await server.sql<{ id: string }[]>`select id from events limit 1`;
  const replayId = newReplayId();
  const filter = { ...everyDelivery, delivery: 'exhausted', to: new Date() } as const;
  const replay = { ...filter, id: replayId, matched: 800, perSecond: 10 };
  await createReplays(server.sql).insertOfOperator(replay);
  const middle = Date.now() - (count / 2) * 1000;
  const now = new Date().toISOString();
  const dayAgo = new Date(Date.now() - 86_400_000).toISOString();
  const paths = [
    '/',
    '/overview',
    '/attention',
    '/payments',
    '/payments?status=failed',
    '/payments?status=processing',
    '/payments?status=paid&application=big&period=24+hours',
    '/payments?application=small-1',
    `/payments?after=${middle}.PAY_`,
    `/payments?status=expired&after=${middle}.PAY_`,
    `/payments/${exhausted?.id}`,
    '/deliveries',
    '/deliveries?status=delivered',
    '/deliveries?status=pending',
    '/deliveries?error=tls',
    '/deliveries?error=timeout',
    `/deliveries/replay?scope=all&mode=test&status=exhausted&error=tls&to=${now}`,
    `/deliveries?status=delivered&after=${middle}.00000000-0000-0000-0000-000000000000`,
    '/payments?gateway=sandbox',
    '/payments?gateway=rare',
    '/payments?gateway=rare&application=big',
    '/payments?gateway=rare&application=big&status=paid',
    `/payments?gateway=rare&application=big&after=${middle}.0`,
    `/payments?from=2020-01-01T00:00&to=${new Date(middle).toISOString().slice(0, 19)}&zone=UTC`,
    '/deliveries?status=exhausted&application=big&period=24+hours',
    `/deliveries/replay?scope=all&mode=test&status=exhausted&to=${now}`,
    `/deliveries/replay?scope=all&mode=test&status=delivered&to=${now}`,
    `/deliveries/replay?scope=all&mode=test&status=delivered&application=big&from=${dayAgo}&to=${now}`,
    '/deliveries/replays',
    `/deliveries/replays/${replayId}`,
    '/applications/big/events',
    '/applications/big/events?kind=payment.paid&status=delivered',
    `/events/${event?.id}`,
    '/refunds',
    '/refunds?status=pending',
    '/refunds?status=succeeded&application=big',
    `/refunds/${refund?.id}`,
    `/payments/${refund?.payment_id}`,
    '/accounts',
    '/accounts?gateway=sandbox',
    '/reconcile',
    '/applications',
    '/applications/big',
    `/applications/big?after=${token?.id}`,
    '/create-application',
    '/applications/big/requests',
    '/gateways',
    '/gateways/sandbox',
    '/gateways/rare',
    '/audit',
    '/audit?actor=nobody',
    '/audit?action=nothing',
    '/audit?subject=payment:nothing',
    '/people',
    '/settings',
  ];
  for (const path of paths) await measurePage(path, () => server.call(path, { cookie }));
  const numbers = ['4242', '9999', '12.50 EUR', '7.77 EUR', '000005'];
  const ids = [`…${refund?.id.slice(-8)}`, `${event?.id.slice(0, 8)}`];
  for (const text of ['order-7', 'order-', 'R500', 'nothing', 'ada', ...numbers, ...ids]) {
    await measurePage(`search for ${text}`, () =>
      server.call('/search', { method: 'POST', cookie, form: { csrf, text } }),
    );
    const found = `/search?${String(new URLSearchParams({ text }))}`;
    await measurePage(found, () => server.call(found, { cookie }));
  }
  const tabs = {
    'ten tabs of the overview': Array.from({ length: 10 }, () => ['/overview', 15] as const),
    'ten tabs: five of the overview, four of open payments, one of a replay': [
      ...Array.from({ length: 5 }, () => ['/overview', 15] as const),
      ...Array.from({ length: 4 }, () => [`/payments/${open?.id}/state`, 5] as const),
      [`/deliveries/replays/${replayId}/state`, 2] as const,
    ],
  };
  for (const [name, own] of Object.entries(tabs)) await measureTabs(name, own, cookie);

  const ago = (share: number) => new Date(Date.now() - share * count * 1000);
  const shared = {
    ...{ application: ['big'], test: [true], orderId: [null, 'order-7', 'order-none'] },
    ...{ from: [null, ago(0.9)], to: [null, ago(0.02)], limit: [21] },
  };
  const payments = createPayments(server.sql);
  type ListOf<T extends { list: (...query: never) => unknown }> = Parameters<T['list']>[0] &
    Parameters<T['list']>[1];
  await measureList<ListOf<typeof payments>>(
    'payments',
    {
      ...shared,
      status: [null, 'paid', 'pending', 'processing', 'failed'],
      after: [null, { at: ago(0.5), id: 'PAY_' }],
      offset: [0],
    },
    (query) => payments.list(query, query),
  );
  const events = createEvents(server.sql);
  await measureList<ListOf<typeof events>>(
    'events',
    {
      ...shared,
      event: [null, 'payment.failed'],
      delivery: [null, 'delivered', 'exhausted', 'none', 'pending'],
      paymentId: [null, `PAY_${String(Math.round(count / 2)).padStart(26, '0')}`],
      order: ['desc', 'asc'],
      after: [null, { at: ago(0.5), id: '00000000-0000-0000-0000-000000000000' }],
      include: [null],
    },
    (query) => events.list(query, query),
  );
} finally {
  await server.stop();
}
process.exit(isSlow ? 1 : 0);
