import { createApprovals } from '../../postgres/admin/approvals.ts';
import { createAdminRefunds } from '../../postgres/admin/refunds.ts';
import { createConfirmations } from '../../postgres/admin/confirmations.ts';
import {
  createRefundRuleQueries,
  type RefundRule,
  type RefundRuleRequest,
} from '../../postgres/refunds/rules.ts';
import type { Queries } from '../../postgres/driver/sql.ts';
import { createSetApproval, knownCurrency } from './approvals.ts';
import { findApplication, lockApplication } from './applications.ts';
import { NotFound, Refusal } from './change.ts';
import { orRefusal } from './confirmation.ts';
import type { Deps } from './deps.ts';

const subjectOf = ({ application, currency }: Omit<RefundRule, 'amount'>): string =>
  application === null ? `currency:${currency}` : `application:${application}`;

/** The limits of refunds: of an application in a day, and of an admin without another one. */
export const createRefundRules = ({
  sql,
  change,
  actor,
  via,
}: Pick<Deps, 'sql' | 'change' | 'actor' | 'via'>) => ({
  /** The amounts above which another admin confirms, and what waits for another admin. */
  async rules(): Promise<{
    approvals: { currency: string; above: number }[];
    requests: RefundRuleRequest[];
  }> {
    const queries = createRefundRuleQueries(sql);
    const [approvals, requests] = await Promise.all([
      createApprovals(sql, 'refund').list(),
      queries.listRequests(),
    ]);
    return { approvals, requests };
  },

  /** The sum that an application may refund in a day, in minor units. */
  async limitsOf(slug: string): Promise<{ currency: string; perDay: number }[]> {
    await findApplication(sql, slug);
    return createAdminRefunds(sql).listLimits(slug);
  },

  /**
   * Sets a rule where that is stricter. A looser one waits for another admin: alone, an admin could otherwise lift the
   * rule, give money back and set it again.
   */
  async askRule(rule: RefundRule, reason: string): Promise<'set' | 'asked'> {
    const { application, currency, amount } = rule;
    knownCurrency(currency);
    const subject = subjectOf(rule);
    return change({ action: 'refund_rule.change', subject, reason }, async (tx) => {
      if (application !== null) await lockApplication(tx, application);
      const before = await ruleNow(tx, rule);
      if (before === amount) throw new Refusal('The rule is so already.');
      const result = await createRefundRuleQueries(tx).ask(rule, actor);
      const after = { currency, amount, ...(result === 'asked' && { to_confirm: true }) };
      return { result, before: { currency, amount: before }, after };
    });
  },

  /** @throws NotFound */
  async ruleRequest(rule: Omit<RefundRule, 'amount'>): Promise<RefundRuleRequest> {
    const found = (await createRefundRuleQueries(sql).listRequests()).find(
      ({ application, currency }) => application === rule.application && currency === rule.currency,
    );
    if (!found) throw new NotFound('No such rule waits for another admin.');
    return found;
  },

  /** Confirms a looser rule that another admin has asked for. @throws Refusal */
  async confirmRule(request: RefundRuleRequest, reason: string): Promise<void> {
    const { currency, amount, askedBy } = request;
    const subject = subjectOf(request);
    await change({ action: 'refund_rule.confirm', subject, reason }, async (tx) => {
      const before = await ruleNow(tx, request);
      await orRefusal(
        createConfirmations(tx).confirmRule(request, { actor, via }),
        'The rule',
        askedBy,
      );
      const after = { currency, amount, asked_by: askedBy, confirmed_by: actor };
      return { before: { currency, amount: before }, after };
    });
  },

  /** Refuses a looser rule, or takes the own wish back. */
  async refuseRule(request: RefundRuleRequest, reason: string): Promise<void> {
    const { currency, amount, askedBy } = request;
    const subject = subjectOf(request);
    await change({ action: 'refund_rule.refuse', subject, reason }, async (tx) => {
      if (!(await createRefundRuleQueries(tx).dropRequest(request)))
        throw new NotFound('No such rule waits for another admin.');
      return { before: { currency, amount, asked_by: askedBy }, after: null };
    });
  },

  setApprovalAbove: createSetApproval({ change }, 'refund'),

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
});

const ruleNow = async (
  tx: Queries,
  { application, currency }: Omit<RefundRule, 'amount'>,
): Promise<number | null> => {
  if (application === null) return createApprovals(tx, 'refund').get(currency);
  const limits = await createAdminRefunds(tx).listLimits(application);
  return limits.find((limit) => limit.currency === currency)?.perDay ?? null;
};
