import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import type { WorkflowFailedError } from '@temporalio/client';
import Stripe from 'stripe';
import { beforeEach, describe, expect, inject, it } from 'vitest';
import { eventId, newPaymentId } from '../../../contract/ids.ts';
import { createPaymentOutcomes } from '../../../postgres/payments/outcomes.ts';
import { createWorkflowCalls } from '../../../temporal/workflow-calls.ts';
import { manyPayments, writeDeliveries } from '../../support/data/payments.ts';
import { forFile } from '../../support/for-file.ts';
import { operationsOf } from '../../support/service/admin-operations.ts';
import { startReceiver, type Receiver } from '../../support/service/receiver.ts';
import { useService } from '../../support/service/service.ts';
import { skipAllTime } from '../../support/service/skip-time.ts';
import { until } from '../../support/until.ts';

const service = await forFile(useService());
const elsewhere = await forFile(startReceiver());
const operations = operationsOf(service);
beforeEach(() => service.receiver.behave(() => 500));

const statusOf = async (id: string) => {
  const [row] = await service.sql<{ status: string }[]>`
    select status from deliveries where payment_id = ${id}`;
  return row?.status;
};

const becomes = (id: string, status: string) =>
  until(`${id} is ${status}`, async () => (await statusOf(id)) === status);

/** A payment whose six attempts have failed, of an application of its own. */
const exhaustedPayment = async () => {
  const made = await service.anApplication();
  const id = await made.journey.finish('pay');
  await until('the first attempt', () => service.receiver.of(id)[0]);
  await skipAllTime(service.client, id);
  await becomes(id, 'exhausted');
  await expect(service.client.workflow.getHandle(id).result()).rejects.toThrow(
    'Workflow execution failed',
  );
  return { ...made, id };
};

/** Has the new run of a replay make its six attempts without their delays. */
const skipRound = async (id: string) => {
  await until('attempt 7', () => numbersOf(service.receiver, id).length === 7);
  await skipAllTime(service.client, id);
};

const numbersOf = (receiver: Receiver, id: string) =>
  receiver.of(id).map(({ headers }) => Number(headers['x-service-delivery-attempt']));

