import { randomUUID } from 'node:crypto';
import { refundId } from '../../contract/ids.ts';
import type { ListPage } from '../../contract/list.ts';
import { amountLeft } from '../../contract/payment-fields.ts';
import type { Refund } from '../../contract/refund.ts';
import { findRefundProblem } from '../../gateways/refundable.ts';
import { findDriver } from '../../gateways/registry.ts';
import {
  createAdminRefunds,
  type OverRule,
  type RefundRecord,
} from '../../postgres/admin/refunds.ts';
import { createConfirmations } from '../../postgres/admin/confirmations.ts';
import type { RefundFilter } from '../../postgres/refunds/filter.ts';
import type { RefundEnd } from '../../postgres/refunds/outcomes.ts';
import { createRefunds } from '../../postgres/refunds/refunds.ts';
import { findApplication } from './applications.ts';
import { NotFound, Refusal } from './change.ts';
import { orRefusal } from './confirmation.ts';
import type { Deps } from './deps.ts';
import { createRefundDetails } from './refund-details.ts';
import { createRefundRules } from './refund-rules.ts';
import { createRefundStops } from './refund-stops.ts';
import { createRefundWorkflows } from './refund-workflows.ts';

export interface AdminRefund {
  amount: number | null;
  reason: string;
  recorded: boolean;
}

export const createRefundOperations = (
  deps: Pick<Deps, 'sql' | 'change' | 'temporal' | 'actor' | 'via' | 'now' | 'workflowUrl'>,
) => {
  const { sql, change, actor, via, now } = deps;
  const { start, end } = createRefundWorkflows(deps);
  return {
    ...createRefundStops(deps),
    ...createRefundRules(deps),
    ...createRefundDetails(deps),

    async list(filter: RefundFilter, page: ListPage): Promise<RefundRecord[]> {
      if (filter.application !== null) await findApplication(sql, filter.application);
      const { paymentId } = filter;
      if (paymentId !== null && !(await createRefunds(sql).getPayment(paymentId)))
        throw new NotFound(`There is no payment ${paymentId}.`);
      return createAdminRefunds(sql).list(filter, page);
    },

    /**
     * Says why the gateway cannot give this back; null: it can.
     * @throws NotFound
     */
    async findProblem(
      paymentId: string,
      wanted: { amount: number; recorded: boolean },
    ): Promise<string | null> {
      const payment = await createRefunds(sql).getPayment(paymentId);
      if (!payment) throw new NotFound(`There is no payment ${paymentId}.`);
      return findRefundProblem(payment, wanted, now())?.message ?? null;
    },

    /**
     * Why another admin will have to confirm this refund; undefined: none has to.
     * @param earlier what this admin asks for before it, of other payments in the same currency and mode
     */
    overRule: (paymentId: string, amount: number, earlier = 0): Promise<OverRule | undefined> =>
      createAdminRefunds(sql).overRule(paymentId, amount, actor, earlier),

    /**
     * Gives money of a paid payment back.
     * @param options.amount in minor units; null: everything that is left
     * @param options.recorded a person has given it back outside of the gateway, which is not asked
     * @throws Refusal if the payment or its gateway cannot do it
     */
    async create(
      paymentId: string,
      { amount: wanted, reason, recorded }: AdminRefund,
    ): Promise<{ refund: Refund; toConfirm: boolean; overRule: OverRule | null }> {
      const id = refundId(['admin', randomUUID()]);
      const made = await change(
        { action: 'refund.create', subject: `refund:${id}`, reason },
        async (tx) => {
          const refunds = createRefunds(tx);
          const payment = await refunds.getPayment(paymentId);
          if (!payment) throw new NotFound(`There is no payment ${paymentId}.`);
          const { application, test, currency, driver } = payment;
          const amount = wanted ?? amountLeft(payment);
          const problem = findRefundProblem(payment, { amount, recorded }, now());
          if (problem) throw new Refusal(`${paymentId}: ${problem.message}`);
          const method = recorded ? 'recorded' : 'refund';
          const refund = await refunds.insert({
            ...{ id, paymentId, application, test, amount, method },
            ...{ requestedBy: 'admin', askedBy: { actor, via }, createdAt: now() },
            ...{ reason: null, reference: null, metadata: '{}' },
            ...{ fingerprint: null, onlyIfLeft: null },
            oneAtATime:
              !recorded && findDriver(driver)?.capabilities.refund?.several !== 'parallel',
          });
          if (typeof refund !== 'object')
            throw new Refusal('The payment has just changed: try again.');
          const { toConfirm = false, overRule = null } =
            (await createAdminRefunds(tx).get(id)) ?? {};
          const facts = { payment: paymentId, amount, currency, method };
          const after = { ...facts, ...(toConfirm && { to_confirm: true }) };
          return { result: { refund, toConfirm, overRule }, before: null, after };
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
