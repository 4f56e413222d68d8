import { randomUUID } from 'node:crypto';
import { DatabaseSync } from 'node:sqlite';
import { sql as drizzleSql } from 'drizzle-orm';
import { drizzle as drizzlePg } from 'drizzle-orm/node-postgres';
import { drizzle as drizzlePostgres } from 'drizzle-orm/postgres-js';
import { Pool } from 'pg';
import postgres from 'postgres';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  createInbox,
  drizzleQuery,
  inboxTables,
  pgQuery,
  postgresQuery,
  prismaQuery,
  type Query,
  sqliteQuery,
} from '../../../client/src/inbox.ts';
import { Payments, type Event } from '../../../client/src/index.ts';
import { sign } from '../../../client/src/webhooks.ts';
import { aDatabase } from '../../support/data/database.ts';
import { forFile } from '../../support/for-file.ts';
import { useService } from '../../support/service/service.ts';
import { until } from '../../support/until.ts';

const service = await forFile(useService());

/** A shop with a library of its own, and its way of opening a transaction. */
interface Shop {
  query: Query;
  inTransaction: (work: (query: Query) => Promise<void>) => PromiseLike<unknown>;
}

const ofPostgres = async () => {
  const database = await aDatabase({ template: 'template1' });
  onTestFinished(() => database.drop());
  return database.url;
};

const ofPool = async () => {
  const pool = new Pool({ connectionString: await ofPostgres(), max: 5 });
  // A test that has failed drops the database under it.
  pool.on('error', () => {});
  onTestFinished(() => pool.end());
  return pool;
};

const ofPostgresJs = async () => {
  const sql = postgres(await ofPostgres(), { max: 5, onnotice: () => {} });
  onTestFinished(() => sql.end());
  return sql;
};

const shops: Record<string, () => Promise<Shop>> = {
  async postgres() {
    const sql = await ofPostgresJs();
    return {
      query: postgresQuery(sql),
      inTransaction: (work) => sql.begin((tx) => work(postgresQuery(tx))),
    };
  },
  async pg() {
    const pool = await ofPool();
    return {
      query: pgQuery(pool),
      async inTransaction(work) {
        const client = await pool.connect();
        try {
          await client.query('begin');
          await work(pgQuery(client));
          await client.query('commit');
        } catch (error) {
          await client.query('rollback');
          throw error;
        } finally {
          client.release();
        }
      },
    };
  },
  async 'node:sqlite'() {
    const database = new DatabaseSync(':memory:');
    const query = sqliteQuery(database);
    return {
      query,
      async inTransaction(work) {
        database.exec('begin immediate');
        try {
          await work(query);
          database.exec('commit');
        } catch (error) {
          database.exec('rollback');
          throw error;
        }
      },
    };
  },
  // The client of Prisma itself needs its command line to be generated; these are the two of its methods that count.
  async 'the methods of Prisma'() {
    const sql = await ofPostgresJs();
    const raw = (on: Pick<typeof sql, 'unsafe'>) => ({
      $queryRawUnsafe: (text: string, ...values: string[]) => on.unsafe(text, values),
    });
    return {
      query: prismaQuery(raw(sql)),
      inTransaction: (work) => sql.begin((tx) => work(prismaQuery(raw(tx)))),
    };
  },
  async 'Drizzle on pg'() {
    const database = drizzlePg({ client: await ofPool() });
    return {
      query: drizzleQuery(database, drizzleSql),
      inTransaction: (work) => database.transaction((tx) => work(drizzleQuery(tx, drizzleSql))),
    };
  },
  async 'Drizzle on postgres'() {
    const database = drizzlePostgres({ client: await ofPostgresJs() });
    return {
      query: drizzleQuery(database, drizzleSql),
      inTransaction: (work) => database.transaction((tx) => work(drizzleQuery(tx, drizzleSql))),
    };
  },
};

