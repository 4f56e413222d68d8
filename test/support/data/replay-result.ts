import { eventId } from '../../../contract/ids.ts';
import type { Sql } from '../../../postgres/driver/sql.ts';

/** Counts a payment's event as done, as the worker does. */
export const recordReplayResult = (
  sql: Sql,
  replayId: string,
  { paymentId, begun }: { paymentId: string; begun: boolean },
) => sql`
  with counted as (
    update replays set begun = begun + ${begun ? 1 : 0}, refused = refused + ${begun ? 0 : 1}
    where id = ${replayId} returning begun + refused as number
  )
  insert into replay_results (replay_id, number, event_id, begun)
  select ${replayId}, number, ${eventId(paymentId)}::uuid, ${begun} from counted`;