describe('replaying an exhausted delivery', () => {
  it('makes six new attempts with rising numbers and the same event, also twice in a row', async () => {
    const { id, journey } = await exhaustedPayment();
    expect(await operations.replays.replayOne(eventId(id), 'again')).toBe('at once');
    await skipRound(id);
    await until('twelve attempts', () => numbersOf(service.receiver, id).length === 12, 240_000);
    await becomes(id, 'exhausted');
    await expect(service.client.workflow.getHandle(id).result()).rejects.toThrow(
      'Workflow execution failed',
    );
    expect(numbersOf(service.receiver, id)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);

    service.receiver.behave(() => 204);
    expect(await operations.replays.replayOne(eventId(id), null)).toBe('at once');
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
    expect(timeline.map(({ what }) => what)).toContain('attempt 13 (by an admin)');
    await service.client.workflow.getHandle(id).result();
  });

  it('stops on Ctrl-C before the next of many, and leaves the others', async () => {
    const { application } = await service.anApplication();
    const payments = manyPayments(4, () => ({ id: newPaymentId(), application }));
    await writeDeliveries(service.sql, payments, () => ({ status: 'exhausted' }));
    const env = {
      DATABASE_URL: inject('sharedService').databaseUrl,
      TEMPORAL_ADDRESS: inject('sharedService').temporalAddress,
    };
    const line = ['deliveries', 'replay', '--application', application, '--rate', '1', '--yes'];
    const child = spawn(process.execPath, ['admin/cli/main.ts', ...line], { env });
    let progress = '';
    child.stderr.on('data', (piece) => {
      const isFirst = !progress.includes(' of 4');
      progress += String(piece);
      // A second Ctrl-C ends the process at once.
      if (isFirst && progress.includes(' of 4')) child.kill('SIGINT');
    });
    const [out, [code]] = await Promise.all([text(child.stdout), once(child, 'exit')]);
    expect(code, progress).toBe(1);
    const replays = await operations.replays.list(20);
    const replay = replays.find((each) => each.application === application);
    const { begun, status, perSecond } = replay!;
    expect([status, perSecond]).toEqual(['stopped', 1]);
    expect(out).toContain('stopped');
    const waiting = await service.sql`
      select from deliveries where application = ${application} and round = 1`;
    expect(waiting).toHaveLength(4 - begun);
    expect(waiting.length).toBeGreaterThan(0);
  });

  it('starts the same round if an operator resets the workflow with the temporal command', async () => {
    const { id } = await exhaustedPayment();
    const { events } = await service.client.workflow.getHandle(id).fetchHistory();
    const scheduled = events?.findLast((event) => event.activityTaskScheduledEventAttributes);
    const taskId =
      scheduled?.activityTaskScheduledEventAttributes?.workflowTaskCompletedEventId?.toString();
    service.receiver.behave((nth) => (nth === 8 ? 204 : 500));
    await promisify(execFile)(inject('temporalProgram'), [
      ...['workflow', 'reset', '--workflow-id', id, '--event-id', taskId ?? ''],
      ...['--reason', 'by hand', '--address', inject('sharedService').temporalAddress],
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
    const { id, application, secret } = await exhaustedPayment();
    await operations.applications.update(application, { webhookUrl: elsewhere.url }, 'typo');
    const newSecret = await operations.secrets.rotate(application, null);
    await operations.replays.replayOne(eventId(id), null);
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

  it('does not happen in a run that heals the workflow just after the sixth attempt', async () => {
    const { id } = await exhaustedPayment();
    const payment = await createPaymentOutcomes(service.sql).get(id);
    await createWorkflowCalls(service.client).restart(payment!);
    const { cause } = await service.client.workflow
      .getHandle(id)
      .result()
      .catch((error: WorkflowFailedError) => error);
    expect(cause).toMatchObject({ type: 'WebhookExhausted' });
    expect([await statusOf(id), numbersOf(service.receiver, id)]).toEqual([
      'exhausted',
      [1, 2, 3, 4, 5, 6],
    ]);
    // A replay starts another run after it.
    service.receiver.behave(() => 204);
    expect(await operations.replays.replayOne(eventId(id), null)).toBe('at once');
    await becomes(id, 'delivered');
    expect(numbersOf(service.receiver, id).at(-1)).toBe(7);
  });
});

describe('a failing delivery', () => {
  const aFailing = async () => {
    const { journey } = await service.anApplication();
    const id = await journey.finish('pay');
    const waits = () =>
      until('the next attempt is later', async () => {
        const [row] = await service.sql`
          select from deliveries where payment_id = ${id} and next_attempt_at > now()`;
        return row;
      });
    await waits();
    return { id, waits };
  };
  /** As if the last attempt had begun longer ago than repeated calls count as one. */
  const ageAttempts = (id: string) => service.sql`
    update attempts set started_at = started_at - interval '11 seconds'
    where event_id = ${eventId(id)}`;

  it('keeps the delays of its schedule after it was sent at once', async () => {
    const { id, waits } = await aFailing();
    await ageAttempts(id);
    await operations.replays.replayOne(eventId(id), null);
    await until('it is sent', () => numbersOf(service.receiver, id).length === 2);
    await waits();
    await skipAllTime(service.client, id);
    await becomes(id, 'exhausted');
    expect(numbersOf(service.receiver, id)).toEqual([1, 2, 3, 4, 5, 6]);
    const attempts = await service.sql<{ at: Date }[]>`
      select scheduled_at as at from attempts where event_id = ${eventId(id)} order by number`;
    const gaps = attempts
      .slice(2)
      .map(({ at }, index) => Math.round((Number(at) - Number(attempts[index + 1]?.at)) / 60_000));
    expect(gaps).toEqual([5, 30, 120, 720]);
  });
});
