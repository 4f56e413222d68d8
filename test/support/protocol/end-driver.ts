import type { End } from '../../../protocol/end.ts';
import type { Records } from '../data/records.ts';
import { createBackup } from './backup.ts';
import type { Driver } from './driver.ts';
import { createEnding, type EndingFault } from './ending.ts';

/** The end of a payment: `verifyPayment` and `expirePayment`. */
export const createEndDriver = async (
  records: Records,
  start: End,
  fault?: EndingFault,
): Promise<Driver<End>> => {
  const payment = await records.opened();
  const { id } = payment;
  const backup = createBackup(records.sql, id);
  await backup.copy();
  const { gateway, activities, findLate, searchLate, observe } = createEnding(records, id, start);

  return {
    run(_, before, stop) {
      const { verifyPayment, expirePayment } = activities(stop, before, fault);
      const cancelled = before.payer === 'cancelled';
      // A retry has the request of the first try.
      const reported = before.notice === 'heard' && !before.retry;
      const grace = before.due === 'grace';
      return before.due === 'no'
        ? verifyPayment({ id, returned: false, cancelled, reported })
        : expirePayment({ id, grace, unreachable: false, reported });
    },
    async happen(step, _, after) {
      if (step === 'payer: sendToGateway')
        return records.payments.sendToGateway([id], payment.createdAt);
      if (step === 'payer returns: recordLostCheckout')
        return records.payments.recordLostCheckout(id, new Date());
      if (step === 'replica or backup copies') return backup.copy();
      if (step === 'failover or restore') return backup.restore();
      if (step === 'verifyPayment: recheckLatePayment') await searchLate();
      if (step === 'notification: recheckLatePayment') await findLate();
      gateway.money = after.money;
      return undefined;
    },
    async observe() {
      const seen = await observe();
      return { ...seen, status: seen.status as End['status'] };
    },
  };
};
