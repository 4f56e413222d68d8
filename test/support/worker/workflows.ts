import { sleep } from '@temporalio/workflow';

export async function waits(): Promise<void> {
  await sleep('1 hour');
}

export async function loops(): Promise<void> {
  await sleep(1);
  for (;;);
}
