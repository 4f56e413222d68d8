import type { Deps as DeliveryDeps } from './delivery.ts';
import { createDeliveryActivities } from './delivery.ts';
import type { Deps as LateDeps } from './late.ts';
import { createLateActivities } from './late.ts';
import type { Deps as PaymentDeps } from './payment.ts';
import { createPaymentActivities } from './payment.ts';
import type { Deps as SweepDeps } from './sweep.ts';
import { createSweepActivities } from './sweep.ts';

/** Everything a workflow may do to the world. */
export const createActivities = (deps: PaymentDeps & LateDeps & DeliveryDeps & SweepDeps) => ({
  ...createPaymentActivities(deps),
  ...createLateActivities(deps),
  ...createDeliveryActivities(deps),
  ...createSweepActivities(deps),
});
export type Activities = ReturnType<typeof createActivities>;
