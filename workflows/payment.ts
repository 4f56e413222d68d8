import {
  allHandlersFinished,
  CancellationScope,
  condition,
  continueAsNew,
} from '@temporalio/workflow';
import type { Stage } from '../activities/open-payment.ts';
import { limits } from '../contract/limits.ts';
import type { VerificationResult } from '../contract/status.ts';
import { hourMs, minuteMs } from '../contract/time.ts';
import { activityFailureType, webhookExhausted } from '../temporal/failures.ts';
import type { PaymentInput } from '../temporal/messages.ts';
import { openPayment } from './activities.ts';
import { deliver, deliveryContext } from './delivery.ts';
import { createDetails } from './details.ts';
import { historyIsLong } from './history.ts';
import { createVerification, type Verification } from './verification.ts';

const graceMs = limits.graceMinutes * minuteMs;
const longestPauseMs = hourMs;

/**
 * The life of one payment. The workflow id is the payment's id. A run may begin at any stage.
 * @throws ApplicationFailure WebhookExhausted after six attempts without success
 */
export async function payment(input: PaymentInput): Promise<void> {
  // A cancel request from the Temporal UI must not stop a payment.
  await CancellationScope.nonCancellable(() => run(input));
}

const run = async (input: PaymentInput): Promise<void> => {
  const say = createDetails();
  const verification = createVerification(input.id, (answer) => say('Payment', saysOf(answer)));
  say('Payment', 'It is being opened at the gateway.');
  const opening = await open(input);
  if (opening.stage !== 'ended') say('Payment', openingSays(input)[opening.stage]);
  if (opening.stage === 'ended') verification.recordEnd(opening.status);
  if (opening.stage === 'open' && opening.payerReturnsAt)
    void returnPlannedPayer(Date.parse(opening.payerReturnsAt), verification);

  await waitForPayer(input, verification);
  await resolveAfterDeadline(input, verification, { unreachable: opening.stage === 'unreachable' });
  const search = startLateSearches(verification);
  const delivery = deliver(
    { id: input.id },
    deliveryContext({
      pending: verification.subscribe(),
      say,
      working: search.working,
      isAsked: search.isAsked,
      async continueInNewRun() {
        await condition(() => !search.isAsked() && allHandlersFinished());
        await continueAsNew<typeof payment>(input);
      },
    }),
  );
  const result = await Promise.race([delivery, search.failure]);
  if (result === 'exhausted') throw webhookExhausted(`The event of ${input.id} was not accepted`);
};

const openingSays = ({ expiresAt }: PaymentInput) => ({
  open: `It waits for its payer until ${expiresAt}.`,
  unopened: 'The gateway has not opened it.',
  unreachable: 'The gateway did not answer, so it is not opened.',
});

/** For who looks at the workflow. */
const saysOf = (answer: VerificationResult): string => {
  if (answer.kind === 'ended') return `It has ended: **${answer.status}**.`;
  return {
    waiting: 'The gateway says that nobody has paid yet.',
    processing: 'The gateway says that the money is on its way.',
    unknown: 'The gateway gave no usable answer. It is asked again.',
  }[answer.kind];
};

/** Opens the payment at its gateway, and finds out how far an earlier run has come. */
const open = async ({ id, expiresAt }: PaymentInput): Promise<Stage | { stage: 'unreachable' }> => {
  const timeLeftMs = Date.parse(expiresAt) - Date.now();
  try {
    return await openPayment.executeWithOptions(
      // After the deadline the activity only reads the record, for which it has a minute.
      { scheduleToCloseTimeout: Math.max(timeLeftMs, minuteMs) },
      [{ id, afterDeadline: timeLeftMs <= 0 }],
    );
  } catch (error) {
    const type = activityFailureType(error);
    if (type === undefined || type === 'PaymentNotFound') throw error;
    // A gateway that hangs fills its slots, so its other payments fail as GatewayBusy.
    const isUnreachable = type === 'GatewayUnavailable' || type === 'GatewayBusy';
    return { stage: isUnreachable ? 'unreachable' : 'unopened' };
  }
};

