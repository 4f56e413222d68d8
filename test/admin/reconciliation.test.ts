import { afterAll, beforeAll, expect, it } from 'vitest';
import { newPaymentId } from '../../contract/ids.ts';
import { operationsOn } from '../support/operations.ts';
import type { Records } from '../support/records.ts';
import { startRecords } from '../support/records.ts';

let records: Records;
beforeAll(async () => {
  records = await startRecords();
});
afterAll(() => records.drop());

/** One more than is looked at in one go. */
const many = <T>(make: () => T): T[] => Array.from({ length: 201 }, make);

it('looks at more than one page of everything, and tells of each and starts each once', async () => {
  const open = await Promise.all(many(() => records.created()));
  const ended = await Promise.all(many(() => records.ended('paid')));
  const unknown = many(newPaymentId);
  // At one and the same time, as an incident leaves them.
  await records.sql`
    update payments set created_at = now() - interval '2 minutes', expires_at = now()`;
  await records.sql`update deliveries set next_attempt_at = now()`;

  const started: string[] = [];
  const engine = {
    async *list() {
      // Of each two runs.
      for (const paymentId of [...unknown, ...unknown])
        yield {
          ...{ paymentId, running: false, application: null, orderId: null },
          startedAt: new Date(),
        };
    },
    running: async () => new Set<string>(),
    start: async ({ id }: { id: string }) => void started.push(id),
    startLate: async () => {},
  };
  const { reconcile } = operationsOn(records.sql, { engine: async () => engine });
  const options = { since: new Date(0), limit: 1_000, look: 1_000, mend: true, reason: null };
  const { differences, complete } = await reconcile(options);

  const found = (kind: string) =>
    differences.filter((one) => one.kind === kind).map(({ paymentId }) => paymentId);
  const idsOf = (payments: { id: string }[]) => payments.map(({ id }) => id);
  expect(found('payment_without_workflow').toSorted()).toEqual(idsOf(open).toSorted());
  expect(found('delivery_without_workflow').toSorted()).toEqual(idsOf(ended).toSorted());
  expect(found('workflow_without_payment')).toEqual(unknown);
  expect(started.toSorted()).toEqual(idsOf([...open, ...ended]).toSorted());
  expect([differences.length, complete]).toEqual([603, true]);
});
