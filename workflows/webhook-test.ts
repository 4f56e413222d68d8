import type { WebhookTestInput } from '../temporal/messages.ts';
import { sendTestWebhook } from './activities.ts';

/** Sends a signed sample. The activity records what the receiver answered: a history is no place for it. */
export async function webhookTest(input: WebhookTestInput): Promise<void> {
  await sendTestWebhook(input);
}
