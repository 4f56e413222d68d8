import { patched, upsertMemo } from '@temporalio/workflow';
import type { PaymentInput } from '../../../temporal/messages.ts';
import { payment as original } from '../../../workflows/payment.ts';

export { latePayment, sweeper } from '../../../workflows/index.ts';

/** The same change behind patched(): open payments continue in the old way. */
export async function payment(input: PaymentInput): Promise<void> {
  if (patched('memo-at-start')) upsertMemo({ release: 'next' });
  await original(input);
}
