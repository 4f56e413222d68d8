import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createJourney } from '../../support/journey.ts';
import type { Service } from '../../support/service.ts';
import { startService } from '../../support/service.ts';
import { until } from '../../support/until.ts';

let service: Service;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service?.stop());

it('a run may begin at any stage: a reset to any point makes no second event and no second POST', async () => {
  const { token } = await service.anApplication();
  const journey = createJourney(service, token);
  const id = await journey.finish('pay');
  await until('the webhook', () => service.receiver.of(id)[0]);
  const newest = service.client.workflow.getHandle(id);
  await newest.result();
  const { runId } = await newest.describe();
  const { events } = await service.client.workflow.getHandle(id, runId).fetchHistory();
  const points = (events ?? []).filter((event) => event.workflowTaskCompletedEventAttributes);
  expect(points).toHaveLength(5);

  for (const { eventId } of points) {
    await service.client.workflowService.resetWorkflowExecution({
      namespace: 'default',
      workflowExecution: { workflowId: id, runId },
      workflowTaskFinishEventId: eventId!,
      requestId: randomUUID(),
      reason: 'a test',
    });
    await newest.result();
  }
  expect((await newest.describe()).runId).not.toBe(runId);
  expect(service.receiver.of(id)).toHaveLength(1);
  expect(await service.sql`select from events where payment_id = ${id}`).toHaveLength(1);
  expect((await journey.get(id)).json['status']).toBe('paid');
});
