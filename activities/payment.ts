import { createCancelPayment } from './cancel-payment.ts';
import { createExpirePayment } from './expire-payment.ts';
import { createOpenPayment, type Deps as OpenDeps } from './open-payment.ts';
import { createVerifyPayment, type Deps as VerifyDeps } from './verify-payment.ts';

export type Deps = OpenDeps & VerifyDeps;

/** Activities of a payment's workflow at the gateway, from the opening to the end. */
export const createPaymentActivities = (deps: Deps) => ({
  ...createOpenPayment(deps),
  ...createVerifyPayment(deps),
  ...createCancelPayment(deps),
  ...createExpirePayment(deps),
});
