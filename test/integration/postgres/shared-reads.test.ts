import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { newPaymentId } from '../../../contract/ids.ts';
import { createPayments } from '../../../postgres/payments.ts';
import { countedSql } from '../../support/data/counted-sql.ts';
import type { Records } from '../../support/data/records.ts';
import { startRecords } from '../../support/data/records.ts';

let records: Records;
beforeAll(async () => {
  records = await startRecords();
});
afterAll(() => records.drop());

it('payments.get combines up to 50 concurrent reads, and keeps owners apart', async () => {
  const [mine, live, theirs] = [
    (await records.created({ application: 'shop', test: true })).id,
    (await records.created({ application: 'shop', test: false })).id,
    (await records.created({ application: 'quiet', test: true })).id,
  ];
  const { sql, statements } = countedSql(records.sql);
  const payments = createPayments(sql);
  const asked = [
    ...[mine, live, theirs, newPaymentId(), mine].map((id) => ({ id, application: 'shop' })),
    ...[mine, theirs].map((id) => ({ id, application: 'quiet' })),
  ];
  const found = await Promise.all(
    asked.map(({ id, application }) => payments.get(id, { application, test: true })),
  );
  expect(found.map((payment) => payment?.id)).toEqual([
    ...[mine, undefined, undefined, undefined, mine],
    ...[undefined, theirs],
  ]);
  expect(statements()).toBe(1);

  const owner = { application: 'shop', test: true };
  await Promise.all(Array.from({ length: 101 }, () => payments.get(mine, owner)));
  expect(statements(), 'fifty, fifty and one more').toBe(4);
});

it('payments.sendWaiting combines the polls of all waiting payers in one statement', async () => {
  const [waits, opened, failed] = [
    await records.created(),
    await records.opened(),
    await records.ended('failed'),
  ];
  const { sql, statements } = countedSql(records.sql);
  const { sendWaiting } = createPayments(sql);
  const asked = [...Array<string>(150).fill(waits.id), opened.id, failed.id, newPaymentId()];
  const now = new Date();
  const answers = await Promise.all(
    asked.map(async (id, nth) => {
      await sleep(nth % 10); // Browsers do not poll in the same turn of the event loop.
      return sendWaiting(id, now);
    }),
  );
  const redirect = { method: 'GET', url: `https://gateway.example/${opened.id}` };
  expect(answers).toEqual([
    ...Array<undefined>(150).fill(undefined),
    expect.objectContaining({ id: opened.id, driver: 'sandbox', redirect }),
    expect.objectContaining({ id: failed.id, status: 'failed', redirect: null }),
    undefined,
  ]);
  expect(statements()).toBe(1);
  const [row] = await records.sql`select checkout_at from payments where id = ${opened.id}`;
  expect(row?.['checkout_at'], 'the payer was sent').toEqual(now);
});

it('payments.sendWaiting sends no payer from the deadline on, and waits for no lock', async () => {
  const [late, locked] = [await records.opened(), await records.opened()];
  const { sendWaiting } = records.payments;
  expect(await sendWaiting(late.id, late.expiresAt)).toBeUndefined();
  await records.sql.begin(async (sql) => {
    await sql`select from payments where id = ${locked.id} for update`;
    expect(await sendWaiting(locked.id, new Date())).toBeUndefined();
  });
  expect(await sendWaiting(locked.id, new Date())).toMatchObject({ id: locked.id });
});
