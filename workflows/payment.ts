import {
  ActivityFailure,
  allHandlersFinished,
  ApplicationFailure,
  CancellationScope,
  condition,
  continueAsNew,
  defineSignal,
  defineUpdate,
  patched,
  setHandler,
  TimeoutFailure,
  workflowInfo,
} from '@temporalio/workflow';
import {
  gatewayBusy,
  gatewayUnavailable,
  paymentNotFound,
  webhookExhausted,
} from '../temporal/failure-types.ts';
import { limits } from '../contract/limits.ts';
import type { VerificationResult } from '../contract/status.ts';
import { delivery, opening } from './activities.ts';
import type { PaymentInput, VerifyRequest } from '../temporal/messages.ts';
import { recheckSignal, verifyUpdate } from '../temporal/messages.ts';
import { createVerification } from './verification.ts';

const minuteMs = 60_000;
const graceMs = limits.graceMinutes * minuteMs;
const longestPauseMs = 60 * minuteMs;

/**
 * The life of one payment; its id is the workflow id. A run may begin at any stage.
 * @throws ApplicationFailure of type WebhookExhausted when six attempts did not deliver its event
 */
export async function payment(input: PaymentInput): Promise<void> {
  // A cancel request from the Temporal UI does not stop a payment.
  await CancellationScope.nonCancellable(() => live(input));
}

const live = async (input: PaymentInput): Promise<void> => {
  const settling = createVerification(input.id);
  let news = false;
  setHandler(defineUpdate<VerificationResult, [VerifyRequest]>(verifyUpdate), (request) =>
    settling.ask(request),
  );
  setHandler(defineSignal(recheckSignal), () => {
    news = true;
  });

  const opened = await open(input);
  if (opened === 'delivered') return;
  if (typeof opened === 'object') settling.begin(opened.ended);

  const until = Date.parse(input.expiresAt);
  const stirs = () => news || settling.ended() !== undefined || isLong();
  const payer = 'Waits for the payer, until the payment expires';
  while (!settling.ended() && (await before(until, stirs, payer))) {
    if (news) {
      news = false;
      await settling.ask({ returned: false });
    } else if (isLong()) await startAfresh(input, () => news);
  }

  let silentTries = 0;
  while (!settling.ended()) {
    if (isLong()) await startAfresh(input);
    news = false;
    const grace = Date.now() < until + graceMs;
    const { kind } = await settling.expire({ grace, unreachable: opened === 'unreachable' });
    silentTries = kind === 'unknown' ? silentTries + 1 : 0;
    const pauseMs = Math.min(minuteMs * 2 ** Math.max(silentTries - 1, 0), longestPauseMs);
    const isPatched = patched('a-pause-ends-when-long-or-answered');
    const isStirred = () => isLong() || (silentTries > 0 && settling.isWaiting());
    const goesOn = () => news || settling.ended() !== undefined || (isPatched && isStirred());
    await before(Date.now() + pauseMs, goesOn, `The gateway said ${kind}, it is asked again`);
  }

  await deliver(input);
  if (!allHandlersFinished()) await condition(allHandlersFinished);
};

/** Where the payment stands once its gateway was told, or could not be told. */
const open = async ({ id, expiresAt }: PaymentInput) => {
  const leftMs = Date.parse(expiresAt) - Date.now();
  try {
    // Past the deadline nothing is opened any more, but what stands must be known.
    const patienceMs = Math.max(leftMs, minuteMs);
    return await opening(patienceMs).openPayment({ id, late: leftMs <= 0 });
  } catch (error) {
    if (!(error instanceof ActivityFailure) || isOf(error, paymentNotFound)) throw error;
    // A gateway that hangs has its places taken, too. Anything else is a failure of ours.
    const isGateways = isOf(error, gatewayUnavailable) || isOf(error, gatewayBusy);
    return isGateways ? 'unreachable' : 'unopened';
  }
};

const deliver = async ({ id }: PaymentInput) => {
  const { runId, originalExecutionRunId } = workflowInfo();
  try {
    await delivery.deliverWebhook({ id, isReset: runId !== originalExecutionRunId });
  } catch (error) {
    if (!(error instanceof ActivityFailure) || !isOf(error, webhookExhausted)) throw error;
    throw ApplicationFailure.nonRetryable(error.cause?.message, webhookExhausted);
  }
};

/** By the last failure; where the time ran out first, that stands behind the timeout. */
const isOf = ({ cause }: ActivityFailure, type: string): boolean => {
  const last = cause instanceof TimeoutFailure ? cause.cause : cause;
  return last instanceof ApplicationFailure && last.type === type;
};

/** True when `happens` came first, false when the time did. The summary is for the Temporal UI. */
const before = (
  untilMs: number,
  happens: () => boolean,
  summary: string,
): boolean | Promise<boolean> => {
  const leftMs = untilMs - Date.now();
  return happens() || (leftMs > 0 && condition(happens, leftMs, { summary }));
};

const isLong = () => workflowInfo().continueAsNewSuggested;

/**
 * A new run finds out by itself what stands, so it needs no more than the first one had. It would not
 * hear of news that came while this one waited: `stays` says so, and there is no new run yet.
 */
const startAfresh = async (input: PaymentInput, stays = () => false): Promise<void> => {
  await condition(allHandlersFinished);
  if (!stays()) await continueAsNew<typeof payment>(input);
};
