import type { DisputeStage, DisputeStatus } from '../../contract/dispute.ts';

export const disputeStage: Record<DisputeStage, string> = {
  inquiry: 'inquiry',
  chargeback: 'chargeback',
};

/** `closed`: an inquiry has ended, or the gateway has prevented a chargeback. */
export const disputeStatus: Record<DisputeStatus, string> = {
  needs_response: 'needs an answer',
  under_review: 'answered, not decided yet',
  won: 'won',
  lost: 'lost',
  closed: 'closed',
};
