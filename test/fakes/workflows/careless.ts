import { upsertMemo } from '@temporalio/workflow';
import type { PaymentInput } from '../../../temporal/messages.ts';
import { payment as original } from '../../../workflows/payment.ts';

export { latePayment, sweeper } from '../../../workflows/index.ts';

/** The next release's workflow with a new first command: open payments have passed it without one. */
export async function payment(input: PaymentInput): Promise<void> {
  upsertMemo({ release: 'next' });
  await original(input);
}
