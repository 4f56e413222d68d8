import { type Client, ScheduleAlreadyRunning, ScheduleOverlapPolicy } from '@temporalio/client';
import { compareAccountsWorkflow, paymentsQueue, type Workflows } from './messages.ts';

export const comparisonsScheduleId = 'compare-accounts';

/**
 * Creates the schedule of the comparisons with gateways' books unless it exists: an operator may have paused it or
 * changed its times. Days end at other times in other time zones, so it runs four times a day.
 */
export const ensureComparisons = async (client: Client): Promise<void> => {
  try {
    await client.schedule.create<Workflows['compareAccounts']>({
      scheduleId: comparisonsScheduleId,
      spec: { calendars: [{ hour: [1, 7, 13, 19], minute: 30 }] },
      policies: {
        // A run may wait for one gateway for hours. The next one leaves out the day that is being compared, and compares those of
        // the other gateways.
        overlap: ScheduleOverlapPolicy.ALLOW_ALL,
        // An outage makes up for one run, and not for each one that it missed.
        catchupWindow: '6 hours',
      },
      action: {
        type: 'startWorkflow',
        workflowType: compareAccountsWorkflow,
        workflowId: comparisonsScheduleId,
        taskQueue: paymentsQueue,
        args: [],
        staticSummary: 'Compares the days that are over with the books of the gateways',
      },
    });
  } catch (error) {
    if (!(error instanceof ScheduleAlreadyRunning)) throw error;
  }
};
