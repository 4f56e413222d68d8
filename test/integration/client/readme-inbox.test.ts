import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import postgres from 'postgres';
import { expect, it, onTestFinished } from 'vitest';
import { eventExamples } from '../../../api/payments/payment-examples.ts';
import { refundEventExamples } from '../../../api/refunds/refund-examples.ts';
import { inboxTables } from '../../../client/src/inbox.ts';
import { readProjectFile } from '../../support/checks/project-files.ts';
import { packAndInstall } from '../../support/client/install.ts';
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
  import { sign } from '@example/payments/webhooks';
  import { inbox } from './inbox.ts';
  const secret = process.env.WEBHOOK_SECRET;
  for (const event of JSON.parse(process.env.EVENTS)) {
    const body = JSON.stringify(event);
    await inbox.receive({ body, signature: await sign({ body, secret }) });
  }
  process.exit();`;

const paid = { ...eventExamples.paid, test: false };
const failed = { ...eventExamples.failed, test: false };
const lost = { ...failed, failure_code: 'order_already_paid' };
const expired = { ...paid, event: 'payment.expired', status: 'expired' };
const refund = {
  ...{ ...refundEventExamples.succeeded, event: 'refund.failed', status: 'failed' },
  ...{ order_id: 'order-1042', amount: 1250, currency: 'EUR', test: false },
};

const cases: [what: string, events: object[], status: string][] = [
  ['paid by a live payment of its amount', [paid], 'paid'],
  ['paid by a second try', [failed, paid], 'paid'],
  ['not paid by a test payment', [{ ...paid, test: true }], 'pending'],
  ['not paid by a test payment of 1 cent', [{ ...paid, test: true, amount: 1 }], 'pending'],
  ['not paid by another amount', [{ ...paid, amount: 1 }], 'pending'],
  ['not paid by another currency', [{ ...paid, currency: 'IRR' }], 'pending'],
  ['paid still when another try ends', [paid, expired, failed], 'paid'],
  ['pending still when a payment of it was second', [lost], 'pending'],
  ['paid by the first payment, whose event comes last', [lost, paid], 'paid'],
  ['paid still when the event of the second payment comes last', [paid, lost], 'paid'],
  ['paid still when a refund fails', [paid, refund], 'paid'],
  ['pending still when a refund of another payment fails', [refund], 'pending'],
  [
    'as it was after a kind of a later version',
    [{ ...paid, event: 'payment.won', status: 'won' }],
    'pending',
  ],
];

/** The shop of the README with an order of 12.50 EUR for each case, after the events of all. */
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
    create table orders (id text primary key, status text, amount int, currency text);
    insert into orders select 'order-' || n, 'pending', 1250, 'EUR' from generate_series(1, ${cases.length}) n`);
  const events = cases.flatMap(([, ofOrder], index) =>
    ofOrder.map((event) => ({
      ...event,
      event_id: randomUUID(),
      order_id: `order-${index + 1}`,
    })),
  );
  execFileSync(process.execPath, ['--input-type=module', '--eval', receiver], {
    cwd: application,
    env: {
      DATABASE_URL: database.url,
      PAYMENTS_TOKEN: token,
      PAYMENTS_BASE_URL: service.url,
      WEBHOOK_SECRET: secret,
      EVENTS: JSON.stringify(events),
    },
  });
  const orders = await sql<{ id: string; status: string }[]>`select id, status from orders`;
  return new Map(orders.map(({ id, status }) => [id, status]));
};

it('the orders of the README are paid by a live payment of their amount, and never taken back', async () => {
  const orders = await ordersAfter();
  expect(cases.map(([what], index) => [what, orders.get(`order-${index + 1}`)])).toEqual(
    cases.map(([what, , status]) => [what, status]),
  );
});
