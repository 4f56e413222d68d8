import { workflowInfo } from '@temporalio/workflow';

/** The run should go on in a new one. */
export const historyIsLong = (): boolean => workflowInfo().continueAsNewSuggested;
