import { PaymentError } from '../../contract/errors.ts';
import { isTerminal } from '../../contract/status.ts';
import type { PayerPayment, Payments } from '../../postgres/payments.ts';
import type { SandboxChoice, SandboxPayments } from '../../postgres/sandbox-payments.ts';
import type { SandboxPlans, StoredPlan } from '../../postgres/sandbox-plans.ts';
import type { Logger } from '../../telemetry/log.ts';
import type { Handler, RequestOf } from '../http/route.ts';
import type { checkoutRoute } from './checkout.ts';
import type { returnFromGatewayRoute } from './return.ts';

export interface Deps {
  sandboxPlans: Pick<SandboxPlans, 'claim' | 'postpone' | 'delete'>;
  sandboxPayments: Pick<SandboxPayments, 'choose' | 'expireByPayment'>;
  payments: Pick<Payments, 'getForPayer'>;
  checkout: Handler<'payer', typeof checkoutRoute>;
  returnFromGateway: Handler<'payer', typeof returnFromGatewayRoute>;
  logger: Pick<Logger, 'warn'>;
}

const pollMs = 1_000;
const plansAtOnce = 20;
const retryMs = 2_000;

type Next = 'done' | { at: number };

/**
 * Plays the payers of payments that were created with a plan, through checkout and return like a person, so
 * nothing of a payment's own code knows of it. Plans are rows: a plan that a killed process has claimed is
 * due again soon.
 */
export const createPlayedPayers = (deps: Deps) => {
  const { sandboxPlans, sandboxPayments, payments, logger } = deps;
  const stopping = new AbortController();
  const playing = new Set<Promise<void>>();

  const request = (paymentId: string): RequestOf<'payer', typeof checkoutRoute> => ({
    params: { payment_id: paymentId },
    header: () => undefined,
    headerLines: () => [],
    refuse: (code, message, options) => new PaymentError(code, message, options),
    disconnectSignal: () => stopping.signal,
    search: () => new URLSearchParams(),
  });

  const act = async ({ paymentId, outcome, ...plan }: StoredPlan): Promise<void> => {
    if (outcome === 'abandoned') return sandboxPayments.expireByPayment(paymentId);
    await sandboxPayments.choose(paymentId, choiceOf({ paymentId, outcome, ...plan }));
    // Late money is searched when its payer comes back.
    if (plan.returns || outcome === 'paid_late') await deps.returnFromGateway(request(paymentId));
  };

  const play = async (plan: StoredPlan): Promise<Next> => {
    const { paymentId, outcome } = plan;
    const payment = await payments.getForPayer(paymentId);
    if (!payment) return 'done';
    const hasEnded = isTerminal(payment.status);
    if (hasEnded && (outcome !== 'paid_late' || !payment.sent)) return 'done';
    if (!payment.sent) {
      const { status } = await deps.checkout(request(paymentId));
      if (status !== 302) return { at: Date.now() + retryMs };
    }
    const actsAt = timeToAct(plan, payment);
    if (actsAt === undefined) return 'done';
    if (actsAt > Date.now()) return { at: actsAt };
    if (outcome === 'paid_late' && !hasEnded) return { at: Date.now() + retryMs };
    await act(plan);
    // The search for late money may have failed, and nothing else would start it.
    const isSearched = outcome !== 'paid_late' || payment.lateSearches > 0;
    return isSearched ? 'done' : { at: Date.now() + retryMs };
  };

  const playClaimed = async (plan: StoredPlan): Promise<void> => {
    try {
      const next = await play(plan);
      if (next === 'done') await sandboxPlans.delete(plan.paymentId);
      else await sandboxPlans.postpone(plan.paymentId, new Date(next.at));
    } catch (error) {
      if (stopping.signal.aborted) return;
      const facts = { payment_id: plan.paymentId, err: error };
      logger.warn(facts, 'Could not play the payer of a test; the next try follows soon');
    }
  };

  const claimDue = async (): Promise<void> => {
    if (stopping.signal.aborted || playing.size >= plansAtOnce) return;
    // Postgres may be unavailable. Then the metrics say so, and the plans wait.
    const plans = await sandboxPlans.claim(plansAtOnce - playing.size).catch(() => []);
    for (const plan of plans) {
      const played = playClaimed(plan).finally(() => playing.delete(played));
      playing.add(played);
    }
  };

  let claiming: Promise<void> | undefined;
  const playDue = (): void => {
    claiming ??= claimDue().finally(() => {
      claiming = undefined;
    });
  };

  const timer = setInterval(playDue, pollMs);
  timer.unref();
  return {
    /** A plan was written that is due now. */
    wake: playDue,

    async stop(): Promise<void> {
      clearInterval(timer);
      stopping.abort();
      await claiming;
      await Promise.all(playing);
    },
  };
};
export type PlayedPayers = ReturnType<typeof createPlayedPayers>;

/** When the payer acts at the gateway; undefined for one who does nothing there. */
const timeToAct = (
  { outcome, afterSeconds }: StoredPlan,
  { createdAt, expiresAt }: Pick<PayerPayment, 'createdAt' | 'expiresAt'>,
): number | undefined => {
  const at = createdAt.getTime() + afterSeconds * 1000;
  if (outcome === 'abandoned') return afterSeconds > 0 ? at : undefined;
  if (outcome === 'silent') return createdAt.getTime();
  return outcome === 'paid_late' ? Math.max(at, expiresAt.getTime()) : at;
};

const choiceOf = ({ outcome, failureCode, afterSeconds }: StoredPlan): SandboxChoice => {
  switch (outcome) {
    case 'failed':
      return { state: 'refused', refusal: failureCode ?? 'card_declined' };
    case 'cancelled':
    case 'abandoned':
      return { state: 'cancelled', refusal: null };
    case 'paid':
      return { state: 'paid', refusal: null };
    case 'paid_late':
      return { state: 'paid', refusal: null, late: true };
    case 'other_amount':
      return { state: 'paid', refusal: null, extraAmount: 1 };
    case 'already_verified':
      return { state: 'paid', refusal: null, loseConfirmation: true };
    case 'silent':
      return { state: 'paid', refusal: null, silentSeconds: afterSeconds };
  }
};
