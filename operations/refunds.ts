import { randomUUID } from 'node:crypto';
import { refundId } from '../contract/ids.ts';
import { refundableAmount } from '../contract/payment-fields.ts';
import { type Refund, refundStart } from '../contract/refund.ts';
import { findRefundProblem } from '../gateways/refundable.ts';
import { findDriver } from '../gateways/registry.ts';
import {
  createAdminRefunds,
  type RefundFilter,
  type RefundRecord,
} from '../postgres/admin-refunds.ts';
import type { RefundEnd } from '../postgres/refund-outcomes.ts';
import { createRefunds } from '../postgres/refunds.ts';
import { findApplication, lockApplication } from './applications.ts';
import { NotFound, Refusal } from './change.ts';
import type { Deps } from './deps.ts';

export interface AdminRefund {
  amount: number | null;
  reason: string;
  recorded: boolean;
}

export const createRefundOperations = ({
  sql,
  change,
  temporal,
  actor,
  now,
}: Pick<Deps, 'sql' | 'change' | 'temporal' | 'actor' | 'now'>) => {
  /** The sweeper starts the workflow if Temporal is not available now. */
  const start = async (refund: Refund) => {
    await temporal()
      .then((workflows) => workflows.restart(refundStart(refund)))
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
          if (amount < 1) throw new Refusal(`Nothing is left of ${paymentId} to give back.`);
          const problem = findRefundProblem(payment, { amount, recorded }, now());
          if (problem) throw new Refusal(problem.message);
          const above = await createAdminRefunds(tx).approvalAbove(currency);
          const toConfirm = above !== undefined && amount > above ? actor : null;
          const method = recorded ? 'recorded' : 'refund';
          const at = now();
          const refund = await refunds.insert({
            ...{ id, paymentId, application, test, amount, method, toConfirm },
            ...{ status: 'pending', stage: 'reserved', requestedBy: 'admin', metadata: '{}' },
            ...{ reason: null, reference: null, fingerprint: null, refundableAmount: null },
            ...{ bankReference: null, failureCode: null, expectedAt: null, createdAt: at },
            ...{ succeededAt: null, failedAt: null, updatedAt: at },
            oneAtATime:
              !recorded && findDriver(driver)?.capabilities.refund?.several !== 'parallel',
          });
          if (typeof refund !== 'object')
            throw new Refusal('The payment has just changed: try again.');
          const facts = { payment: paymentId, amount, currency, method };
          const after = { ...facts, ...(toConfirm && { to_confirm: true }) };
          return { result: { refund, toConfirm: toConfirm !== null }, before: null, after };
        },
      );
      if (!made.toConfirm) await start(made.refund);
      return made;
    },

    /** Confirms a refund that another admin has asked for. @throws Refusal */
    async confirm(id: string, reason: string | null): Promise<void> {
      const refund = await createAdminRefunds(sql).get(id);
      if (!refund?.toConfirm)
        throw new Refusal(`${id} is no refund that waits for a second admin.`);
      const asked = { asked_by: refund.toConfirm };
      await change({ action: 'refund.confirm', subject: `refund:${id}`, reason }, async (tx) => {
        if (!(await createAdminRefunds(tx).confirm(id, actor)))
          throw new Refusal(`Another admin than ${refund.toConfirm} must confirm ${id}.`);
        return { before: asked, after: { confirmed_by: actor } };
      });
      await start(refund);
    },

    /** Refuses a refund that waits for a second admin, or takes it back. @throws Refusal */
    async refuse(id: string, reason: string): Promise<'now' | 'later'> {
      const refused = await change(
        { action: 'refund.refuse', subject: `refund:${id}`, reason },
        async (tx) => {
          const refund = await createAdminRefunds(tx).refuse(id);
          if (!refund) throw new Refusal(`${id} is no refund that waits for a second admin.`);
          return { result: refund, before: { asked_by: refund.toConfirm }, after: null };
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

    /** Limits what an application refunds in a day, in minor units; null: no limit. */
    async setLimit(
      slug: string,
      { currency, perDay, reason }: { currency: string; perDay: number | null; reason: string },
    ): Promise<void> {
      const subject = `application:${slug}`;
      await change({ action: 'application.refund_limit', subject, reason }, async (tx) => {
        await lockApplication(tx, slug);
        const refunds = createAdminRefunds(tx);
        const before = await refunds.getLimit(slug, currency);
        await refunds.setLimit(slug, currency, perDay);
        return { before: { currency, per_day: before }, after: { currency, per_day: perDay } };
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
