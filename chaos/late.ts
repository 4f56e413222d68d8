import { decidedOn } from './books.ts';
import type { Showing } from './journal.ts';
import type { Absences } from './recovery.ts';
import type { Created } from './wishes.ts';
import { isTerminal } from './wishes.ts';

/** What is known of a payment's late money beside the gateway's books. */
export interface LateEvidence {
  /** In the audit log, in order: `found`, and where it went. */
  written: readonly string[];
  /** What the payer and the application were told. */
  shown: readonly Showing[];
  absences: Absences;
}

/** How long a return may take, and the engine to be itself again. */
const lookMs = 15_000;

/** Where money that came for a payment that is not paid was not looked after, or not truly. */
export const lateProblems = (
  payment: Created,
  ended: { status: string; failure_code: string | null },
  { written, shown, absences }: LateEvidence,
): string[] => {
  const { gateway, id } = payment;
  const charged = gateway.entriesOf(id).filter(([, { charged: times }]) => times > 0);
  const said = written.join(', ');
  if (ended.status === 'paid' || charged.length === 0)
    return written.length === 0
      ? []
      : [`the audit log has its late money (${said}): there is none`];
  // What is not confirmed goes back by itself.
  const right = charged.some(([, { reversed }]) => reversed > 0) ? 'reversed' : 'returns';
  if (said === right || said === `found, ${right}`) return [];
  const mustBeFound =
    ended.failure_code === 'amount_mismatch' || wasHeard(payment, shown, absences);
  if (written.length === 0 && !mustBeFound) return [];
  return [`the audit log has its late money as ${said || 'nothing'}, and must have it as ${right}`];
};

/** Its payer came back after the end, and nothing was away that the search for the money begins with. */
const wasHeard = (
  payment: Created,
  shown: readonly Showing[],
  { postgres, temporal }: Absences,
): boolean => {
  const decidedAt = decidedOn(payment)?.decision.at ?? Infinity;
  return shown
    .filter(({ status, where }) => where === 'return' && isTerminal(status) && status !== 'paid')
    .filter(({ at }) => at > decidedAt)
    .some(({ at }) =>
      [...postgres, ...temporal].every(({ from, to }) => from > at || to < at - lookMs),
    );
};
