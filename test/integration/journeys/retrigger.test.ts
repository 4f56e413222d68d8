import { execFile, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import type { WorkflowFailedError } from '@temporalio/client';
import Stripe from 'stripe';
import { afterAll, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest';
import type { Operations } from '../../../operations/operations.ts';
import { createTemporalAdmin } from '../../../temporal/admin-client.ts';
import { createResets } from '../../../operations/resets.ts';
import { createPaymentOutcomes } from '../../../postgres/payment-outcomes.ts';
import { createPaymentWorkflows } from '../../../temporal/payment-workflows.ts';
import { createJourney } from '../../support/service/journey.ts';
import { operationsOn } from '../../support/service/admin-operations.ts';
import type { Receiver } from '../../support/service/receiver.ts';
import { startReceiver } from '../../support/service/receiver.ts';
import type { Service } from '../../support/service/service.ts';
import { startService } from '../../support/service/service.ts';
import { skipAllTime } from '../../support/service/skip-time.ts';
import { until } from '../../support/until.ts';

let service: Service;
let operations: Operations;
let elsewhere: Receiver;
beforeAll(async () => {
  service = await startService({ ownTemporal: true });
  elsewhere = await startReceiver();
  const { sql, keyRing, client } = service;
  const temporal = {
    resets: async () => createResets(client),
    temporal: async () => createTemporalAdmin(client),
  };
  operations = operationsOn(sql, { keyRing, ...temporal });
});
afterAll(async () => {
  await elsewhere?.stop();
  await service?.stop();
});
beforeEach(() => service.receiver.behave(() => 500));

const statusOf = async (id: string) => {
  const [row] = await service.sql<{ status: string }[]>`
    select status from deliveries where payment_id = ${id}`;
  return row?.status;
};

const becomes = (id: string, status: string) =>
  until(`${id} is ${status}`, async () => (await statusOf(id)) === status, 60_000);

/** A payment whose six attempts have failed, of an application of its own. */
const anExhausted = async () => {
  const made = await service.anApplication();
  const journey = createJourney(service, made.token);
  const id = await journey.finish('pay');
  await until('the first attempt', () => service.receiver.of(id)[0]);
  await skipAllTime(service.client, id);
  await becomes(id, 'exhausted');
  await expect(service.client.workflow.getHandle(id).result()).rejects.toThrow(
    'Workflow execution failed',
  );
  return { ...made, id, journey };
};

const numbersOf = (receiver: Receiver, id: string) =>
  receiver.of(id).map(({ headers }) => Number(headers['x-service-delivery-attempt']));

describe('re-triggering an exhausted delivery', () => {
  it('makes six new attempts with rising numbers and the same event, also twice in a row', async () => {
    const { id, journey } = await anExhausted();
    expect(await operations.deliveries.retrigger(id, 'again')).toBe('reset');
    await until('twelve attempts', () => numbersOf(service.receiver, id).length === 12, 60_000);
    await becomes(id, 'exhausted');
    await expect(service.client.workflow.getHandle(id).result()).rejects.toThrow(
      'Workflow execution failed',
    );
    expect(numbersOf(service.receiver, id)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);

    service.receiver.behave(() => 204);
    expect(await operations.deliveries.retrigger(id, null)).toBe('reset');
    await becomes(id, 'delivered');
    expect(numbersOf(service.receiver, id).at(-1)).toBe(13);
    const posts = service.receiver.of(id);
    expect(new Set(posts.map(({ body }) => body.toString())).size).toBe(1);
    expect(new Set(posts.map(({ headers }) => headers['x-service-event-id'])).size).toBe(1);
    expect((await journey.get(id)).json['status']).toBe('paid');

    const { timeline, payment } = await operations.payments.get(id);
    expect(payment.attempts.map(({ trigger }) => trigger)).toEqual([
      ...Array<string>(6).fill('schedule'),
      ...Array<string>(7).fill('admin'),
    ]);
    expect(timeline.map(({ what }) => what)).toContain('attempt 13 (admin)');
    await service.client.workflow.getHandle(id).result();
  });

  it('starts one round if two admins do it at once', async () => {
    const { id } = await anExhausted();
    const other = operationsOn(service.sql, {
      resets: async () => createResets(service.client),
    });
    const both = await Promise.allSettled([
      operations.deliveries.retrigger(id, 'one'),
      other.deliveries.retrigger(id, 'other'),
    ]);
    expect(both.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    await until('twelve attempts', () => numbersOf(service.receiver, id).length === 12, 60_000);
    await becomes(id, 'exhausted');
    await expect(service.client.workflow.getHandle(id).result()).rejects.toThrow(
      'Workflow execution failed',
    );
    expect(numbersOf(service.receiver, id)).toHaveLength(12);
  });

  it('says on Ctrl-C which payments it has re-triggered, and leaves the others', async () => {
    const made = [await anExhausted(), await anExhausted(), await anExhausted()];
    const ids = made.map(({ id }) => id);
    const line = ['deliveries', 'retrigger', ...ids, '--rate', '1', '--yes'];
    const child = spawn(process.execPath, ['cli/main.ts', ...line], { env: service.env });
    const progress: string[] = [];
    child.stderr.on('data', (piece) => {
      progress.push(String(piece));
      if (progress.join('') === '1 of 3\n') child.kill('SIGINT');
    });
    const [out, [code]] = await Promise.all([text(child.stdout), once(child, 'exit')]);
    // On a busy machine the second one may have begun when the signal comes.
    const done = ids.slice(0, progress.join('').includes('2 of 3') ? 2 : 1);
    expect(progress.join('')).toMatch(
      new RegExp(`^1 of 3\n(2 of 3\n)?Interrupted. Not tried: ${3 - done.length}\n$`),
    );
    expect(code).toBe(1);
    const rows = done.map((id) => `${id} +re-triggered\n`).join('');
    expect(out).toMatch(new RegExp(`^PAYMENT.*\n${rows}$`));
    for (const id of ids) {
      const isExhausted = (await statusOf(id)) === 'exhausted';
      expect(isExhausted, id).toBe(!done.includes(id));
    }
  });

  it('starts the same round if an operator resets the workflow with the temporal command', async () => {
    const { id } = await anExhausted();
    const { events } = await service.client.workflow.getHandle(id).fetchHistory();
    const scheduled = events?.findLast((event) => event.activityTaskScheduledEventAttributes);
    const taskId =
      scheduled?.activityTaskScheduledEventAttributes?.workflowTaskCompletedEventId?.toString();
    service.receiver.behave((nth) => (nth === 8 ? 204 : 500));
    await promisify(execFile)(inject('temporalProgram'), [
      ...['workflow', 'reset', '--workflow-id', id, '--event-id', taskId ?? ''],
      ...['--reason', 'by hand', '--address', service.env.TEMPORAL_ADDRESS],
    ]);
    await becomes(id, 'delivered');
    expect(numbersOf(service.receiver, id)).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
    const eventIds = service.receiver.of(id).map(({ headers }) => headers['x-service-event-id']);
    expect(new Set(eventIds).size).toBe(1);
    const { payment } = await operations.payments.get(id);
    expect(payment.attempts.map(({ number, round }) => [number, round]).slice(5)).toEqual([
      [6, 1],
      [7, 2],
      [8, 2],
    ]);
    await service.client.workflow.getHandle(id).result();
  });

  it('sends to the corrected URL with the current secrets', async () => {
    const { id, application, secret } = await anExhausted();
    await operations.applications.update(application, { webhookUrl: elsewhere.url }, 'typo');
    const newSecret = await operations.secrets.rotate(application, null);
    await operations.deliveries.retrigger(id, null);
    await becomes(id, 'delivered');

    expect(numbersOf(service.receiver, id)).toEqual([1, 2, 3, 4, 5, 6]);
    const [post] = elsewhere.of(id);
    expect(post?.headers['x-service-delivery-attempt']).toBe('7');
    const signature = String(post?.headers['x-service-signature']);
    expect(signature).toMatch(/^t=\d+,v1=[0-9a-f]{64},v1=[0-9a-f]{64}$/);
    const { signature: stripe } = new Stripe('sk_unused').webhooks;
    for (const valid of [secret, newSecret])
      expect(stripe?.verifyHeader(post!.body, signature, valid, 300)).toBe(true);
    // The digest of the newer secret comes first.
    const firstOnly = signature.split(',').slice(0, 2).join(',');
    expect(stripe?.verifyHeader(post!.body, firstOnly, newSecret, 300)).toBe(true);
  });

  it('changes nothing while Temporal is away', async () => {
    const { id } = await anExhausted();
    await service.engine.stop();
    try {
      await expect(operations.deliveries.retrigger(id, null)).rejects.toThrow(
        'nothing was changed',
      );
      expect(await statusOf(id)).toBe('exhausted');
    } finally {
      await service.engine.start();
    }
    await until('Temporal is back', async () => {
      const retried = operations.deliveries.retrigger(id, null);
      return retried.then(
        () => true,
        () => false,
      );
    });
    await until('attempt 7', () => numbersOf(service.receiver, id).includes(7), 60_000);
  });

  it('starts a run that delivers at once if the history is past its retention', async () => {
    const { id } = await anExhausted();
    const { runId } = await service.client.workflow.getHandle(id).describe();
    // The end of the retention deletes it.
    await service.client.workflowService.deleteWorkflowExecution({
      namespace: service.client.options.namespace,
      workflowExecution: { workflowId: id, runId },
    });
    await until('the history is gone', () =>
      service.client.workflow
        .getHandle(id)
        .describe()
        .then(
          () => false,
          () => true,
        ),
    );
    service.receiver.behave(() => 204);
    expect(await operations.deliveries.retrigger(id, null)).toBe('no_history');
    // Long before the sweeper would heal it.
    await becomes(id, 'delivered');
    expect(numbersOf(service.receiver, id)).toEqual([1, 2, 3, 4, 5, 6, 7]);
  });

  it('does not happen in a run that heals the workflow just after the sixth attempt', async () => {
    const { id } = await anExhausted();
    const payment = await createPaymentOutcomes(service.sql).get(id);
    await createPaymentWorkflows(service.client).restart(payment!);
    const { cause } = await service.client.workflow
      .getHandle(id)
      .result()
      .catch((error: WorkflowFailedError) => error);
    expect(cause).toMatchObject({ type: 'WebhookExhausted' });
    expect([await statusOf(id), numbersOf(service.receiver, id)]).toEqual([
      'exhausted',
      [1, 2, 3, 4, 5, 6],
    ]);
    // A re-trigger can reset that run, too.
    service.receiver.behave(() => 204);
    expect(await operations.deliveries.retrigger(id, null)).toBe('reset');
    await becomes(id, 'delivered');
    expect(numbersOf(service.receiver, id).at(-1)).toBe(7);
  });

  it('re-triggers every delivery of an application', async () => {
    const { token, application } = await service.anApplication();
    const journey = createJourney(service, token);
    const ids: string[] = [];
    for (let payment = 0; payment < 3; payment += 1) ids.push(await journey.finish('pay'));
    for (const id of ids) {
      await until('the first attempt', () => service.receiver.of(id)[0]);
      await skipAllTime(service.client, id);
    }
    for (const id of ids) await becomes(id, 'exhausted');
    service.receiver.behave(() => 204);
    const results = await operations.deliveries.retriggerAll(application, {
      perSecond: 50,
      reason: randomUUID(),
    });
    expect(results.map(({ result }) => result)).toEqual(['reset', 'reset', 'reset']);
    for (const id of ids) await becomes(id, 'delivered');
  });
});
