import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import type { ListPosition } from '../../../../contract/list.ts';
import { connect } from '../../../../postgres/driver/connection.ts';
import { createEvents, type EventFilter } from '../../../../postgres/webhooks/events.ts';
import { createPaymentOutcomes } from '../../../../postgres/payments/outcomes.ts';
import { everyEvent } from '../../../support/data/filters.ts';
import { noAnswer, startRecords, withOutcome } from '../../../support/data/records.ts';
import { forFile } from '../../../support/for-file.ts';

const records = await forFile(startRecords());

const everything: EventFilter = { application: 'shop', test: true, ...everyEvent };

it('the feed shows every event exactly once while eight writers have clocks that jump by 20 seconds', async () => {
  await records.sql`create schema jumping`;
  await records.sql`create sequence jumping.calls`;
  await records.sql`
    create function jumping.clock_timestamp() returns timestamptz language sql as $$
      select pg_catalog.clock_timestamp() + (nextval('jumping.calls') % 3 - 1) * interval '20 s'
    $$`;
  const sql = connect(records.url, { name: 'writers', max: 8 });
  const { list } = createEvents(records.sql);
  const written: string[] = [];
  let isWriting = true;
  /** Commits up to 90 ms after the event got its place, so that others wait or begin meanwhile. */
  const writer = async (nth: number) => {
    for (let round = 0; round < 8; round += 1) {
      const { ended, event } = withOutcome(await records.created(), 'paid');
      await sql.begin(async (tx) => {
        await tx`set local search_path = jumping, public, pg_catalog`;
        await createPaymentOutcomes(tx).finalize(ended, event, noAnswer);
        await sleep(((nth * 7 + round * 13) % 10) * 10);
      });
      written.push(event.id);
    }
  };
  const seen: string[] = [];
  let after: ListPosition | null = null;
  const readToEnd = async () => {
    for (;;) {
      const page: { id: string; recordedAt: Date }[] = await list(
        { ...everything, order: 'asc' },
        { after, limit: 7 },
      );
      seen.push(...page.map(({ id }) => id));
      const last = page.at(-1);
      if (!last) return;
      after = { at: last.recordedAt, id: last.id };
    }
  };
  const read = async () => {
    while (isWriting) await readToEnd();
    await readToEnd();
  };
  const reading = read();
  await Promise.all(Array.from({ length: 8 }, (_, nth) => writer(nth)));
  isWriting = false;
  await reading;
  await sql.end({ timeout: 1 });
  expect(written).toHaveLength(64);
  expect(seen.toSorted()).toEqual(written.toSorted());
});

it('a list without a kind shows events of a kind that this version does not know', async () => {
  const { id } = await records.ended('paid', { orderId: 'unknown-kind' });
  await records.sql`
    update deliveries set kind = 'refund.succeeded' where payment_id = ${id}`;
  const { list } = createEvents(records.sql);
  for (const order of ['asc', 'desc'] as const) {
    const filter = { ...everything, orderId: 'unknown-kind', order };
    const found = await list(filter, { after: null, limit: 7 });
    expect(found.map(({ kind }) => kind)).toEqual(['refund.succeeded']);
  }
});
