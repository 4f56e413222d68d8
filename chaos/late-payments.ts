import type { Disruptions } from './disruptions.ts';
import { findDecided } from './gateway-records.ts';
import type { ReportedStatus } from './journal.ts';
import { type CreatedPayment, isTerminal } from './scenarios.ts';

export interface LateEvidence {
  /** The entries of the audit log about the late payment, in order: `found`, and where the money went. */
  audited: readonly string[];
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
  { audited, statuses, disruptions }: LateEvidence,
): string[] => {
  const charged = payment.gateway.entriesFor(payment.id).filter(([, entry]) => entry.charged > 0);
  const entries = audited.join(', ');
  if (outcome.status === 'paid' || charged.length === 0)
    return audited.length === 0
      ? []
      : [`the audit log has a late payment (${entries}): there is none`];
  // The provider returns unconfirmed money by itself.
  const expected = charged.some(([, { reversed }]) => reversed > 0) ? 'reversed' : 'returns';
  if (entries === expected || entries === `found, ${expected}`) return [];
  const mustBeFound =
    outcome.failure_code === 'amount_mismatch' || cameBackLate(payment, statuses, disruptions);
  if (audited.length === 0 && !mustBeFound) return [];
  return [
    `the audit log has its late payment as ${entries || 'nothing'}, and must have ${expected}`,
  ];
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
