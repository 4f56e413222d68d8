import type { Workflows } from '../temporal/messages.ts';
import { latePayment } from './late-payment.ts';
import { payment } from './payment.ts';
import { refund } from './refund.ts';
import { replay } from './replay.ts';
import { replayMany } from './replay-many.ts';
import { sweeper } from './sweeper.ts';
import { webhookTest } from './webhook-test.ts';

/** The workflows that workers load. */
export { latePayment, payment, refund, replay, replayMany, sweeper, webhookTest };
({ latePayment, payment, refund, replay, replayMany, sweeper, webhookTest }) satisfies Workflows;
