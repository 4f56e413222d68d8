import type { Disruptions } from './disruptions.ts';
import { findDecided } from './gateway-records.ts';
import type { ReportedStatus } from './journal.ts';
import { type CreatedPayment, isTerminal } from './scenarios.ts';

export interface LateEvidence {
  /** The place where the service says that the money went; `found` while that is open. */
  recorded?: string | undefined;
  /** The statuses that the payer and the application saw. */
  statuses: readonly ReportedStatus[];
  disruptions: Disruptions;
}

/** The time for the return, and for Temporal to recover. */
const lookMs = 15_000;

/** Finds late payments that the service overlooked, or recorded wrongly. */
export const findLateProblems = (
  payment: CreatedPayment,
  outcome: { status: string; failure_code: string | null },
  { recorded, statuses, disruptions }: LateEvidence,
): string[] => {
  const charged = payment.gateway.entriesFor(payment.id).filter(([, entry]) => entry.charged > 0);
  if (outcome.status === 'paid' || charged.length === 0)
    return recorded === undefined
      ? []
      : [`a late payment is recorded (${recorded}): there is none`];
  // The provider returns unconfirmed money by itself.
  const expected = charged.some(([, { reversed }]) => reversed > 0) ? 'reversed' : 'returns';
  if (recorded === expected) return [];
  const mustBeFound =
    outcome.failure_code === 'amount_mismatch' ||
    // Its gateway has the money at once, and shows a person nothing that the service has not given back.
    (outcome.failure_code === 'order_already_paid' && payment.gateway.oneStep) ||
    cameBackLate(payment, statuses, disruptions);
  if (recorded === undefined && !mustBeFound) return [];
  return [`its late payment is recorded as ${recorded ?? 'nothing'}, and must be ${expected}`];
};

/** The payer came back after the end, and nothing that the search needs was down. */
const cameBackLate = (
  payment: CreatedPayment,
  statuses: readonly ReportedStatus[],
  { postgres, temporal }: Disruptions,
): boolean => {
  const decidedAt = findDecided(payment)?.at ?? Infinity;
  return statuses
    .filter(({ status, where }) => where === 'return' && isTerminal(status) && status !== 'paid')
    .filter(({ at }) => at > decidedAt)
    .some(({ at }) =>
      [...postgres, ...temporal].every(({ from, to }) => from > at || to < at - lookMs),
    );
};
