import type { Deps as DeliveryDeps } from './delivery.ts';
import { createDeliveryActivities } from './delivery.ts';
import type { Deps as LateDeps } from './late-payments.ts';
import { createLateActivities } from './late-payments.ts';
import type { Deps as PaymentDeps } from './payment.ts';
import { createPaymentActivities } from './payment.ts';
import type { Deps as SweepDeps } from './sweeper.ts';
import { createSweeperActivities } from './sweeper.ts';

/** Everything a workflow may do to the world. */
export const createActivities = (deps: PaymentDeps & LateDeps & DeliveryDeps & SweepDeps) => ({
  ...createPaymentActivities(deps),
  ...createLateActivities(deps),
  ...createDeliveryActivities(deps),
  ...createSweeperActivities(deps),
});
export type Activities = ReturnType<typeof createActivities>;
