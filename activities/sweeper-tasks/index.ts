import { createDisputeTask, type Deps as DisputeDeps } from './disputes.ts';
import { createHealingTask, type Deps as HealingDeps } from './healing.ts';
import { createIdempotencyKeyTask, type Deps as IdempotencyKeyDeps } from './idempotency-keys.ts';
import { createInquiryTask, type Deps as InquiryDeps } from './inquiries.ts';
import { createLinkTask, type Deps as LinkDeps } from '../links.ts';
import { createOutboxTask, type Deps as OutboxDeps } from './outbox.ts';
import { createPayerTask, type Deps as PayerDeps } from './payers.ts';
import { createPayoutTask, type Deps as PayoutDeps } from './payouts.ts';
import {
  createPostponedDeliveryTask,
  type Deps as PostponedDeliveryDeps,
} from './postponed-deliveries.ts';
import { createReceiverTask, type Deps as ReceiverDeps } from './receivers.ts';
import { createRenewalTask, type Deps as RenewalDeps } from './renewals.ts';

export type Deps = OutboxDeps &
  InquiryDeps &
  HealingDeps &
  PostponedDeliveryDeps &
  IdempotencyKeyDeps &
  PayerDeps &
  DisputeDeps &
  PayoutDeps &
  LinkDeps &
  ReceiverDeps &
  RenewalDeps;

/**
 * The tasks of a sweep. Each works on a bounded batch, oldest first, returns how much it did, and is safe
 * to run twice. Metrics and alerts carry their names.
 */
export const createSweeperTasks = (deps: Deps) => {
  const { inquireAtGateways } = createInquiryTask(deps);
  return {
    ...createOutboxTask(deps),
    inquireAtGateways,
    ...createHealingTask(deps),
    ...createPostponedDeliveryTask(deps),
    ...createIdempotencyKeyTask(deps),
    ...createPayerTask(deps),
    ...createDisputeTask(deps),
    ...createPayoutTask(deps),
    ...createLinkTask(deps),
    ...createReceiverTask(deps),
    ...createRenewalTask(deps),
  };
};
export type SweeperTasks = ReturnType<typeof createSweeperTasks>;
