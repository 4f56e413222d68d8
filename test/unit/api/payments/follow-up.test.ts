import { expect, it, onTestFinished, vi } from 'vitest';
import { createFollowUps } from '../../../../api/payments/follow-up.ts';
import type { VerifyRequest } from '../../../../temporal/messages.ts';
import { aPayment } from '../../../support/data/payments.ts';

const payment = { ...aPayment(), verifyWindow: 7 };

/** Answers all requests of a window as the workflow does: with the inquiry of the first. */
const aWorkflow = () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  let isPaid = false;
  const answers = new Map<number, { isPaid: boolean; asker: string | undefined }>();
  const followUps = createFollowUps({
    async verify({ verifyWindow }, { asker }: VerifyRequest) {
      const answer = answers.get(verifyWindow) ?? { isPaid, asker };
      answers.set(verifyWindow, answer);
      return answer.isPaid
        ? { kind: 'ended', status: 'paid' }
        : { kind: 'waiting', ...(answer.asker !== undefined && { asker: answer.asker }) };
    },
    budget: { take: () => 0 },
    now: Date.now,
    logger: { warn() {} },
  });
  return { followUps, answers, pay: () => (isPaid = true) };
};

it('asks once more when the window ends for those who share an older answer', async () => {
  const { followUps, answers, pay } = aWorkflow();
  await followUps.verify(payment, { returned: true });
  pay();
  for (let turn = 0; turn < 3; turn += 1) {
    const joined = await followUps.verify(payment, { returned: true });
    expect(joined.kind).toBe('waiting');
  }
  await vi.advanceTimersByTimeAsync(3_500);
  expect([...answers.keys()]).toEqual([7, 8]);
  expect(answers.get(8)?.isPaid).toBe(true);
});

it('asks no second time for a return alone, nor once the payment has ended', async () => {
  const { followUps, answers, pay } = aWorkflow();
  await followUps.verify(payment, { returned: true });
  pay();
  const later = { ...payment, verifyWindow: 20 };
  await followUps.verify(later, { returned: true });
  await followUps.verify(later, { returned: true });
  await vi.advanceTimersByTimeAsync(10_000);
  expect([...answers.keys()]).toEqual([7, 20]);
});

it('asks nothing after a stop', async () => {
  const { followUps, answers } = aWorkflow();
  await followUps.verify(payment, { returned: true });
  await followUps.verify(payment, { returned: true });
  followUps.stop();
  await vi.advanceTimersByTimeAsync(10_000);
  expect([...answers.keys()]).toEqual([7]);
});
