import { dispute } from '../../../protocol/dispute.ts';
import { startRefundRecords } from '../../support/data/refund-cases.ts';
import { forFile } from '../../support/for-file.ts';
import { checkTraces } from '../../support/protocol/check-traces.ts';
import { createDisputeDriver, type DisputeFault } from '../../support/protocol/dispute-driver.ts';

const records = await forFile(startRefundRecords());

const faults: Record<string, DisputeFault> = {
  'a look counts whatever came after it': ({ recordLook }) => ({
    disputes: {
      recordLook: async (look, told, now) => {
        const [row] = await records.sql<{ number: number }[]>`
          select number from dispute_looks where payment_id = ${look.paymentId}`;
        return recordLook({ ...look, ...row }, told, now);
      },
    },
  }),
  'a look records no hold': ({ recordLook }) => ({
    disputes: {
      recordLook: async (look, told, now) => {
        const isRecorded = await recordLook(look, told, now);
        await records.sql`update payments set amount_disputed = 0 where id = ${look.paymentId}`;
        return isRecorded;
      },
    },
  }),
};

checkTraces(dispute(), {
  createDriver: (start, fault?: DisputeFault) => createDisputeDriver(records, start, fault),
  faults,
});
