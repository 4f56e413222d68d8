import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { newReplayId } from '../contract/ids.ts';
import { createApplications } from '../postgres/applications.ts';
import { connect } from '../postgres/driver/connection.ts';
import { createGateways, sandboxAccount } from '../postgres/gateways.ts';
import { everyDelivery } from '../postgres/delivery-filter.ts';
import { createReplays } from '../postgres/replays.ts';
import { type Answer, startConsole } from '../test/support/service/console.ts';
import { parseWholeNumber } from '../contract/whole-number.ts';
import { SetupError } from '../process.ts';
import { fill, fillForAdmins } from '../test/support/data/fill-tables.ts';

/*
 * Measures every page of the console with 1,000,000 payments and 50 applications: at most 300 ms and 100 KB
 * each. Then ten tabs stay open for a minute, and may use at most 2 % of a core, Postgres included. Takes 15
 * minutes and 4 GB.
 */

const count = parseWholeNumber(process.argv[2] ?? '1000000', { min: 1, max: 100_000_000 });
if (count === undefined) throw new SetupError('Usage: tools/measure-console.ts [payments]');
const applications = ['big', ...Array.from({ length: 49 }, (_, n) => `small-${n}`)];
const limits = { ms: 300, kb: 100, percentOfCore: 2 } as const;
const rounds = 5;

const server = await startConsole();
let isSlow = false;

const measure = async (name: string, work: () => Promise<Answer>) => {
  const times: number[] = [];
  let answer: Answer | undefined;
  for (let round = 0; round < rounds; round += 1) {
    const began = performance.now();
    answer = await work();
    times.push(Math.round(performance.now() - began));
  }
  const kb = (answer?.text.length ?? 0) / 1024;
  const slowest = Math.max(...times);
  const isBad = slowest > limits.ms || kb > limits.kb;
  if (isBad) isSlow = true;
  console.log(
    `${isBad ? 'SLOW' : 'ok  '} ${answer?.status} ${times.join(' ')} ms, ${kb.toFixed(1)} KB: ${name}`,
  );
};

/** Milliseconds of CPU of the Postgres server and its children until now; Linux only. */
const postgresCpuMs = async (): Promise<number> => {
  const [row] = await server.sql<{ pid: string }[]>`
    select split_part(pg_read_file('postmaster.pid'), chr(10), 1) as pid`;
  const ticks = readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name)) return [];
    try {
      // After the name in brackets: state, parent, …; 11 to 14 are the times of it and of its dead children.
      const fields = readFileSync(`/proc/${name}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
      if (name !== row?.pid && fields[1] !== row?.pid) return [];
      return fields.slice(11, name === row?.pid ? 15 : 13).map(Number);
    } catch {
      return []; // The process has just ended.
    }
  });
  return ticks.reduce((sum, each) => sum + each, 0) * 10;
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
  const isBad = own + percent(postgres) > limits.percentOfCore;
  if (isBad) isSlow = true;
  console.log(
    `${isBad ? 'SLOW' : 'ok  '} ${own.toFixed(2)} % of a core here, ${percent(postgres).toFixed(2)} % in Postgres: ${name}`,
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
  await filler`delete from tokens where hash not in (select hash from tokens limit 1000)`;
  await filler.unsafe('vacuum analyze tokens');
  // The first page must not wait for the disk to write the payments.
  await filler.unsafe('checkpoint');
  await filler.end();
  const { cookie, csrf } = await server.logIn('admin');
  const [exhausted] = await server.sql<{ id: string }[]>`
    select payment_id as id from deliveries where status = 'exhausted' limit 1`;
  const [open] = await server.sql<{ id: string }[]>`
    select id from payments where status = 'pending' limit 1`;
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
    '/?mode=live',
    '/?mode=test',
    '/payments',
    '/payments?status=failed',
    '/payments?status=processing',
    '/payments?status=paid&application=big&mode=test&period=24+hours',
    '/payments?application=small-1',
    `/payments?after=${middle}.PAY_`,
    `/payments?status=expired&after=${middle}.PAY_`,
    `/payments/${exhausted?.id}`,
    '/deliveries',
    '/deliveries?status=delivered',
    '/deliveries?status=pending',
    '/deliveries?error=tls',
    '/deliveries?error=timeout',
    `/deliveries/replay?scope=all&status=exhausted&error=tls&to=${now}`,
    `/deliveries?status=delivered&after=${middle}.00000000-0000-0000-0000-000000000000`,
    '/payments?gateway=sandbox',
    '/payments?gateway=rare',
    '/payments?gateway=rare&application=big',
    '/payments?gateway=rare&application=big&status=paid',
    `/payments?gateway=rare&application=big&after=${middle}.0`,
    `/payments?from=2020-01-01T00:00&to=${new Date(middle).toISOString().slice(0, 19)}&zone=UTC`,
    '/deliveries?status=exhausted&application=big&period=24+hours',
    `/deliveries/replay?scope=all&status=exhausted&to=${now}`,
    `/deliveries/replay?scope=all&status=delivered&to=${now}`,
    `/deliveries/replay?scope=all&status=delivered&application=big&from=${dayAgo}&to=${now}`,
    '/deliveries/replays',
    `/deliveries/replays/${replayId}`,
    '/applications/big/events',
    '/applications/big/events?kind=payment.paid&status=delivered',
    `/events/${event?.id}`,
    '/reconcile',
    '/applications',
    '/applications/big',
    `/applications/big?after=${token?.id}`,
    '/create-application',
    '/gateways',
    '/audit',
    '/audit?actor=nobody',
    '/audit?action=nothing',
    '/audit?subject=payment:nothing',
    '/people',
    '/settings',
  ];
  for (const path of paths) await measure(path, () => server.call(path, { cookie }));
  for (const text of ['order-7', 'R500', 'nothing'])
    await measure(`search for ${text}`, () =>
      server.call('/search', { method: 'POST', cookie, form: { csrf, text } }),
    );
  const tabs = {
    'ten tabs of the overview': Array.from({ length: 10 }, () => ['/overview', 15] as const),
    'ten tabs: five of the overview, four of open payments, one of a replay': [
      ...Array.from({ length: 5 }, () => ['/overview', 15] as const),
      ...Array.from({ length: 4 }, () => [`/payments/${open?.id}/state`, 5] as const),
      [`/deliveries/replays/${replayId}/state`, 2] as const,
    ],
  };
  for (const [name, own] of Object.entries(tabs)) await measureTabs(name, own, cookie);
} finally {
  await server.stop();
}
process.exit(isSlow ? 1 : 0);
