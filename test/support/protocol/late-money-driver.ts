import type { GatewayStatus, Reversal } from '../../../gateways/gateway.ts';
import { createGatewayExchanges } from '../../../postgres/gateways/exchanges.ts';
import { createLatePayments, type LatePayments } from '../../../postgres/payments/late-payments.ts';
import type { LateMoney } from '../../../protocol/late-money.ts';
import { lateActivities } from '../data/late-payment-cases.ts';
import type { Records } from '../data/records.ts';
import { aGateway, confirmed, silence } from '../service/scripted-gateway.ts';
import { createBackup } from './backup.ts';
import { type Driver, stopAfter } from './driver.ts';

/** Replaces statements by faulty ones. */
export type LateMoneyFault = (latePayments: LatePayments) => Partial<LatePayments>;

/** Late money: `resolveLatePayment`, at Stripe or at a gateway that shows no reversals. */
export const createLateMoneyDriver = async (
  records: Records,
  start: LateMoney,
  { restores, fault }: { restores: boolean; fault?: LateMoneyFault | undefined },
): Promise<Driver<LateMoney>> => {
  const { sql } = records;
  const reports = start.gateway === 'reports';
  const { id } = await records.ended('expired', { gateway: reports ? 'stripe' : 'payping' });
  if (start.doubt)
    await createGatewayExchanges(sql).insert(id, [
      {
        ...{ at: new Date(), durationMs: 1, code: null, message: null },
        ...({ operation: 'verify', result: 'paid' } as const),
      },
    ]);
  const backup = createBackup(sql, id);
  await backup.copy();
  const real = createLatePayments(sql);
  const latePayments = { ...real, ...fault?.(real) };
  let nowMs = Date.now();
  /** The gateway's own books, and whether a search for late money runs. */
  const books = { money: start.money, given_back: 0, late: start.late };

  const status = (): GatewayStatus => {
    if (books.money === 'unverified') return { state: 'processing' };
    if (books.money === 'captured' || (books.given_back > 0 && !reports)) return confirmed();
    return { state: 'expired' };
  };
  const reverse = (): Reversal => {
    const isAgain = !reports && books.given_back > 0 && !restores;
    if (books.money !== 'captured' && !isAgain)
      return { result: 'refused', code: '1', message: '' };
    books.money = 'back';
    books.given_back += 1;
    return { result: 'reversed' };
  };

  return {
    async run(name, before, stop) {
      let inquiries = 0;
      const { gatewayOf } = aGateway({
        async inquire() {
          inquiries += 1;
          // The second inquiry and the record after it are one step.
          if (inquiries > 1) return status();
          return stop(async (step) => {
            const said = status();
            return step.startsWith('lost answer') ? silence() : said;
          });
        },
        reverse: () =>
          stop(async (step) => {
            if (step.startsWith('lost call')) return silence();
            const said = reverse();
            return step.startsWith('lost answer') ? silence() : said;
          }),
      });
      const { resolveLatePayment } = lateActivities(records, {
        gatewayOf,
        latePayments: {
          ...latePayments,
          async record(payment, change) {
            const isNew = await latePayments.record(payment, change);
            return change.result === null ? stop(async () => isNew) : isNew;
          },
          beginReversal: stopAfter(stop, latePayments.beginReversal, Boolean),
        },
        now: () => new Date(nowMs),
      });
      const resolution = await resolveLatePayment({ id, last: before.last });
      if (name() === 'a' && resolution === 'done') books.late = 'ended';
    },
    happen(step, _, after) {
      if (step === 'replica or backup copies') return backup.copy();
      if (step === 'failover or restore' || step === '50 seconds have passed') nowMs += 50_000;
      if (step === 'failover or restore') return backup.restore();
      books.money = after.money;
      books.late = after.late;
      return undefined;
    },
    async observe() {
      const found = await real.get(id);
      return {
        result: found ? (found.result ?? 'found') : 'none',
        reversals: found?.reversals ?? 0,
        ...books,
      };
    },
  };
};
