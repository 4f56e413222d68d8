import { sendNotices } from './activities.ts';

/**
 * Sends the mails to the people of applications. One runs in a namespace, and only where a mail server is set. Its one
 * activity retries every 30 seconds without end, so a round adds nothing to the history.
 */
export async function notices(): Promise<void> {
  await sendNotices();
}
