import { execFileSync } from 'node:child_process';
import { symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import postgres from 'postgres';
import { expect, it, onTestFinished } from 'vitest';
import { inboxTables } from '../../../client/src/inbox.ts';
import { readProjectFile } from '../../support/checks/project-files.ts';
import { packAndInstall } from '../../support/client/install.ts';
import { orderTransitions } from '../../support/client/order-transitions.ts';
import { aDatabase } from '../../support/data/database.ts';
import { forFile } from '../../support/for-file.ts';
import { useService } from '../../support/service/service.ts';

const readme = readProjectFile('client/README.md');
const programAfter = (text: string): string =>
  /```ts\n([\s\S]*?)```/.exec(readme.slice(readme.indexOf(text)))?.[1] ?? '';
const { application } = packAndInstall();
writeFileSync(join(application, 'package.json'), '{"type":"module"}');
symlinkSync(
  join(import.meta.dirname, '../../../node_modules/postgres'),
  join(application, 'node_modules/postgres'),
);
writeFileSync(join(application, 'inbox.ts'), programAfter('`inbox.ts`'));
const service = await forFile(useService());

/** Receives these events one after the other, as the receivers of the README do. */
const receiver = `
  import { readFileSync } from 'node:fs';
  import { sign } from '@example/payments/webhooks';
  import { inbox } from './inbox.ts';
  const secret = process.env.WEBHOOK_SECRET;
  for (const event of JSON.parse(readFileSync('events.json', 'utf8'))) {
    const body = JSON.stringify(event);
    await inbox.receive({ body, signature: await sign({ body, secret }) });
  }
  process.exit();`;

/** The orders of the table in the shop of the README, after the events of all. */
const ordersAfter = async () => {
  const { token, secret } = await service.anApplication({ mode: 'live' });
  const database = await aDatabase({ template: 'template1' });
  const sql = postgres(database.url, { onnotice: () => {} });
  onTestFinished(async () => {
    await sql.end();
    await database.drop();
  });
  await sql.unsafe(`${inboxTables}
    create table mails (payment_id text);
    create table orders (id text primary key, status text, amount int, currency text, payment_id text)`);
  for (const { order } of orderTransitions)
    await sql`insert into orders values (${order.id}, ${order.status}, 1250, 'EUR', ${order.payment})`;
  const events = orderTransitions.map(({ event }) => event);
  writeFileSync(join(application, 'events.json'), JSON.stringify(events));
  execFileSync(process.execPath, ['--input-type=module', '--eval', receiver], {
    cwd: application,
    env: {
      DATABASE_URL: database.url,
      PAYMENTS_TOKEN: token,
      PAYMENTS_BASE_URL: service.url,
      WEBHOOK_SECRET: secret,
    },
  });
  const orders = await sql<{ id: string; status: string }[]>`select id, status from orders`;
  return new Map(orders.map(({ id, status }) => [id, status]));
};

it('the shop of the README makes of each order what the table says', async () => {
  const orders = await ordersAfter();
  expect(orderTransitions.map(({ what, order }) => [what, orders.get(order.id)])).toEqual(
    orderTransitions.map(({ what, becomes }) => [what, becomes]),
  );
});
