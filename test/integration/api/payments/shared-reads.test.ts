import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createPaymentList } from '../../../../api/payments/list.ts';
import type { RequestOf } from '../../../../api/http/route.ts';
import type { Routes } from '../../../../api/routes.ts';
import { newPaymentId } from '../../../../contract/ids.ts';
import { ListPayments } from '../../../../contract/list-payments.ts';
import { createPayments } from '../../../../postgres/payments.ts';
import { countedSql } from '../../../support/counted-sql.ts';
import type { Records } from '../../../support/records.ts';
import { startRecords } from '../../../support/records.ts';

let records: Records;
beforeAll(async () => {
  records = await startRecords();
});
afterAll(() => records.drop());

it('reads fifty payments at once in one statement, and each owner its own alone', async () => {
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

it('looks after all payers who wait for the opening in one statement', async () => {
  const [waits, opened, failed] = [
    await records.created(),
    await records.opened(),
    await records.ended('failed'),
  ];
  const { sql, statements } = countedSql(records.sql);
  const { isOpened } = createPayments(sql);
  const asked = [...Array<string>(150).fill(waits.id), opened.id, failed.id, newPaymentId()];
  const answers = await Promise.all(
    asked.map(async (id, nth) => {
      await sleep(nth % 10); // Browsers do not look in one turn of the event loop.
      return isOpened(id);
    }),
  );
  expect(answers).toEqual([...Array<boolean>(150).fill(false), true, true, false]);
  expect(statements()).toBe(1);
});

it('lists what is asked for alike in one turn once, each owner his own, and never what was before', async () => {
  const { sql, statements } = countedSql(records.sql);
  const list = createPaymentList({
    payments: createPayments(sql),
    publicBaseUrl: 'https://pay.example',
  });
  const ask = async (application: string, mode: string, query: Record<string, string> = {}) => {
    const request = { caller: { application, mode }, query: ListPayments.parse(query) };
    const { body } = await list(request as unknown as RequestOf<Routes['listPayments']>);
    const { data } = JSON.parse(String(body)) as { data: { payment_id: string }[] };
    return data.map(({ payment_id }) => payment_id);
  };
  const orderId = 'only-here';
  const [test, live, other] = [
    (await records.created({ application: 'shop', test: true, orderId })).id,
    (await records.created({ application: 'shop', test: false, orderId })).id,
    (await records.created({ application: 'quiet', test: true, orderId })).id,
  ];
  const query = { order_id: orderId };
  const found = await Promise.all([
    ask('shop', 'test', query),
    ask('shop', 'live', query),
    ask('quiet', 'test', query),
    ask('shop', 'test', query),
    ask('shop', 'test', { ...query, status: 'paid' }),
  ]);
  expect(found).toEqual([[test], [live], [other], [test], []]);
  expect(statements()).toBe(4);

  const before = ask('shop', 'test', query);
  await nextTurn();
  const { id } = await records.created({ application: 'shop', test: true, orderId });
  expect(await ask('shop', 'test', query)).toEqual([id, test]);
  expect(await before).toContain(test);
});
