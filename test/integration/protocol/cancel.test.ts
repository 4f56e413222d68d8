import { cancel, type Cancel } from '../../../protocol/cancel.ts';
import { startRefundRecords } from '../../support/data/refund-cases.ts';
import { forFile } from '../../support/for-file.ts';
import { createCancelDriver } from '../../support/protocol/cancel-driver.ts';
import { checkTraces } from '../../support/protocol/check-traces.ts';
import type { EndingFault } from '../../support/protocol/ending.ts';

const records = await forFile(startRefundRecords());

const faults: Record<string, EndingFault> = {
  'cancelled although a payer was sent': ({ outcomes }) => ({
    outcomes: {
      ...outcomes,
      async get(id) {
        const payment = await outcomes.get(id);
        return payment && { ...payment, payerSent: false };
      },
      finalize: (ended, event, options) =>
        outcomes.finalize(ended, event, { ...options, onlyIfUnsent: false }),
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

checkTraces(cancel(), {
  createDriver: (start: Cancel, fault?: EndingFault) => createCancelDriver(records, start, fault),
  faults,
});
