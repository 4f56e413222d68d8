import { formatMoney } from '../../contract/money.ts';
import {
  createAdminRefunds,
  type RefundRecord,
  type ReservedRefunds,
} from '../../postgres/admin/refunds.ts';
import { findApplication } from './applications.ts';
import { Refusal } from './change.ts';
import type { Deps } from './deps.ts';
import { createRefundWorkflows } from './refund-workflows.ts';

/** Refunds that one record of the audit log names. */
const cancelledAtOnce = 500;

const sumsOf = (refunds: readonly RefundRecord[]): ReservedRefunds[] =>
  [...Map.groupBy(refunds, ({ currency }) => currency)]
    .map(([currency, of]) => ({
      currency,
      refunds: of.length,
      amount: of.reduce((sum, { amount }) => sum + amount, 0),
    }))
    .toSorted((a, b) => (a.currency < b.currency ? -1 : 1));

const whyNotReserved = async (
  refunds: Pick<ReturnType<typeof createAdminRefunds>, 'get'>,
  id: string,
): Promise<string> => {
  const refund = await refunds.get(id);
  if (!refund) return `There is no refund ${id}.`;
  if (refund.status !== 'pending') return `${id} has ended: it is ${refund.status}.`;
  return refund.stage === 'by_hand'
    ? `${id} waits for a decision: look into the gateway's books, then refunds settle.`
    : `The gateway was told of ${id}, so it cannot be called off.`;
};

/** Stops refunds that no gateway was told of, and lets those of a disabled application go on. */
export const createRefundStops = ({
  sql,
  change,
  temporal,
}: Pick<Deps, 'sql' | 'change' | 'temporal'>) => {
  const { end, wake } = createRefundWorkflows({ temporal });
  return {
    /**
     * Calls a refund off that the gateway was not told of, whoever asked for it.
     * @returns `later` if Temporal is not available: it is called off, and the sweeper has it ended
     * @throws Refusal
     */
    async cancel(id: string, reason: string): Promise<'now' | 'later'> {
      const cancelled = await change(
        { action: 'refund.cancel', subject: `refund:${id}`, reason },
        async (tx) => {
          const refund = await createAdminRefunds(tx).cancel(id, 'any');
          if (!refund) throw new Refusal(await whyNotReserved(createAdminRefunds(tx), id));
          const { paymentId: payment, application, amount, currency, token } = refund;
          const before = { payment, application, amount, currency, token };
          return { result: refund, before, after: { cancelled: true } };
        },
      );
      return end(cancelled);
    },

    /**
     * Calls off everything that no gateway was told of for an application, in batches with a record each. The sweeper has
     * it ended.
     */
    async cancelOf(slug: string, reason: string): Promise<ReservedRefunds[]> {
      await findApplication(sql, slug);
      if ((await createAdminRefunds(sql).sumReserved(slug, 'any')).length === 0) return [];
      const cancelled: RefundRecord[] = [];
      const subject = `application:${slug}`;
      let found: RefundRecord[];
      do {
        found = await change(
          { action: 'application.cancel_refunds', subject, reason },
          async (tx) => {
            const refunds = await createAdminRefunds(tx).cancelOf(slug, cancelledAtOnce);
            const ids = refunds.map(({ id }) => id).toSorted();
            return {
              result: refunds,
              before: null,
              after: { refunds: ids, sums: sumsOf(refunds).map(formatMoney) },
            };
          },
        );
        cancelled.push(...found);
      } while (
        found.length === cancelledAtOnce &&
        (await createAdminRefunds(sql).sumReserved(slug, 'any')).length > 0
      );
      return sumsOf(cancelled);
    },

    /**
     * Sums the refunds of an application of which no gateway was told.
     * @param by `application`: only what it has asked for itself, which waits while it is disabled
     */
    sumReserved: (slug: string, by: 'any' | 'application'): Promise<ReservedRefunds[]> =>
      createAdminRefunds(sql).sumReserved(slug, by),

    /** Has the gateway told of a refund although its application is disabled. @throws Refusal */
    async release(id: string, reason: string): Promise<void> {
      const released = await change(
        { action: 'refund.release', subject: `refund:${id}`, reason },
        async (tx) => {
          const refund = await createAdminRefunds(tx).release(id);
          if (!refund) throw new Refusal(`${id} does not wait for its application to be enabled.`);
          const { paymentId: payment, application, amount, currency } = refund;
          const after = { payment, application, amount, currency, released: true };
          return { result: refund, before: null, after };
        },
      );
      await wake(released);
    },

    /** Refuses a refund that waits for a second admin. @throws Refusal */
    async refuse(id: string, reason: string): Promise<'now' | 'later'> {
      const refused = await change(
        { action: 'refund.refuse', subject: `refund:${id}`, reason },
        async (tx) => {
          const refund = await createAdminRefunds(tx).cancel(id, 'to_confirm');
          if (!refund) throw new Refusal(`${id} is no refund that waits for a second admin.`);
          return { result: refund, before: { asked_by: refund.askedBy }, after: null };
        },
      );
      return end(refused);
    },
  };
};
