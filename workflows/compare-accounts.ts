import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import { continueAsNew, executeChild, workflowInfo } from '@temporalio/workflow';
import { type AccountDayInput, accountDayWorkflowId } from '../temporal/messages.ts';
import { askAboutMovements, finishDay, listBook, listDueDays } from './activities.ts';

/**
 * Compares the days that are over and not closed, those of a gateway one after the other: each day's hash covers the hash
 * of the day before. A schedule starts it (`temporal/comparisons.ts` has the times), also while an earlier run waits for a
 * gateway: that day is left out, and with it the rest of that gateway.
 */
export async function compareAccounts(): Promise<void> {
  const due = Object.groupBy(await listDueDays(), ({ gateway }) => gateway);
  const compared = await Promise.allSettled(
    Object.values(due).map(async (days = []) => {
      for (const day of days) if (!(await compareDay(day))) return;
    }),
  );
  // The next run begins with the day that failed.
  for (const each of compared) if (each.status === 'rejected') throw each.reason;
}

/** @returns false if an admin has begun the comparison of the day, which still runs */
const compareDay = async ({ gateway, day }: AccountDayInput): Promise<boolean> => {
  try {
    await executeChild(compareAccountDay, {
      workflowId: accountDayWorkflowId({ gateway, day }),
      // It may have been compared before.
      workflowIdReusePolicy: 'ALLOW_DUPLICATE',
      // Payers do not wait for it.
      priority: { priorityKey: 5 },
      args: [{ gateway, day }],
      staticSummary: `Comparison of ${day} with ${gateway}`,
    });
    return true;
  } catch (error) {
    if (error instanceof WorkflowExecutionAlreadyStartedError) return false;
    throw error;
  }
};

/** Compares a day of a gateway with the gateway's own book. May be repeated at any time. @returns its open differences */
export async function compareAccountDay(input: AccountDayInput): Promise<number> {
  const { gateway, day, stage = 'list' } = input;
  let { after = null, hasList = true, read } = input;
  const goOnIfLong = async (position: Partial<AccountDayInput>) => {
    if (workflowInfo().continueAsNewSuggested)
      await continueAsNew<typeof compareAccountDay>({ gateway, day, ...position });
  };

  if (stage === 'list') {
    do {
      ({
        hasList,
        next: after,
        read,
      } = await listBook({ gateway, day, after, ...(read && { read }) }));
      await goOnIfLong({
        after,
        stage: after === null ? 'ask' : 'list',
        hasList,
        ...(read && { read }),
      });
    } while (after !== null);
  }
  do {
    after = await askAboutMovements({ gateway, day, after });
    if (after !== null) await goOnIfLong({ after, stage: 'ask', hasList });
  } while (after !== null);
  return finishDay({ gateway, day, hasList });
}
