import {
  ServiceError,
  WorkflowExecutionAlreadyStartedError,
  WorkflowNotFoundError,
  WorkflowUpdateFailedError,
  type Client,
} from '@temporalio/client';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { VerificationResult } from '../../../contract/status.ts';
import type { VerifyRequest } from '../../../temporal/messages.ts';
import {
  createWorkflowCalls,
  TemporalUnavailable,
  type VerifyStart,
} from '../../../temporal/workflow-calls.ts';
import { aPayment } from '../../support/data/payments.ts';

const payment: VerifyStart = { ...aPayment({ id: 'PAY_1' }), verifyWindow: 600_000_000 };
const waiting: VerificationResult = { kind: 'waiting' };

/** A client that records its calls. Each update gets the next of the given answers. */
const aClient = (...answers: (VerificationResult | Error)[]) => {
  const updates: { request: VerifyRequest; updateId: string }[] = [];
  const starts: { workflowId: string; workflowIdReusePolicy?: string; signalArgs?: object[] }[] =
    [];
  const deadlines: number[] = [];
  const startErrors: Error[] = [];
  const executeUpdate = async (
    _: string,
    { args: [request], updateId }: { args: [VerifyRequest]; updateId: string },
  ) => {
    updates.push({ request, updateId });
    const answer = answers.shift() ?? waiting;
    if (answer instanceof Error) throw answer;
    return answer;
  };
  const start = async (_: string, options: (typeof starts)[number]) => {
    starts.push(options);
    const error = startErrors.shift();
    if (error) throw error;
  };
  const client = {
    withDeadline(deadline: number, call: () => Promise<unknown>) {
      deadlines.push(deadline);
      return call();
    },
    withAbortSignal: (_: AbortSignal, call: () => Promise<unknown>) => call(),
    workflow: { getHandle: () => ({ executeUpdate }), start, signalWithStart: start },
  };
  // The module uses no more of a client than this.
  const workflows = createWorkflowCalls(client as unknown as Client);
  return { workflows, updates, starts, deadlines, startErrors };
};

const stopClock = (): number => {
  const nowMs = Date.now();
  vi.useFakeTimers({ toFake: ['Date'], now: nowMs });
  onTestFinished(() => void vi.useRealTimers());
  return nowMs;
};

describe('verify', () => {
  it('sends the same update id for equal requests of a window alone, whatever time the process has', async () => {
    const { workflows, updates } = aClient();
    const nowMs = stopClock();
    const idAt = async (verifyWindow: number, atMs: number) => {
      vi.setSystemTime(atMs);
      await workflows.verify({ ...payment, verifyWindow }, { returned: false });
      return updates.at(-1)!.updateId;
    };
    const first = await idAt(600_000_000, nowMs);
    expect(await idAt(600_000_000, nowMs + 60_000)).toBe(first);
    // The clock is set back to the time of the first request.
    expect(await idAt(600_000_001, nowMs)).not.toBe(first);
  });

  it('sends another update id for a request that asks for more', async () => {
    const { workflows, updates } = aClient();
    const requests: VerifyRequest[] = [
      { returned: false },
      { returned: true },
      { returned: true, cancelled: true },
    ];
    for (const request of requests) await workflows.verify(payment, request);
    expect(new Set(updates.map(({ updateId }) => updateId)).size).toBe(3);
    expect(updates.map(({ request }) => request)).toEqual(requests);
  });

  it.each([
    ['has closed', new WorkflowNotFoundError('closed', payment.id, undefined)],
    ['closes during the update', new WorkflowUpdateFailedError('closed', new Error('completed'))],
  ])('leaves the answer to the record if the new run %s', async (_, error) => {
    const lost = new WorkflowNotFoundError('gone', payment.id, undefined);
    const { workflows } = aClient(lost, error);
    expect(await workflows.verify(payment, { returned: true })).toEqual(waiting);
  });

  it('rejects with TemporalUnavailable and the reason if Temporal refuses', async () => {
    const cause = new Error('7 PERMISSION_DENIED');
    const { workflows } = aClient(new ServiceError('Failed', { cause }));
    const verifying = workflows.verify(payment, { returned: false });
    await expect(verifying).rejects.toThrow(TemporalUnavailable);
    await expect(verifying).rejects.toThrow('Temporal is unavailable: 7 PERMISSION_DENIED');
  });

  it('rejects with a fault of our own', async () => {
    const { workflows } = aClient(new TypeError('x is undefined'));
    await expect(workflows.verify(payment, { returned: false })).rejects.toThrow(TypeError);
  });
});

describe('start', () => {
  it('does nothing if the workflow has already run', async () => {
    const { workflows, starts, startErrors } = aClient();
    startErrors.push(new WorkflowExecutionAlreadyStartedError('exists', payment.id, 'payment'));
    await workflows.start(payment);
    expect(starts).toMatchObject([{ workflowIdReusePolicy: 'REJECT_DUPLICATE' }]);
  });

  it('rejects with TemporalUnavailable if Temporal is unavailable', async () => {
    const { workflows, startErrors } = aClient();
    startErrors.push(new ServiceError('away'));
    await expect(workflows.start(payment)).rejects.toThrow(TemporalUnavailable);
  });
});

describe('a recheck', () => {
  it('says so if it is of no interest once the payment has ended', async () => {
    const { workflows, starts } = aClient();
    await workflows.recheck(payment);
    await workflows.recheck(payment, { unlessEnded: true });
    expect(starts).toMatchObject([{ signalArgs: [] }, { signalArgs: [{ unlessEnded: true }] }]);
  });
});

describe('the deadlines', () => {
  it('are 5 s for a start or a signal, and 10 s for a verification', async () => {
    const now = stopClock();
    const { workflows, deadlines } = aClient();
    await workflows.start(payment);
    await workflows.restart(payment);
    await workflows.recheck(payment);
    await workflows.startLatePayment(payment.id);
    await workflows.recheckLatePayment(payment.id);
    await workflows.verify(payment, { returned: false });
    expect(deadlines.map((deadline) => deadline - now)).toEqual([
      5_000, 5_000, 5_000, 5_000, 5_000, 10_000,
    ]);
  });

  it('are shorter for a recheck of a late payment if the payer has less time', async () => {
    const now = stopClock();
    const { workflows, deadlines } = aClient();
    await workflows.recheckLatePayment(payment.id, { withinMs: 1_000 });
    await workflows.recheckLatePayment(payment.id, { withinMs: 60_000 });
    expect(deadlines.map((deadline) => deadline - now)).toEqual([1_000, 5_000]);
  });
});
