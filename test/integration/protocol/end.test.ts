import { end, type End } from '../../../protocol/end.ts';
import { startRecords } from '../../support/data/records.ts';
import { forFile } from '../../support/for-file.ts';
import { checkTraces } from '../../support/protocol/check-traces.ts';
import { createEndDriver } from '../../support/protocol/end-driver.ts';
import type { EndingFault } from '../../support/protocol/ending.ts';

const records = await forFile(startRecords({ gatewayKind: 'live' }));
const createDriver = (start: End, fault?: EndingFault) => createEndDriver(records, start, fault);

/** An activity gets the time and the payer's hint as its input, when it begins. */
const mayStep = (step: string, s: End) =>
  !(/^(deadline|grace|payer cancels)/.test(step) && (s.a_at !== 'idle' || s.b_at !== 'idle')) &&
  // `processing` is not modelled, and a payer of such a payment is not sent to the gateway.
  !(step === 'payer: sendToGateway' && s.due !== 'no');

const { sql } = records;
const faults: Record<string, EndingFault> = {
  'no compare-and-set': ({ outcomes }, _, id) => ({
    outcomes: {
      ...outcomes,
      async finalize(...args) {
        await sql`delete from deliveries where payment_id = ${id}`;
        await sql`delete from events where payment_id = ${id}`;
        await sql`update payments set status = 'pending', paid_at = null, failure_code = null, cancelled_by = null where id = ${id}`;
        return outcomes.finalize(...args);
      },
    },
  }),
  'event outside the transaction': ({ outcomes }) => ({
    outcomes: {
      ...outcomes,
      async finalize(ended) {
        const { count } = await sql`
          update payments set status = ${ended.status}, paid_at = ${ended.paidAt}
          where id = ${ended.id} and status in ('pending', 'processing')`;
        return count === 1 ? 'done' : 'ended_before';
      },
    },
  }),
  'lost checkout_at taken as never sent': ({ outcomes }) => ({
    outcomes: {
      ...outcomes,
      async get(id) {
        const payment = await outcomes.get(id);
        return payment && { ...payment, reference: payment.payerSent ? payment.reference : null };
      },
    },
  }),
  'exchanges are not stored': ({ outcomes }) => ({
    outcomes: {
      ...outcomes,
      recordInquiry: (id, inquiry) => outcomes.recordInquiry(id, { ...inquiry, exchanges: [] }),
    },
  }),
  'nobody looks for late money': () => ({ recheckLatePayment: async () => {} }),
  'a retry does not doubt the try before it': () => ({ isRetry: () => false }),
};

checkTraces(end(), { mayStep, createDriver, faults });
checkTraces(end({ restores: true }), { mayStep, createDriver });
