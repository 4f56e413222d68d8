import type { VerificationResult } from '../../../contract/status.ts';
import type { Cancel } from '../../../protocol/cancel.ts';
import type { Records } from '../data/records.ts';
import type { Driver } from './driver.ts';
import { createEnding, type EndingFault } from './ending.ts';

const responseTo = (result: VerificationResult): Cancel['response'] => {
  if (result.kind === 'ended') return result.status === 'cancelled' ? 200 : 409;
  return result.kind === 'unknown' ? 502 : 409;
};

/** A payment that its application calls off: `cancelPayment`. */
export const createCancelDriver = async (
  records: Records,
  start: Cancel,
  fault?: EndingFault,
): Promise<Driver<Cancel>> => {
  const { sql } = records;
  const isTwoStep = start.gateway === 'two_step';
  const payment = await records.opened({ gateway: isTwoStep ? 'zarinpal' : 'stripe' });
  const { id } = payment;
  const { gateway, activities, findLate, searchLate, observe } = createEnding(records, id, start);
  let { response } = start;

  return {
    async run(name, before, stop) {
      const { cancelPayment } = activities(stop, before, fault);
      const result = await cancelPayment({ id, by: 'application' });
      if (name() === 'a') response = responseTo(result);
    },
    async happen(step, _, after) {
      if (step === 'payer: sendToGateway')
        return records.payments.sendToGateway([id], payment.createdAt);
      if (step === 'application: POST cancel') response = 'awaited';
      if (step === 'failover loses checkout_at')
        // Without the trigger that refuses it.
        return sql.begin(async (tx) => {
          await tx`set local session_replication_role = replica`;
          await tx`update payments set checkout_at = null where id = ${id}`;
        });
      if (step === 'verifyPayment: recheckLatePayment') await searchLate();
      else if (step.endsWith('recheckLatePayment')) await findLate();
      gateway.money = after.money;
      return undefined;
    },
    async observe() {
      const seen = await observe();
      return { ...seen, status: seen.status as Cancel['status'], response };
    },
  };
};
