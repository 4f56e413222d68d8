import type { Client } from '@temporalio/client';
import { ServiceError, WorkflowNotFoundError, WorkflowUpdateFailedError } from '@temporalio/client';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createVerifier } from '../../../../api/payments/verifier.ts';
import type { WorkflowStart } from '../../../../contract/payment.ts';
import type { VerificationResult } from '../../../../contract/status.ts';
import type { VerifyRequest } from '../../../../temporal/messages.ts';
import { until } from '../../../support/until.ts';

/** A verifier whose engine answers when it is told to. */
const aSettler = () => {
  interface Update {
    request: VerifyRequest;
    answer: (standing: VerificationResult) => void;
    fail: (error: Error) => void;
  }
  const updates: Update[] = [];
  const deadlines: number[] = [];
  const started: string[] = [];
  const executeUpdate = (_name: string, { args: [request] }: { args: [VerifyRequest] }) => {
    const { promise, resolve, reject } = Promise.withResolvers<VerificationResult>();
    updates.push({ request, answer: resolve, fail: reject });
    return promise;
  };
  const client = {
    withQueryTimeout: (deadline: number, work: () => Promise<unknown>) => {
      deadlines.push(deadline);
      return work();
    },
    workflow: {
      getHandle: () => ({ executeUpdate }),
      start: async (_name: string, { workflowId }: { workflowId: string }) =>
        started.push(workflowId),
    },
  };
  // All that a verifier asks of a client.
  const verifier = createVerifier({ client: client as unknown as Client });
  return { updates, deadlines, started, verifier };
};

const facts: WorkflowStart = {
  ...{ id: 'PAY_1', application: 'shop', orderId: 'o-1', gateway: 'sandbox' },
  ...{ amount: 1250, currency: 'EUR', expiresAt: new Date() },
};
const staying = new AbortController().signal;
const waiting: VerificationResult = { kind: 'waiting' };
const returned: VerifyRequest = { returned: true, cancelled: false };

describe('who asks of one payment at the same time', () => {
  it('returns: share one update, so that the last does not wait for the others first', async () => {
    const { updates, verifier } = aSettler();
    const answers = Array.from({ length: 5 }, () => verifier.settle(facts, returned, staying));
    updates[0]!.answer(waiting);
    expect(await Promise.all(answers)).toEqual(Array.from({ length: 5 }, () => waiting));
    expect(updates).toHaveLength(1);
  });

  it('the cancel link is told to the gateway by an update of its own', async () => {
    const { updates, verifier } = aSettler();
    const first = verifier.settle(facts, returned, staying);
    const cancelled = verifier.settle(facts, { returned: true, cancelled: true }, staying);
    updates[0]!.answer(waiting);
    expect(await first).toEqual(waiting);
    await until('the second update', () => updates.length === 2);
    expect(updates[1]!.request).toEqual({ returned: true, cancelled: true });
    updates[1]!.answer({ kind: 'ended', status: 'cancelled' });
    expect(await cancelled).toEqual({ kind: 'ended', status: 'cancelled' });
  });

  it('a return behind a slow verify request is told within 10 seconds of its own', async () => {
    vi.useFakeTimers({ toFake: ['Date', 'setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const { updates, deadlines, verifier } = aSettler();
    const began = Date.now();
    const verifying = verifier.settle(facts, { returned: false }, staying);
    let refused: unknown;
    verifier.settle(facts, returned, staying).catch((error: unknown) => (refused = error));
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
    const { updates, started, verifier } = aSettler();
    const settled = verifier.settle(facts, returned, staying);
    updates[0]!.fail(new WorkflowNotFoundError('gone', facts.id, undefined));
    await until('the second update', () => updates.length === 2);
    expect(started).toEqual([facts.id]);
    updates[1]!.answer({ kind: 'ended', status: 'paid' });
    expect(await settled).toEqual({ kind: 'ended', status: 'paid' });
  });

  it.each([
    ['has closed', new WorkflowNotFoundError('closed', facts.id, undefined)],
    ['closes in the middle of it', new WorkflowUpdateFailedError('closed', new Error('completed'))],
  ])('leaves it to the record where the run that was started again %s', async (_, error) => {
    const { updates, verifier } = aSettler();
    const settled = verifier.settle(facts, returned, staying);
    updates[0]!.fail(new WorkflowNotFoundError('gone', facts.id, undefined));
    await until('the second update', () => updates.length === 2);
    updates[1]!.fail(error);
    expect(await settled).toEqual(waiting);
  });

  it('503: whatever the engine refuses', async () => {
    const { updates, verifier } = aSettler();
    const settled = verifier.settle(facts, returned, staying);
    updates[0]!.fail(new ServiceError('PERMISSION_DENIED'));
    await expect(settled).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
  });

  it('is remembered for 3 seconds, also where the gateway gave none', async () => {
    const { updates, verifier } = aSettler();
    expect(verifier.lastAnswer(facts.id, returned)).toBeUndefined();
    const settled = verifier.settle(facts, returned, staying);
    updates[0]!.answer({ kind: 'unknown' });
    await settled;
    expect(verifier.lastAnswer(facts.id, returned)).toEqual({ kind: 'unknown' });
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 3_000 });
    onTestFinished(() => void vi.useRealTimers());
    expect(verifier.lastAnswer(facts.id, returned)).toBeUndefined();
  });

  it('is no answer to one who tells more, unless the payment has ended', async () => {
    const { updates, verifier } = aSettler();
    const verify = { returned: false };
    const cancelled = { returned: true, cancelled: true };
    const answersAfter = async (told: VerifyRequest, standing: VerificationResult) => {
      const settled = verifier.settle(facts, told, staying);
      updates.at(-1)!.answer(standing);
      await settled;
      return [verify, returned, cancelled].map((request) => verifier.lastAnswer(facts.id, request));
    };
    expect(await answersAfter(verify, waiting)).toEqual([waiting, undefined, undefined]);
    expect(await answersAfter(returned, waiting)).toEqual([waiting, waiting, undefined]);
    expect(await answersAfter(cancelled, waiting)).toEqual([waiting, waiting, waiting]);
    const ended = { kind: 'ended', status: 'paid' } as const;
    expect(await answersAfter(verify, ended)).toEqual([ended, ended, ended]);
  });

  it('is waited for only while the client is there, and goes on for the others', async () => {
    const { updates, verifier } = aSettler();
    const client = new AbortController();
    const left = verifier.settle(facts, returned, client.signal);
    const stayed = verifier.settle(facts, returned, staying);
    client.abort();
    await expect(left).rejects.toThrow('aborted');
    updates[0]!.answer(waiting);
    expect(await stayed).toEqual(waiting);
  });
});
