import { createAdminRefunds } from '../../postgres/admin-refunds.ts';
import { lockApplication } from './applications.ts';
import type { Deps } from './deps.ts';

/** The limits of refunds: of an application in a day, and of an admin without another one. */
export const createRefundRules = ({ change }: Pick<Deps, 'change'>) => ({
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
});
