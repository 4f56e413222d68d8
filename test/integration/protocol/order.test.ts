import { order, type Order, type OrderShape } from '../../../protocol/order.ts';
import { startRefundRecords } from '../../support/data/refund-cases.ts';
import { forFile } from '../../support/for-file.ts';
import { checkTraces } from '../../support/protocol/check-traces.ts';
import { createOrderDriver, type OrderCodeFault } from '../../support/protocol/order-driver.ts';

const records = await forFile(startRefundRecords());
const driverOf = (shape: OrderShape) => (start: Order, fault?: OrderCodeFault) =>
  createOrderDriver(records, start, { shape, fault });

/** An end without what the statement looks at: it is written whatever else the order has. */
const blind: OrderCodeFault = ({ outcomes }) => ({
  outcomes: {
    ...outcomes,
    async finalize(ended, event, options) {
      if (ended.failureCode !== 'order_already_paid')
        return outcomes.finalize(ended, event, options);
      const { count } = await records.sql`
        update payments set status = 'failed', failure_code = ${ended.failureCode}, order_claimed_at = null
        where id = ${ended.id} and status in ('pending', 'processing')`;
      return count === 1 ? 'done' : 'ended_before';
    },
  },
});

const faults: Record<OrderShape, Record<string, OrderCodeFault>> = {
  life: {
    'the money is taken without the order': ({ outcomes }) => ({
      outcomes: {
        ...outcomes,
        async get(id) {
          const payment = await outcomes.get(id);
          return payment && { ...payment, isPaidOnce: false };
        },
      },
    }),
    'a held claim loses at once': blind,
  },
  'two tries': {
    'a refused end forgets what it took': ({ outcomes }) => ({
      outcomes: {
        ...outcomes,
        finalize: (ended, event, options) =>
          outcomes.finalize(ended, event, { ...options, exchanges: [] }),
      },
    }),
    'nobody looks for the money of the loser': () => ({ recheckLatePayment: async () => {} }),
  },
  silence: {},
  'calls off': {
    'the winner calls nobody off': () => ({ callOff: async () => {} }),
    'the opening does not look at the order': ({ outcomes }) => ({
      outcomes: {
        ...outcomes,
        async get(id) {
          const payment = await outcomes.get(id);
          return payment && { ...payment, orderIsPaid: false };
        },
      },
    }),
  },
  restores: { 'a payment loses by what was read before': blind },
};

for (const shape of ['life', 'two tries', 'silence', 'calls off', 'restores'] as const)
  checkTraces(order({ shape }), { createDriver: driverOf(shape), faults: faults[shape] });