/** Verifies when the payer of a sandbox plan comes back, as the return page does for others. */
const returnPlannedPayer = async (returnsAt: number, verification: Verification): Promise<void> => {
  const summary = 'Waits for the payer of a sandbox plan to come back';
  if (!(await waitUntil(returnsAt, verification.hasEnded, summary)))
    await verification.verify({ returned: true });
};

/**
 * Waits until the payment has ended or its deadline has passed. A recheck verifies here; an update has
 * verified already when it wakes this function.
 */
const waitForPayer = async (input: PaymentInput, verification: Verification): Promise<void> => {
  const deadline = Date.parse(input.expiresAt);
  const { pending } = verification;
  const shouldWake = () =>
    verification.hasEnded() || pending.callOff || pending.recheck || historyIsLong();
  const isBeforeDeadline = () =>
    waitUntil(deadline, shouldWake, 'Waits for the payer until the payment expires');

  while (!verification.hasEnded() && (await isBeforeDeadline())) {
    if (pending.callOff) await verification.callOff();
    else if (pending.recheck) await verification.recheck();
    else if (historyIsLong()) await continueAsNewWhenIdle(input, verification);
  }
};

/** Asks the gateway until it gives an outcome. Silence is never an outcome. */
const resolveAfterDeadline = async (
  input: PaymentInput,
  verification: Verification,
  { unreachable }: { unreachable: boolean },
): Promise<void> => {
  const graceEndsAt = Date.parse(input.expiresAt) + graceMs;
  let unknownResults = 0;
  const gatewayHasRecovered = () => unknownResults > 0 && verification.isUnpaid();
  const shouldRetry = () =>
    verification.hasEnded() ||
    verification.pending.callOff ||
    verification.pending.recheck ||
    gatewayHasRecovered() ||
    historyIsLong();

  while (!verification.hasEnded()) {
    if (historyIsLong()) await continueAsNewWhenIdle(input, verification);
    verification.pending.callOff = false;
    const { kind } = await verification.expire({ grace: Date.now() < graceEndsAt, unreachable });
    unknownResults = kind === 'unknown' ? unknownResults + 1 : 0;
    await waitUntil(Date.now() + retryPauseMs(unknownResults), shouldRetry, pauseSummary(kind));
  }
};

/** Looks for late money after each recheck that no inquiry before the end has served, until the run is over. */
const startLateSearches = (verification: Verification) => {
  const working = new Set<unknown>();
  const search = async (): Promise<never> => {
    for (;;) {
      await condition(() => verification.pending.reported);
      working.add(search);
      await verification.searchLate();
      working.delete(search);
    }
  };
  return {
    working,
    isAsked: () => verification.pending.reported || working.has(search),
    failure: search(),
  };
};

/** 1 minute while the gateway answers, otherwise 1, 2, 4 … at most 60 minutes. */
const retryPauseMs = (unknownResults: number): number =>
  Math.min(minuteMs * 2 ** Math.max(unknownResults - 1, 0), longestPauseMs);

const pauseSummary = (kind: VerificationResult['kind']): string =>
  kind === 'unknown'
    ? 'The gateway gave no usable answer, it is asked again'
    : `The gateway answered ${kind}, it is asked again`;

/** @returns true if the condition came first, false if the time did. The Temporal UI shows the summary. */
const waitUntil = async (time: number, isMet: () => boolean, summary: string): Promise<boolean> => {
  const leftMs = time - Date.now();
  return isMet() || (leftMs > 0 && condition(isMet, leftMs, { summary }));
};

/**
 * Continues in a new run, which reads the payment's state itself. A pending signal comes first, because the new
 * run would not know of it.
 */
const continueAsNewWhenIdle = async (
  input: PaymentInput,
  verification: Verification,
): Promise<void> => {
  await condition(allHandlersFinished);
  const { recheck, callOff } = verification.pending;
  if (!recheck && !callOff) await continueAsNew<typeof payment>(input);
};
