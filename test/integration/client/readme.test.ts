import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import postgres from 'postgres';
import { describe, expect, it, onTestFinished } from 'vitest';
import { inboxTables } from '../../../client/src/inbox.ts';
import { packAndInstall } from '../../support/client/install.ts';
import { noOldNode, oldNode } from '../../support/client/old-node.ts';
import { orderTransitions } from '../../support/client/order-transitions.ts';
import { programs } from '../../support/client/readme.ts';
import { compile, writePrograms } from '../../support/client/receivers.ts';
import { aDatabase } from '../../support/data/database.ts';
import { forFile } from '../../support/for-file.ts';
import { useService } from '../../support/service/service.ts';
import { until } from '../../support/until.ts';

const { application } = await packAndInstall();
const problems = writePrograms(application);
const service = await forFile(useService());

it('the programs of the README compile strictly with nodenext and node16', () => {
  expect(problems).toBe('');
  expect(compile(application, 'node16')).toBe('');
});

describe('the first payment of the README', () => {
  it('has 15 lines at most', () => {
    expect(programs['first-payment.ts'].trim().split('\n').length).toBeLessThanOrEqual(15);
  });

  it.for([
    ['this Node', process.execPath, 'first-payment.ts'] as const,
    ['Node 20', oldNode, 'compiled/first-payment.js'] as const,
  ])('prints the address of the checkout on %s', async ([, node, file], { skip }) => {
    if (node === undefined) return skip(noOldNode);
    const { token } = await service.anApplication();
    const output = execFileSync(node, [join(application, file)], {
      encoding: 'utf8',
      env: { PAYMENTS_TOKEN: token, PAYMENTS_BASE_URL: service.url },
    });
    expect(output).toMatch(/^http:\S+\/checkout\n$/);
  });
});

it('the shop of the README tells the payers of a paid order', async () => {
  const { journey, token } = await service.anApplication({ ordersPaidOnce: true });
  const order = { order_id: `order-${randomUUID()}` };
  const [paid, second] = [await journey.atGateway(order), await journey.atGateway(order)];
  await journey.choose(paid, 'pay');
  await until('one is paid, and the other one is called off', async () => {
    await journey.verify(paid);
    return (await journey.get(second)).json['failure_code'] === 'order_already_paid';
  });
  const program = `
    import { afterReturn, startPaying } from './orders.ts';
    console.log(await startPaying('${order.order_id}', 1250));
    for (const id of ['${paid}', '${second}']) console.log(await afterReturn(id));`;
  const output = execFileSync(process.execPath, ['--input-type=module', '--eval', program], {
    cwd: application,
    encoding: 'utf8',
    env: { PAYMENTS_TOKEN: token, PAYMENTS_BASE_URL: service.url },
  });
  expect(output.trim().split('\n')).toEqual([
    `The order is paid: ${paid}`,
    'paid',
    expect.stringContaining('goes back to you by itself'),
  ]);
});

it('each receiver of the README is short', () => {
  for (const name of ['receiver.js', 'express.ts', 'koa.ts', 'next.ts', 'hono.ts'] as const) {
    const lines = programs[name].split('\n').filter((line) => line && !line.startsWith('import'));
    expect(lines.length, name).toBeLessThanOrEqual(14);
  }
});

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

it('the inbox of the README makes of each order what the table says', async () => {
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
  const rows = await sql<{ id: string; status: string }[]>`select id, status from orders`;
  const orders = new Map(rows.map(({ id, status }) => [id, status]));
  expect(orderTransitions.map(({ what, order }) => [what, orders.get(order.id)])).toEqual(
    orderTransitions.map(({ what, becomes }) => [what, becomes]),
  );
});
