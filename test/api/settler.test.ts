import type { Client } from '@temporalio/client';
import { describe, expect, it } from 'vitest';
import { createSettler } from '../../api/settler.ts';
import type { Standing } from '../../contract/status.ts';
import type { SettleRequest } from '../../workflows/messages.ts';
import { until } from '../support/until.ts';

/** A settler whose engine answers when it is told to. */
const aSettler = () => {
  const updates: { request: SettleRequest; answer: (standing: Standing) => void }[] = [];
  const executeUpdate = (_name: string, { args: [request] }: { args: [SettleRequest] }) => {
    const { promise, resolve } = Promise.withResolvers<Standing>();
    updates.push({ request, answer: resolve });
    return promise;
  };
  const client = {
    withDeadline: (_deadline: number, work: () => Promise<unknown>) => work(),
    workflow: { getHandle: () => ({ executeUpdate }) },
  };
  // All that a settler asks of a client.
  return { updates, settler: createSettler({ client: client as unknown as Client }) };
};

const id = 'PAY_1';
const waiting: Standing = { known: 'waiting' };
const returned: SettleRequest = { returned: true, cancelled: false };

describe('who asks of one payment at the same time', () => {
  it('returns: share one update, so that the last does not wait for the others first', async () => {
    const { updates, settler } = aSettler();
    const answers = Array.from({ length: 5 }, () => settler.settle(id, returned));
    updates[0]!.answer(waiting);
    expect(await Promise.all(answers)).toEqual(Array.from({ length: 5 }, () => waiting));
    expect(updates).toHaveLength(1);
  });

  it('the cancel link is told to the gateway by an update of its own', async () => {
    const { updates, settler } = aSettler();
    const first = settler.settle(id, returned);
    const cancelled = settler.settle(id, { returned: true, cancelled: true });
    updates[0]!.answer(waiting);
    expect(await first).toEqual(waiting);
    await until('the second update', () => updates.length === 2);
    expect(updates[1]!.request).toEqual({ returned: true, cancelled: true });
    updates[1]!.answer({ known: 'ended', status: 'cancelled' });
    expect(await cancelled).toEqual({ known: 'ended', status: 'cancelled' });
  });

  it('a return behind a slow verify request is told within 10 seconds of its own', async () => {
    const { updates, settler } = aSettler();
    const verifying = settler.settle(id, { returned: false });
    const began = performance.now();
    const returning = settler.settle(id, returned);
    setTimeout(() => updates[0]!.answer(waiting), 7_000);
    await expect(returning).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    expect(performance.now() - began).toBeLessThan(11_000);
    expect(await verifying).toEqual(waiting);
    expect(updates).toHaveLength(2);
  });
});
