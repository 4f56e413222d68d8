import { delivery, type Delivery } from '../../../protocol/delivery.ts';
import { startRecords } from '../../support/data/records.ts';
import { forFile } from '../../support/for-file.ts';
import { checkTraces } from '../../support/protocol/check-traces.ts';
import {
  createDeliveryDriver,
  type DeliveryFault,
} from '../../support/protocol/delivery-driver.ts';

const records = await forFile(startRecords());
const createDriver = (_: Delivery, fault?: DeliveryFault) => createDeliveryDriver(records, fault);

const faults: Record<string, DeliveryFault> = {
  'round begun without its number': ({ replay }) => ({
    replay: (id, { from, trigger, now }) => replay(id, { from, trigger, now }),
  }),
  'a completed attempt completes again': ({ completeAttempt }, id) => ({
    async completeAttempt(event, number, completion) {
      await records.sql`
        update attempts set completed_at = null where event_id = ${id} and number = ${number}`;
      return completeAttempt(event, number, completion);
    },
  }),
  'attempt not in the ledger before the POST': () => ({
    beginAttempt: async () => ({ dueAt: null, test: true }),
  }),
  'the ledger moves without the delivery': ({ completeAttempt }, id) => ({
    async completeAttempt(event, number, completion) {
      const completed = await completeAttempt(event, number, completion);
      await records.sql`
        update deliveries set status = 'pending', next_attempt_at = now()
        where event_id = ${id} and status = 'exhausted'`;
      return completed;
    },
  }),
};

checkTraces(delivery(), { createDriver, faults });
