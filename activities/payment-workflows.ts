import type { WorkflowStart } from '../contract/payment.ts';

/** What activities do to workflows; the worker hands it in, made of the engine's client. */
export interface PaymentWorkflows {
  /**
   * Starts a payment's workflow. `again`: also where an earlier run has closed. Harmless when it runs.
   * `traceId`: its log lines carry it.
   */
  start(facts: WorkflowStart, how: { again: boolean; traceId?: string | null }): Promise<void>;
  /** Tells a payment's workflow that there is news of it, and starts it where it is gone. */
  tell(facts: WorkflowStart): Promise<void>;
  /** Has somebody look for money that came after the payment's end. Harmless when that runs. */
  startLate(paymentId: string): Promise<void>;
}
