import { currencyExponents } from '../../contract/money.ts';
import { type ApprovalKind, createApprovals } from '../../postgres/admin/approvals.ts';
import { Refusal } from './change.ts';
import type { Deps } from './deps.ts';

/** @throws Refusal */
export const knownCurrency = (currency: string): string => {
  if (!currencyExponents.has(currency)) throw new Refusal(`There is no currency ${currency}.`);
  return currency;
};

/** Sets the amount above which another admin must confirm, in minor units; null: none. */
export const createSetApproval =
  ({ change }: Pick<Deps, 'change'>, kind: ApprovalKind) =>
  async (currency: string, above: number | null, reason: string): Promise<void> => {
    const subject = `currency:${knownCurrency(currency)}`;
    await change({ action: `${kind}.approve_above`, subject, reason }, async (tx) => {
      const approvals = createApprovals(tx, kind);
      const before = await approvals.get(currency);
      await approvals.set(currency, above);
      return { before: { above: before }, after: { above } };
    });
  };
