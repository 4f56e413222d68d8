import type { Client } from '@temporalio/client';
import { ServiceError, WorkflowNotFoundError, WorkflowUpdateFailedError } from '@temporalio/client';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createSettler } from '../../api/settler.ts';
import type { StartFacts } from '../../contract/payment.ts';
import type { Standing } from '../../contract/status.ts';
import type { SettleRequest } from '../../workflows/messages.ts';
import { until } from '../support/until.ts';

/** A settler whose engine answers when it is told to. */
const aSettler = () => {
  interface Update {
    request: SettleRequest;
    answer: (standing: Standing) => void;
    fail: (error: Error) => void;
  }
  const updates: Update[] = [];
  const deadlines: number[] = [];
  const started: string[] = [];
  const executeUpdate = (_name: string, { args: [request] }: { args: [SettleRequest] }) => {
    const { promise, resolve, reject } = Promise.withResolvers<Standing>();
    updates.push({ request, answer: resolve, fail: reject });
    return promise;
  };
  const client = {
    withDeadline: (deadline: number, work: () => Promise<unknown>) => {
      deadlines.push(deadline);
      return work();
    },
    workflow: {
      getHandle: () => ({ executeUpdate }),
      start: async (_name: string, { workflowId }: { workflowId: string }) =>
        started.push(workflowId),
    },
  };
  // All that a settler asks of a client.
  const settler = createSettler({ client: client as unknown as Client });
  return { updates, deadlines, started, settler };
};

const facts: StartFacts = {
  ...{ id: 'PAY_1', application: 'shop', orderId: 'o-1', gateway: 'sandbox' },
  ...{ amount: 1250, currency: 'EUR', expiresAt: new Date() },
};
const staying = new AbortController().signal;
const waiting: Standing = { known: 'waiting' };
const returned: SettleRequest = { returned: true, cancelled: false };

describe('who asks of one payment at the same time', () => {
  it('returns: share one update, so that the last does not wait for the others first', async () => {
    const { updates, settler } = aSettler();
    const answers = Array.from({ length: 5 }, () => settler.settle(facts, returned, staying));
    updates[0]!.answer(waiting);
    expect(await Promise.all(answers)).toEqual(Array.from({ length: 5 }, () => waiting));
    expect(updates).toHaveLength(1);
  });

  it('the cancel link is told to the gateway by an update of its own', async () => {
    const { updates, settler } = aSettler();
    const first = settler.settle(facts, returned, staying);
    const cancelled = settler.settle(facts, { returned: true, cancelled: true }, staying);
    updates[0]!.answer(waiting);
    expect(await first).toEqual(waiting);
    await until('the second update', () => updates.length === 2);
    expect(updates[1]!.request).toEqual({ returned: true, cancelled: true });
    updates[1]!.answer({ known: 'ended', status: 'cancelled' });
    expect(await cancelled).toEqual({ known: 'ended', status: 'cancelled' });
  });

  it('a return behind a slow verify request is told within 10 seconds of its own', async () => {
    vi.useFakeTimers({ toFake: ['Date', 'setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const { updates, deadlines, settler } = aSettler();
    const began = Date.now();
    const verifying = settler.settle(facts, { returned: false }, staying);
    let refused: unknown;
    settler.settle(facts, returned, staying).catch((error: unknown) => (refused = error));
    await vi.advanceTimersByTimeAsync(7_000);
    updates[0]!.answer(waiting);
    expect(await verifying).toEqual(waiting);
    await vi.advanceTimersByTimeAsync(2_999);
    expect(refused).toBeUndefined();
    await vi.advanceTimersByTimeAsync(1);
    expect(refused).toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    expect(updates).toHaveLength(2);
    // And the engine is asked no longer than that.
    expect(deadlines.map((deadline) => deadline - began)).toEqual([10_000, 17_000]);
  });
});

describe('what becomes of an update', () => {
  it('a lost workflow is started again, and asked then', async () => {
    const { updates, started, settler } = aSettler();
    const settled = settler.settle(facts, returned, staying);
    updates[0]!.fail(new WorkflowNotFoundError('gone', facts.id, undefined));
    await until('the second update', () => updates.length === 2);
    expect(started).toEqual([facts.id]);
    updates[1]!.answer({ known: 'ended', status: 'paid' });
    expect(await settled).toEqual({ known: 'ended', status: 'paid' });
  });

  it.each([
    ['has closed', new WorkflowNotFoundError('closed', facts.id, undefined)],
    ['closes in the middle of it', new WorkflowUpdateFailedError('closed', new Error('completed'))],
  ])('leaves it to the record where the run that was started again %s', async (_, error) => {
    const { updates, settler } = aSettler();
    const settled = settler.settle(facts, returned, staying);
    updates[0]!.fail(new WorkflowNotFoundError('gone', facts.id, undefined));
    await until('the second update', () => updates.length === 2);
    updates[1]!.fail(error);
    expect(await settled).toEqual(waiting);
  });

  it('503: whatever the engine refuses', async () => {
    const { updates, settler } = aSettler();
    const settled = settler.settle(facts, returned, staying);
    updates[0]!.fail(new ServiceError('PERMISSION_DENIED'));
    await expect(settled).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
  });

  it('is remembered for 3 seconds, also where the gateway gave none', async () => {
    const { updates, settler } = aSettler();
    expect(settler.lastAnswer(facts.id, returned)).toBeUndefined();
    const settled = settler.settle(facts, returned, staying);
    updates[0]!.answer({ known: 'unknown' });
    await settled;
    expect(settler.lastAnswer(facts.id, returned)).toEqual({ known: 'unknown' });
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 3_000 });
    onTestFinished(() => void vi.useRealTimers());
    expect(settler.lastAnswer(facts.id, returned)).toBeUndefined();
  });

  it('is no answer to one who tells more, unless the payment has ended', async () => {
    const { updates, settler } = aSettler();
    const verify = { returned: false };
    const cancelled = { returned: true, cancelled: true };
    const answersAfter = async (told: SettleRequest, standing: Standing) => {
      const settled = settler.settle(facts, told, staying);
      updates.at(-1)!.answer(standing);
      await settled;
      return [verify, returned, cancelled].map((request) => settler.lastAnswer(facts.id, request));
    };
    expect(await answersAfter(verify, waiting)).toEqual([waiting, undefined, undefined]);
    expect(await answersAfter(returned, waiting)).toEqual([waiting, waiting, undefined]);
    expect(await answersAfter(cancelled, waiting)).toEqual([waiting, waiting, waiting]);
    const ended = { known: 'ended', status: 'paid' } as const;
    expect(await answersAfter(verify, ended)).toEqual([ended, ended, ended]);
  });

  it('is waited for only while the client is there, and goes on for the others', async () => {
    const { updates, settler } = aSettler();
    const client = new AbortController();
    const left = settler.settle(facts, returned, client.signal);
    const stayed = settler.settle(facts, returned, staying);
    client.abort();
    await expect(left).rejects.toThrow('aborted');
    updates[0]!.answer(waiting);
    expect(await stayed).toEqual(waiting);
  });
});
