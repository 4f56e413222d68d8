import { expect, it } from 'vitest';
import { eventId } from '../../../contract/ids.ts';
import { createDeliveries } from '../../../postgres/webhooks/deliveries.ts';
import { createIdempotencyKeys } from '../../../postgres/payments/idempotency-keys.ts';
import { createWorkflowOutbox } from '../../../postgres/payments/workflow-outbox.ts';
import { aPayment } from '../../support/data/payments.ts';
import { withOutcome, noAnswer, startRecords } from '../../support/data/records.ts';
import { until } from '../../support/until.ts';
import { forFile } from '../../support/for-file.ts';

const count = 2_000;
const parallel = 8;
const records = await forFile(startRecords());

/** Writes a paid payment with everything that belongs to it, in usual sizes. */
const writePaidPayment = async (n: number) => {
  const { sql, payments, paymentOutcomes } = records;
  const payment = aPayment({
    orderId: `order-${n}`,
    description: 'Two articles of a usual shop',
    metadata: '{"customer":"c-4711","cart":"8f0b2c"}',
  });
  const { id } = payment;
  await payments.insert(payment, {
    route: 'POST /api/v1/payments',
    key: `9f6c2d1e-${n}`,
    fingerprint: Buffer.alloc(32, n),
    status: 201,
    location: `/api/v1/payments/${id}`,
    body: 'x'.repeat(800),
    keptFor: '1 day',
  });
  const redirect = { method: 'GET', url: `https://gateway.example/pay/${id}` } as const;
  await paymentOutcomes.recordOpened(id, {
    reference: `REF_${id}`,
    redirect,
    exchanges: [
      {
        at: new Date(),
        operation: 'open',
        result: 'opened',
        code: null,
        message: null,
        durationMs: 80,
      },
    ],
  });
  await createWorkflowOutbox(sql).delete([id]);
  await payments.sendToGateway([id], new Date());
  const { ended, event } = withOutcome(payment, 'paid');
  const paid = { ...ended, trackingCode: `T-${n}`, cardPanMasked: '502229******1234' };
  const verified = { at: new Date(), result: 'paid', durationMs: 90 } as const;
  await paymentOutcomes.finalize(paid, event, {
    ...noAnswer,
    exchanges: [{ ...verified, operation: 'verify', code: '100', message: 'Verified' }],
  });
  const deliveries = createDeliveries(sql);
  const at = new Date();
  await deliveries.beginAttempt(eventId(id), {
    number: 1,
    round: 1,
    scheduledAt: at,
    startedAt: at,
  });
  await deliveries.completeAttempt(eventId(id), 1, {
    result: {
      durationMs: 50,
      responseStatus: 200,
      errorClass: null,
      error: null,
      responseBody: '{"ok":true}',
      responseTruncated: false,
    },
    consequence: { status: 'delivered' },
    completedAt: at,
  });
};

/** The bytes of live rows per payment: Postgres reuses the space of old row versions. */
const bytesPerPayment = async () => {
  // Without names it would lock the tables that all databases of the server share.
  for (const { name } of await records.sql<{ name: string }[]>`
    select relname as name from pg_class
    where relnamespace = 'public'::regnamespace and relkind = 'r' and pg_table_size(oid) > 100000`)
    await records.sql`vacuum full ${records.sql(name)}`;
  const rows = await records.sql<{ name: string; table: number; indexes: number }[]>`
    select relname as name, pg_table_size(oid) / ${count}::float8 as table,
      pg_indexes_size(oid) / ${count}::float8 as indexes
    from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r'
      and pg_table_size(oid) > 100000
    order by pg_total_relation_size(oid) desc`;
  const kept = rows.filter(({ name }) => !['idempotency_keys', 'workflow_outbox'].includes(name));
  const bytes = kept.reduce((sum, { table, indexes }) => sum + table + indexes, 0);
  const lines = rows.map(
    ({ name, table, indexes }) => `${name}: ${Math.round(table)} + ${Math.round(indexes)} indexes`,
  );
  console.info(['Bytes per paid payment', ...lines, `kept: ${Math.round(bytes)}`].join('\n  '));
  return bytes;
};

it('a paid payment takes less than 3,700 bytes of disk, its movement included', async () => {
  const numbers = Array.from({ length: count }, (_, n) => n).values();
  const write = async () => {
    for (const n of numbers) await writePaidPayment(n);
  };
  await Promise.all(Array.from({ length: parallel }, write));
  expect(await createIdempotencyKeys(records.sql).deleteExpired(1)).toBe(0);
  // The snapshot of an autovacuum makes `vacuum full` keep old row versions, so a second one may be needed.
  await until('less than 3,700 bytes', async () => (await bytesPerPayment()) < 3_700, 240_000);
});
