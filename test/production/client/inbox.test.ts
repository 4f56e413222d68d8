import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { Payments } from '../../../client/src/index.ts';
import { createInbox, inboxTables, sqliteQuery } from '../../../client/src/inbox.ts';
import { eventId, newPaymentId } from '../../../contract/ids.ts';
import { choosePorts } from '../../../stack/ports.ts';
import { writeDeliveries } from '../../support/data/payments.ts';
import { forFile } from '../../support/for-file.ts';
import { compileCache } from '../../support/runner/compile-cache.ts';
import { useService } from '../../support/service/service.ts';
import { skipAllTime } from '../../support/service/skip-time.ts';
import { aFolder } from '../../support/stack/support.ts';
import { until } from '../../support/until.ts';

const kills = 12;
const paymentsForEachKill = 12;
/** The time after the last create in which the shop gets the webhooks. */
const webhooksMs = 400;
/** The payments that end while the shop is offline for longer than a round of attempts. */
const offline = 20;

const service = await forFile(useService());

/** The shop asks again after pauses, and each replay may take seconds. */
const waitMs = 300_000;

/** The demo shop, that can be killed, and its application at the service. */
const aShop = async () => {
  const { port } = await choosePorts({ port: 0 });
  const shopUrl = `http://127.0.0.1:${port}`;
  const { token, secret } = await service.anApplication({ webhookUrl: `${shopUrl}/webhook` });
  const folder = aFolder();
  const connection = {
    api_base_url: service.url,
    token,
    webhook_secret: secret,
    shop_url: shopUrl,
  };
  const connectionFile = join(folder, 'connection.json');
  writeFileSync(connectionFile, JSON.stringify(connection));
  let running: ChildProcess | undefined;
  onTestFinished(() => void running?.kill('SIGKILL'));
  return {
    client: new Payments({ token, baseUrl: service.url, maxRetries: 5 }),
    async start() {
      running = spawn(process.execPath, ['demo/shop.ts', connectionFile], {
        env: { NODE_COMPILE_CACHE: compileCache },
        stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
      });
      // Ended already: it could not start.
      const [message] = await Promise.race([once(running, 'message'), once(running, 'exit')]);
      expect(message).toBe('ready');
    },
    async kill() {
      running?.kill('SIGKILL');
      if (running) await once(running, 'exit');
    },
    orders() {
      const database = new DatabaseSync(join(folder, 'shop.sqlite'), { readOnly: true });
      try {
        return database
          .prepare('select payment_id, status, changes from orders order by payment_id')
          .all();
      } finally {
        database.close();
      }
    },
  };
};

const buy = async (client: Payments) => {
  const { payment_id: id } = await client.payments.create({
    order_id: crypto.randomUUID(),
    amount: 1250,
    currency: 'EUR',
    sandbox: { outcome: 'paid' },
  });
  return id;
};

const eventsOf = async (client: Payments, status: 'pending' | 'exhausted') => {
  const ids: string[] = [];
  for await (const { event_id: id } of client.events.list({ delivery: status, per_page: 100 }))
    ids.push(id);
  return ids;
};

it(
  'each order of a shop changes once, while the shop is killed and after it was offline',
  { timeout: 900_000 },
  async () => {
    const { client, ...shop } = await aShop();
    const ids = await Promise.all(Array.from({ length: offline }, () => buy(client)));
    const skips = (id: string) =>
      skipAllTime(service.client, id).then(
        () => true,
        () => false,
      );
    // Its workflow starts after the create has its response.
    for (const id of ids) await until(`${id} has a workflow`, () => skips(id), waitMs);
    const isOver = async () => (await eventsOf(client, 'exhausted')).length === offline;
    await until('all attempts have failed', isOver, waitMs);

    for (let killed = 0; killed < kills; killed += 1) {
      await shop.start();
      ids.push(
        ...(await Promise.all(Array.from({ length: paymentsForEachKill }, () => buy(client)))),
      );
      // Each kill comes at another moment of the webhooks.
      await sleep(((killed + Math.random()) / kills) * webhooksMs);
      await shop.kill();
    }
    await shop.start();
    await until('every payment has an order', () => shop.orders().length === ids.length, waitMs);
    // Now comes each event whose webhook was missed, and that the feed has brought.
    await until(
      'every event is delivered',
      async () => {
        const states = ['exhausted', 'pending'] as const;
        const missed = (await Promise.all(states.map((each) => eventsOf(client, each)))).flat();
        await Promise.all(missed.map((id) => client.events.replay(id)));
        return missed.length === 0;
      },
      waitMs,
    );

    const expected = ids.toSorted().map((id) => ({ payment_id: id, status: 'paid', changes: 1 }));
    expect(shop.orders()).toEqual(expected.map((order) => expect.objectContaining(order)));
  },
);

const missed = 2_000;
const createsInAMinute = 60;

/** Payments that have ended, with events that no webhook brings: they are in the feed alone. */
const writeEvents = async (application: string, count: number) => {
  const ids = Array.from({ length: count }, () => newPaymentId());
  const payments = ids.map((id) => ({ id, application, metadata: '{"z":1.50}' }));
  const anHourAgo = Date.now() - 3_600_000;
  await writeDeliveries(service.sql, payments, (n) => ({
    status: 'none',
    recorded_at: new Date(anHourAgo + n),
  }));
  return ids.map(eventId);
};

it('2,000 missed events are caught up while the shop makes 60 creates a minute, and none is refused', async () => {
  const { application, token, secret } = await service.anApplication({ requestsPerMinute: 120 });
  const ids = await writeEvents(application, missed);
  const database = new DatabaseSync(':memory:');
  database.exec(inboxTables);
  const query = sqliteQuery(database);
  const taken = new Set<string>();
  const statuses: (number | undefined)[] = [];
  const inbox = createInbox({
    client: new Payments({
      token,
      baseUrl: service.url,
      onResponse: ({ status }) => statuses.push(status),
    }),
    secret,
    since: new Date(0),
    query,
    async once(event, isFirst) {
      if (await isFirst(query)) taken.add(event.event_id);
    },
  });

  const answers: (number | undefined)[] = [];
  const shop = new Payments({
    token,
    baseUrl: service.url,
    maxRetries: 0,
    onResponse: ({ status }) => answers.push(status),
  });
  let isCatchingUp = true;
  /** Makes all creates of a minute in a row, and those of the next minute when it begins. */
  const sell = async () => {
    for (let [minute, made] = [0, 0]; isCatchingUp;) {
      const [row] = await service.sql<{ now: number }[]>`
        select floor(extract(epoch from clock_timestamp()) / 60)::int as now`;
      if (row && row.now !== minute) [minute, made] = [row.now, 0];
      if (made === createsInAMinute) await sleep(100);
      else {
        made += 1;
        // On a busy machine a create may fail otherwise.
        await shop.payments
          .create({ order_id: crypto.randomUUID(), amount: 100, currency: 'EUR' })
          .catch(() => {});
      }
    }
  };
  const selling = sell();
  try {
    await until('the shop sells', () => answers.length >= createsInAMinute, waitMs);
    expect(await inbox.catchUp()).toBe(missed);
  } finally {
    isCatchingUp = false;
    await selling;
  }
  expect(answers).toContain(201);
  expect(answers).not.toContain(429);
  // One request for 100 events.
  expect(statuses.filter((status) => status === 200)).toHaveLength(missed / 100);
  expect(statuses).not.toContain(429);
  expect([...taken].toSorted()).toEqual(ids.toSorted());
});
