import type { Filters } from '../../../contract/list.ts';
import type { ListDisputes } from '../../../contract/list-disputes.ts';
import type { ListEvents } from '../../../contract/list-events.ts';
import type { ListMovements } from '../../../contract/list-movements.ts';

export const everyMovement: Filters<ListMovements> = {
  kind: null,
  paymentId: null,
  from: null,
  to: null,
};

export const everyDispute: Filters<ListDisputes> = {
  status: null,
  stage: null,
  paymentId: null,
  from: null,
  to: null,
};

export const everyEvent: Filters<ListEvents> = {
  event: null,
  delivery: null,
  paymentId: null,
  orderId: null,
  from: null,
  to: null,
  order: 'desc',
  include: null,
};

/** Everything that a list of the audit log can filter by, but the thing. */
export const anAuditSlice = {
  subject: null,
  actor: 'ada',
  hidden: ['console.login'],
  text: { part: 'leaked', actions: ['token.revoke'] },
  from: new Date(Date.now() - 3_600_000),
  to: new Date(),
  before: 1_000,
  limit: 50,
} as const;
