/** The workflows that workers load. */
export { latePayment } from './late-payment.ts';
export { payment } from './payment.ts';
export { replay } from './replay.ts';
export { replayMany } from './replay-many.ts';
export { sweeper } from './sweeper.ts';
export { webhookTest } from './webhook-test.ts';
