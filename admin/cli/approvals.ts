import { formatMoney } from '../../contract/money.ts';
import type { ApprovalKind } from '../../postgres/admin/approvals.ts';
import {
  amountIn,
  amountOptions,
  type CommandSpec,
  findForeignAmount,
  givenReason,
  requiredReason,
} from './commands.ts';

/**
 * Sets the amount above which another admin confirms.
 * @param done says what else is to know
 */
export const confirmAboveCommand = (
  kind: ApprovalKind,
  { summary, done }: { summary: string; done: string },
): CommandSpec => ({
  usage: 'confirm-above <currency>',
  summary,
  examples: [`${kind}s confirm-above EUR --amount "500.00 EUR" --reason "the rule of the house"`],
  options: [...amountOptions('the amount', `no ${kind} needs another admin`), requiredReason()],
  findMisuse: (options, [currency = '']) => findForeignAmount(options, currency, 'The rule'),
  run: async ({ args: [currency = ''], options, reason, operations }) => {
    const above = amountIn(options);
    await operations[`${kind}s`].setApprovalAbove(currency, above, givenReason(reason));
    const money = above === null ? 'never' : `above ${formatMoney({ amount: above, currency })}`;
    return {
      text: `A second admin confirms ${kind}s: ${money}. ${done}`.trim(),
      json: { currency, above },
    };
  },
});
