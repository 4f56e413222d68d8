import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import type { ListPosition } from '../../../contract/list.ts';
import { connect } from '../../../postgres/driver/connection.ts';
import { createEvents, type EventQuery } from '../../../postgres/events.ts';
import { createPaymentOutcomes } from '../../../postgres/payment-outcomes.ts';
import { noAnswer, startRecords, withOutcome } from '../../support/data/records.ts';
import { forFile } from '../../support/for-file.ts';

const records = await forFile(startRecords());

const owner = { application: 'shop', test: true };
const everything: EventQuery = {
  kind: undefined,
  delivery: undefined,
  paymentId: undefined,
  orderId: undefined,
  from: undefined,
  to: undefined,
  order: 'feed',
  after: undefined,
  limit: 7,
};

it('the feed shows every event exactly once while eight writers commit out of order', async () => {
  const sql = connect(records.url, { name: 'writers', max: 8 });
  const { list } = createEvents(records.sql);
  const written: string[] = [];
  let isWriting = true;
  const began = Date.now();

  /** Holds the transaction open for up to 9 seconds after the event got its time. */
  const writer = async (nth: number) => {
    for (let round = 0; round < 12; round += 1) {
      const payment = await records.created();
      const { ended, event } = withOutcome(payment, 'paid');
      await sql.begin(async (tx) => {
        await createPaymentOutcomes(tx).finalize(ended, event, noAnswer);
        await sleep(nth === 0 ? 9_000 : ((nth * 7 + round * 13) % 10) * 150);
        written.push(event.id);
      });
      if (Date.now() - began > 20_000) break;
    }
  };
  const seen: string[] = [];
  const read = async () => {
    let after: ListPosition | undefined;
    const readToEnd = async () => {
      for (;;) {
        const page = await list(owner, { ...everything, after });
        seen.push(...page.map(({ id }) => id));
        const last = page.at(-1);
        if (!last) return;
        after = { at: last.recordedAt, id: last.id };
      }
    };
    while (isWriting) {
      await readToEnd();
      await sleep(50);
    }
    // What was recorded last is shown 15 seconds later.
    const endsAt = Date.now() + 16_000;
    while (Date.now() < endsAt) {
      await readToEnd();
      await sleep(100);
    }
  };
  const reading = read();
  await Promise.all(Array.from({ length: 8 }, (_, nth) => writer(nth)));
  isWriting = false;
  await reading;
  await sql.end({ timeout: 1 });
  expect(written.length).toBeGreaterThan(40);
  expect(seen.toSorted()).toEqual(written.toSorted());
});

it('a list without a kind shows events of a kind that this version does not know', async () => {
  const { id } = await records.ended('paid', { orderId: 'unknown-kind' });
  await records.sql`
    update deliveries set kind = 'refund.succeeded', recorded_at = now() - interval '1 minute'
    where payment_id = ${id}`;
  const { list } = createEvents(records.sql);
  for (const order of ['feed', 'newest'] as const) {
    const found = await list(owner, { ...everything, orderId: 'unknown-kind', order });
    expect(found.map(({ kind }) => kind)).toEqual(['refund.succeeded']);
  }
});
