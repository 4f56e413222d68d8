import type { Client } from '@temporalio/client';
import { noticesWorkflow } from './messages.ts';
import { ensureSingle } from './sweeper.ts';

const noticesWorkflowId = 'notices';

/** Starts the one workflow that sends mails unless it runs. Every worker that has a mail server calls this, as for the sweeper. */
export const ensureNotices = (client: Client): Promise<void> =>
  ensureSingle(client, noticesWorkflow, {
    workflowId: noticesWorkflowId,
    staticSummary: 'Sends mails to the people of applications',
    staticDetails:
      'Its one activity runs every 30 seconds and never completes. To pause or resume it, pause or unpause the activity `sendNotices`.',
  });
