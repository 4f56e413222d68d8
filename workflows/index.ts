import type { Workflows } from '../temporal/messages.ts';
import { compareAccountDay, compareAccounts } from './compare-accounts.ts';
import { event } from './event.ts';
import { latePayment } from './late-payment.ts';
import { notices } from './notices.ts';
import { payment } from './payment.ts';
import { refund } from './refund.ts';
import { replay } from './replay.ts';
import { replayMany } from './replay-many.ts';
import { sweeper } from './sweeper.ts';
import { webhookTest } from './webhook-test.ts';

/** The workflows that workers load. */
export {
  compareAccountDay,
  compareAccounts,
  event,
  latePayment,
  notices,
  payment,
  refund,
  replay,
  replayMany,
  sweeper,
  webhookTest,
};
({
  compareAccountDay,
  compareAccounts,
  event,
  latePayment,
  notices,
  payment,
  refund,
  replay,
  replayMany,
  sweeper,
  webhookTest,
}) satisfies Workflows;
