import type { GatewayExchange } from '../contract/gateway-exchange.ts';
import type { VerificationResult, WaitingAnswer } from '../contract/status.ts';
import { findDriver } from '../gateways/registry.ts';
import type { PaymentOutcomes, PaymentWithAccount } from '../postgres/payment-outcomes.ts';
import { createFinalizer, type Deps as FinalizerDeps } from './finalize.ts';
import { findPayment } from './find-payment.ts';

export interface Deps extends FinalizerDeps {
  paymentOutcomes: PaymentOutcomes;
}

/** Records a verification without an outcome. */
export const createRecordWaiting = (deps: Deps) => {
  const { paymentOutcomes, now } = deps;
  const { afterFinalized } = createFinalizer(deps);
  return async (
    { id, driver }: PaymentWithAccount,
    answer: WaitingAnswer,
    {
      becomesProcessing,
      exchanges,
    }: { becomesProcessing: boolean; exchanges: readonly GatewayExchange[] },
  ): Promise<VerificationResult> => {
    const isTwoStep = findDriver(driver)?.capabilities.twoStepVerify === true;
    const inquiry = { answer, isTwoStep, becomesProcessing, now: now(), exchanges };
    if (await paymentOutcomes.recordInquiry(id, inquiry)) return { kind: answer };
    return afterFinalized(await findPayment(paymentOutcomes, id));
  };
};
