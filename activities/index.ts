import {
  createCompareAccountsActivities,
  type Deps as CompareAccountsDeps,
} from './compare-accounts.ts';
import { createDeliveryActivities, type Deps as DeliveryDeps } from './delivery.ts';
import { createLatePaymentActivities, type Deps as LatePaymentDeps } from './late-payments.ts';
import { createNoticeActivities, type Deps as NoticeDeps } from './notices.ts';
import { createPaymentActivities, type Deps as PaymentDeps } from './payment.ts';
import { createRefundActivities, type Deps as RefundDeps } from './refund-payment.ts';
import { createReplayActivities, type Deps as ReplayDeps } from './replays.ts';
import { createSweepActivity, type Deps as SweepDeps } from './sweep.ts';
import { createWebhookTestActivities, type Deps as WebhookTestDeps } from './webhook-test.ts';

/** Everything that workflows do outside of Temporal. */
export const createActivities = (
  deps: PaymentDeps &
    LatePaymentDeps &
    RefundDeps &
    DeliveryDeps &
    NoticeDeps &
    ReplayDeps &
    SweepDeps &
    CompareAccountsDeps &
    WebhookTestDeps,
) => ({
  ...createPaymentActivities(deps),
  ...createLatePaymentActivities(deps),
  ...createRefundActivities(deps),
  ...createDeliveryActivities(deps),
  ...createNoticeActivities(deps),
  ...createReplayActivities(deps),
  ...createSweepActivity(deps),
  ...createCompareAccountsActivities(deps),
  ...createWebhookTestActivities(deps),
});
export type Activities = ReturnType<typeof createActivities>;
