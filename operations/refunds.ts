import { randomUUID } from 'node:crypto';
import { refundId } from '../contract/ids.ts';
import { formatMoney } from '../contract/money.ts';
import { refundableAmount } from '../contract/payment-fields.ts';
import { type Refund, refundStart } from '../contract/refund.ts';
import { findRefundProblem } from '../gateways/refundable.ts';
import { findDriver } from '../gateways/registry.ts';
import {
  createAdminRefunds,
  type RefundFilter,
  type RefundRecord,
  type ReservedRefunds,
} from '../postgres/admin-refunds.ts';
import { createConfirmations } from '../postgres/confirmations.ts';
import type { RefundEnd } from '../postgres/refund-outcomes.ts';
import { createRefunds } from '../postgres/refunds.ts';
import { findApplication, lockApplication } from './applications.ts';
import { NotFound, Refusal } from './change.ts';
import { orRefusal } from './confirmation.ts';
import type { Deps } from './deps.ts';

export interface AdminRefund {
  amount: number | null;
  reason: string;
  recorded: boolean;
}

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

export const createRefundOperations = ({
  sql,
  change,
  temporal,
  actor,
  via,
  now,
}: Pick<Deps, 'sql' | 'change' | 'temporal' | 'actor' | 'via' | 'now'>) => {
  /** The sweeper starts the workflow if Temporal is not available now. */
  const start = async (refund: Refund) => {
    await temporal()
      .then((workflows) => workflows.restart(refundStart(refund)))
      .catch(() => {});
  };
  /** Has the workflow look now. The sweeper does if Temporal is not available. */
  const wake = async (refund: Refund) => {
    await temporal()
      .then((workflows) => workflows.recheck(refundStart(refund)))
      .catch(() => {});
  };
  /** Has the workflow end a refund that was decided. `later`: the sweeper does, once Temporal is available. */
  const end = (refund: Refund): Promise<'now' | 'later'> =>
    temporal()
      .then((workflows) => workflows.endRefund(refundStart(refund)))
      .then(
        () => 'now',
        () => 'later',
      );
  return {
    async find(filter: RefundFilter, limit: number): Promise<RefundRecord[]> {
      if (filter.application !== null) await findApplication(sql, filter.application);
      return createAdminRefunds(sql).find(filter, limit);
    },

    /**
     * Gives money of a paid payment back.
     * @param options.amount in minor units; null: everything that is left
     * @param options.recorded a person has given it back outside of the gateway, which is not asked
     * @throws Refusal if the payment or its gateway cannot do it
     */
    async create(
      paymentId: string,
      { amount: wanted, reason, recorded }: AdminRefund,
    ): Promise<{ refund: Refund; toConfirm: boolean }> {
      const id = refundId(['admin', randomUUID()]);
      const made = await change(
        { action: 'refund.create', subject: `refund:${id}`, reason },
        async (tx) => {
          const refunds = createRefunds(tx);
          const payment = await refunds.getPayment(paymentId);
          if (!payment) throw new NotFound(`There is no payment ${paymentId}.`);
          const { application, test, currency, driver } = payment;
          const left = refundableAmount({ ...payment, refundableUntil: null }, now());
          const amount = wanted ?? left;
          const problem = findRefundProblem(payment, { amount, recorded }, now());
          if (problem) throw new Refusal(`${paymentId}: ${problem.message}`);
          const method = recorded ? 'recorded' : 'refund';
          const at = now();
          const refund = await refunds.insert({
            ...{ id, paymentId, application, test, amount, method, askedBy: { actor, via } },
            ...{ status: 'pending', stage: 'reserved', requestedBy: 'admin', metadata: '{}' },
            ...{ reason: null, reference: null, fingerprint: null, refundableAmount: null },
            ...{ bankReference: null, failureCode: null, expectedAt: null, createdAt: at },
            ...{ succeededAt: null, failedAt: null, updatedAt: at },
            oneAtATime:
              !recorded && findDriver(driver)?.capabilities.refund?.several !== 'parallel',
          });
          if (typeof refund !== 'object')
            throw new Refusal('The payment has just changed: try again.');
          const { toConfirm = false } = (await createAdminRefunds(tx).get(id)) ?? {};
          const facts = { payment: paymentId, amount, currency, method };
          const after = { ...facts, ...(toConfirm && { to_confirm: true }) };
          return { result: { refund, toConfirm }, before: null, after };
        },
      );
      if (!made.toConfirm) await start(made.refund);
      return made;
    },

    /** A refund with what only admins see. @throws NotFound */
    async get(id: string): Promise<RefundRecord> {
      const refund = await createAdminRefunds(sql).get(id);
      if (!refund) throw new NotFound(`There is no refund ${id}.`);
      return refund;
    },

    /** Confirms a refund that another admin has asked for. @throws Refusal */
    async confirm(id: string, reason: string | null): Promise<void> {
      const refund = await createAdminRefunds(sql).get(id);
      if (!refund?.toConfirm)
        throw new Refusal(`${id} is no refund that waits for a second admin.`);
      const { askedBy } = refund;
      await change({ action: 'refund.confirm', subject: `refund:${id}`, reason }, async (tx) => {
        await orRefusal(createConfirmations(tx).confirmRefund(id, { actor, via }), id, askedBy);
        return { before: { asked_by: askedBy }, after: { confirmed_by: actor } };
      });
      await start(refund);
    },

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
      } while (found.length === cancelledAtOnce);
      return sumsOf(cancelled);
    },

    /**
     * What no gateway was told of for an application.
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

    /** Refuses a refund that waits for a second admin, or takes it back. @throws Refusal */
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

    /** Sets the amount above which another admin must confirm a refund, in minor units; null: none. */
    async setApprovalAbove(currency: string, above: number | null, reason: string): Promise<void> {
      const subject = `currency:${currency}`;
      await change({ action: 'refund.approve_above', subject, reason }, async (tx) => {
        const refunds = createAdminRefunds(tx);
        const before = (await refunds.approvalAbove(currency)) ?? null;
        await refunds.setApprovalAbove(currency, above);
        return { before: { above: before }, after: { above } };
      });
    },

    /**
     * Limits what an application refunds in a day, in minor units; null: no limit. While it has a limit in one currency,
     * it refunds nothing in a currency without one.
     * @returns all limits that the application has now
     */
    async setLimit(
      slug: string,
      { currency, perDay, reason }: { currency: string; perDay: number | null; reason: string },
    ): Promise<{ currency: string; perDay: number }[]> {
      const subject = `application:${slug}`;
      return change({ action: 'application.refund_limit', subject, reason }, async (tx) => {
        await lockApplication(tx, slug);
        const refunds = createAdminRefunds(tx);
        const limits = await refunds.listLimits(slug);
        const before = limits.find((limit) => limit.currency === currency)?.perDay ?? null;
        await refunds.setLimit(slug, currency, perDay);
        return {
          result: await refunds.listLimits(slug),
          before: { currency, per_day: before },
          after: { currency, per_day: perDay },
        };
      });
    },

    /**
     * Ends a refund that only a person can know about, as the gateway's own books say.
     * @returns `later` if Temporal is not available: the sweeper has it ended
     * @throws Refusal if the refund is not by hand
     */
    async settle(id: string, as: RefundEnd['status'], reason: string): Promise<'now' | 'later'> {
      const settled = await change(
        { action: 'refund.settle', subject: `refund:${id}`, reason },
        async (tx) => {
          const refund = await createAdminRefunds(tx).settle(id, as);
          if (!refund)
            throw new Refusal(
              `${id} is no refund that waits for a decision: see refunds list --by-hand.`,
            );
          const { paymentId: payment, amount, currency, stage } = refund;
          const facts = { payment, amount, currency };
          return { result: refund, before: { stage }, after: { ...facts, settled_as: as } };
        },
      );
      return end(settled);
    },
  };
};
