import { sweep } from './activities.ts';

/**
 * Finds and repairs what was lost between Postgres and Temporal. One sweeper runs in a namespace. Its one
 * activity retries every 30 seconds without end, so a sweep adds nothing to the history.
 */
export async function sweeper(): Promise<void> {
  await sweep();
}
