import { afterAll, beforeAll, expect, it } from 'vitest';
import { newPaymentId } from '../../contract/ids.ts';
import { createApplications } from '../../postgres/applications.ts';
import { createGateways } from '../../postgres/gateways.ts';
import { createPayments } from '../../postgres/payments.ts';
import { aroundStatements } from '../../postgres/statements.ts';
import type { Database } from '../support/database.ts';
import { aDatabase } from '../support/database.ts';
import { writePayment } from '../support/payments.ts';

let database: Database;
beforeAll(async () => {
  database = await aDatabase();
  const { sql } = database;
  await createGateways(sql).insert({
    slug: 'sandbox',
    driver: 'sandbox',
    kind: 'sandbox',
    credentials: null,
  });
  for (const slug of ['one', 'other'])
    await createApplications(sql).insert({
      slug,
      defaultGateway: 'sandbox',
      callbackUrls: ['http://127.0.0.1:9/return'],
      webhookUrl: null,
    });
});
afterAll(() => database.drop());

/** Of the same database, with the statements it was asked counted. */
const counted = () => {
  let statements = 0;
  const payments = createPayments(
    aroundStatements(database.sql, (statement) => {
      statements += 1;
      return statement;
    }),
  );
  return { payments, statements: () => statements };
};

it('reads fifty payments at once in one statement, and each owner its own alone', async () => {
  const createdAt = new Date();
  const write = (application: string, test: boolean) =>
    writePayment(database.sql, { application, test, createdAt });
  const [mine, live, theirs] = [
    await write('one', true),
    await write('one', false),
    await write('other', true),
  ];
  const { payments, statements } = counted();
  const asked = [
    ...[mine, live, theirs, newPaymentId(), mine].map((id) => ({ id, application: 'one' })),
    ...[mine, theirs].map((id) => ({ id, application: 'other' })),
  ];
  const found = await Promise.all(
    asked.map(({ id, application }) => payments.get(id, { application, test: true })),
  );
  expect(found.map((payment) => payment?.id)).toEqual([
    ...[mine, undefined, undefined, undefined, mine],
    ...[undefined, theirs],
  ]);
  expect(statements()).toBe(1);

  const owner = { application: 'one', test: true };
  await Promise.all(Array.from({ length: 101 }, () => payments.get(mine, owner)));
  expect(statements(), 'fifty, fifty and one more').toBe(4);
});
