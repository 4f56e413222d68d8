import { newReplayId } from '../../../contract/ids.ts';
import { everyDelivery } from '../../../postgres/webhooks/delivery-filter.ts';
import type { Sql } from '../../../postgres/driver/sql.ts';
import { createReplays } from '../../../postgres/webhooks/replays.ts';

/** A replay of many tests that is half done. @returns its id */
export const fillReplay = async (sql: Sql): Promise<string> => {
  const id = newReplayId();
  const filter = {
    ...everyDelivery,
    application: 'shop',
    test: true,
    delivery: 'exhausted',
    to: new Date(),
  } as const;
  await createReplays(sql).insertOfOperator({ ...filter, id, matched: 412, perSecond: 10 });
  await sql`update replays set begun = 205, refused = 2 where id = ${id}`;
  return id;
};
