import { createDeliveryActivities, type Deps as DeliveryDeps } from './delivery.ts';
import { createLatePaymentActivities, type Deps as LatePaymentDeps } from './late-payments.ts';
import { createPaymentActivities, type Deps as PaymentDeps } from './payment.ts';
import { createSweepActivity, type Deps as SweepDeps } from './sweep.ts';

/** Everything that workflows do outside of Temporal. */
export const createActivities = (
  deps: PaymentDeps & LatePaymentDeps & DeliveryDeps & SweepDeps,
) => ({
  ...createPaymentActivities(deps),
  ...createLatePaymentActivities(deps),
  ...createDeliveryActivities(deps),
  ...createSweepActivity(deps),
});
export type Activities = ReturnType<typeof createActivities>;