/** A shop that counts how often an event has changed an order. */
const aShop = async (library: string) => {
  const { secret, token } = await service.anApplication();
  const { query, inTransaction } = await (shops[library] as () => Promise<Shop>)();
  for (const table of [
    ...inboxTables.split(';').filter((text) => text.trim() !== ''),
    'create table orders (payment_id text primary key, changes integer not null)',
  ])
    await query(table, []);
  const client = new Payments({ token, baseUrl: service.url });
  const failing = new Set<string>();
  const inbox = createInbox({
    client,
    secret,
    since: new Date(0),
    query,
    once: (event, isFirst) =>
      inTransaction(async (own) => {
        if (!(await isFirst(own))) return;
        await own(
          `insert into orders (payment_id, changes) values ($1, 1)
           on conflict (payment_id) do update set changes = orders.changes + 1 returning changes`,
          [event.payment_id],
        );
        if (failing.has(event.event_id)) throw new Error('The shelf is empty');
      }),
  });
  return {
    client,
    inbox,
    failing,
    changes: () => query('select payment_id, changes from orders order by payment_id', []),
    webhook: async (event: Pick<Event, 'event_id' | 'payment_id'>) => {
      const body = JSON.stringify(event);
      return inbox.receive({ body, signature: await sign({ body, secret }) });
    },
    /** Payments that end, whose events no webhook brings to the inbox. */
    async pay(count: number) {
      const made = await Promise.all(
        Array.from({ length: count }, () =>
          client.payments.create({
            order_id: randomUUID(),
            amount: 100,
            currency: 'EUR',
            sandbox: { outcome: 'paid' },
          }),
        ),
      );
      const ids = made.map(({ payment_id: id }) => id).sort();
      for (const id of ids)
        await until(`${id} has its event`, async () => {
          const { data } = await client.events.list({ payment_id: id }).page();
          return data.length === 1;
        });
      return ids;
    },
  };
};

const anEvent = () => ({ event_id: randomUUID(), payment_id: `PAY_${randomUUID()}` });
const once = (ids: string[]) => ids.map((id) => ({ payment_id: id, changes: 1 }));

describe.each(Object.keys(shops))('with %s', (library) => {
  it('changes an order once, however many webhooks bring its event at once', async () => {
    const shop = await aShop(library);
    const [event, other] = [anEvent(), anEvent()];
    const all = await Promise.all(
      [...Array<typeof event>(20).fill(event), other].map((each) => shop.webhook(each)),
    );
    expect(all.filter(({ isFirst }) => isFirst)).toHaveLength(2);
    expect(await shop.changes()).toEqual(once([event.payment_id, other.payment_id].sort()));
  });

  it('forgets an event whose transaction fails, so that it can come again', async () => {
    const shop = await aShop(library);
    const event = anEvent();
    shop.failing.add(event.event_id);
    await expect(shop.webhook(event)).rejects.toThrow('The shelf is empty');
    expect(await shop.changes()).toEqual([]);
    shop.failing.clear();
    expect(await shop.webhook(event)).toEqual({ event, isFirst: true });
    expect(await shop.changes()).toEqual(once([event.payment_id]));
  });

  it('catches up from the feed, and goes on where it ended', async () => {
    const shop = await aShop(library);
    const ids = await shop.pay(3);
    const { data } = await shop.client.events.list({ order: 'asc' }).page();
    const [first, second] = await Promise.all(
      data.map(async ({ event_id: id }) => (await shop.client.events.get(id)).payload),
    );
    if (!first || !second) throw new Error('There are no events');
    await shop.webhook(first);
    shop.failing.add(second.event_id);
    await expect(shop.inbox.catchUp()).rejects.toThrow('The shelf is empty');
    shop.failing.clear();
    expect(await shop.inbox.catchUp()).toBe(2);
    expect(await shop.changes()).toEqual(once(ids));
    expect(await shop.inbox.catchUp()).toBe(0);
    expect((await shop.webhook(second)).isFirst).toBe(false);

    const all = [...ids, ...(await shop.pay(1))].sort();
    expect(await shop.inbox.catchUp()).toBe(1);
    expect(await shop.changes()).toEqual(once(all));
  });
});

it('refuses a body that nobody signed, and one that is no event', async () => {
  const shop = await aShop('node:sqlite');
  const body = JSON.stringify(anEvent());
  const signature = await sign({ body, secret: 'whsec_other' });
  await expect(shop.inbox.receive({ body, signature })).rejects.toMatchObject({
    reason: 'mismatch',
  });
  await expect(shop.webhook({} as ReturnType<typeof anEvent>)).rejects.toMatchObject({
    reason: 'body',
  });
  expect(await shop.changes()).toEqual([]);
});
