import type { GatewayExchange } from '../contract/gateway-exchange.ts';
import type { RecordedAccount } from '../contract/gateway-account.ts';
import { returnUrl } from '../contract/payment-fields.ts';
import type { Payment } from '../contract/payment.ts';
import type { AdapterOf } from '../gateways/adapters.ts';
import { GatewayUnavailable } from '../gateways/errors.ts';
import type { GatewayAdapter, GatewayStatus, MayTake, OpenedPayment } from '../gateways/gateway.ts';
import type { Orders } from '../postgres/orders.ts';
import type { PaymentWithAccount } from '../postgres/payments/outcomes.ts';
import { gatewayBusy } from '../temporal/failures.ts';
import type { Bulkhead } from './bulkhead.ts';

/**
 * Runs work that calls a payment's gateway in one of the gateway's slots, so that a slow gateway does not
 * use up the worker's slots.
 * @throws ApplicationFailure GatewayBusy if all slots are in use; then nothing has been done
 */
export const withGatewaySlot = async <T>(
  bulkhead: Bulkhead,
  { id, gateway }: Pick<Payment, 'id' | 'gateway'>,
  work: () => Promise<T>,
  options?: { withinMs: number },
): Promise<T> => {
  const slot = bulkhead.acquire(gateway, id, options);
  if (!slot.acquired) throw gatewayBusy(gateway, slot.retryAfterMs);
  try {
    return await work();
  } finally {
    slot.free();
  }
};

/** The result of calls to a gateway, with a record of each call for admins. */
export interface Exchanged<T> {
  result: T;
  exchanges: GatewayExchange[];
}

/** A fault of our own ended the calls. The exchanges until then are still known. */
export interface Faulted {
  fault: unknown;
  exchanges: GatewayExchange[];
}

/** Makes an adapter for the account, calls it, and returns the result with the exchanges. */
export const exchangeWith = async <T>(
  gatewayOf: AdapterOf,
  account: RecordedAccount,
  call: (gateway: GatewayAdapter) => Promise<T>,
  tryMs?: number,
): Promise<Exchanged<T> | Faulted> => {
  const exchanges: GatewayExchange[] = [];
  try {
    const gateway = gatewayOf(account, (exchange) => exchanges.push(exchange), tryMs);
    return { result: await call(gateway), exchanges };
  } catch (fault) {
    return { fault, exchanges };
  }
};

/**
 * Calls the gateway in one of its slots, and returns the result with the exchanges.
 * @throws ApplicationFailure GatewayBusy; a fault of our own
 */
export const callInSlot = <T>(
  { gatewayOf, gatewayBulkhead }: { gatewayOf: AdapterOf; gatewayBulkhead: Bulkhead },
  payment: RecordedAccount & Pick<Payment, 'id' | 'gateway'>,
  call: (gateway: GatewayAdapter) => Promise<T>,
  options?: { withinMs: number; tryMs?: number | undefined },
): Promise<Exchanged<T>> =>
  withGatewaySlot(
    gatewayBulkhead,
    payment,
    async () => {
      const exchanged = await exchangeWith(gatewayOf, payment, call, options?.tryMs);
      if ('fault' in exchanged) throw exchanged.fault;
      return exchanged;
    },
    options,
  );

/** The gateway gave no usable answer, which is never an outcome. */
export interface Unanswered {
  state: 'unknown';
  reason: string;
}

/** Returns the gateway's answer, or `unknown` if it gave no usable one. */
export const unknownIfSilent = async <T>(call: () => Promise<T>): Promise<T | Unanswered> => {
  try {
    return await call();
  } catch (error) {
    if (error instanceof GatewayUnavailable) return { state: 'unknown', reason: error.message };
    throw error;
  }
};

/** The money of a payment is taken only if it holds its order, where at most one payment of an order may be paid. */
export const mayTakeOnce = (
  { orders }: { orders: Pick<Orders, 'claim'> },
  { id, isPaidOnce }: PaymentWithAccount,
): MayTake => (isPaidOnce ? () => orders.claim(id) : undefined);

/** Verifies with the gateway. */
export const verifyAt = (
  gateway: GatewayAdapter,
  opened: OpenedPayment,
  mayTake: MayTake,
): Promise<GatewayStatus | Unanswered> => unknownIfSilent(() => gateway.verify(opened, mayTake));

/** Makes the payment unpayable if the gateway can, and asks again if it did not confirm that. */
export const closeAt = async (
  gateway: GatewayAdapter,
  opened: OpenedPayment,
  mayTake: MayTake,
): Promise<GatewayStatus | Unanswered> => {
  const closed = gateway.expire
    ? await unknownIfSilent(async () => gateway.expire?.(opened))
    : true;
  if (closed === true) return { state: 'expired' };
  const answer = await verifyAt(gateway, opened, mayTake);
  // Some gateways show our closing, whose answer was lost, as a cancel.
  return closed !== false && answer.state === 'cancelled' ? { state: 'expired' } : answer;
};

/** A payment as its gateway needs it to open it. */
export const toGateway = (
  payment: Payment & { displayName?: string | null },
  publicBaseUrl: string,
) => ({
  id: payment.id,
  amount: payment.amount,
  currency: payment.currency,
  description: payment.description,
  displayName: payment.displayName ?? null,
  expiresAt: payment.expiresAt,
  returnUrl: returnUrl(payment.id, publicBaseUrl),
});

/** An opened payment as its gateway needs it. */
export const toOpenedPayment = (
  payment: Payment & Pick<PaymentWithAccount, 'returnProof'>,
  reference: string,
  publicBaseUrl: string,
): OpenedPayment => ({
  ...toGateway(payment, publicBaseUrl),
  reference,
  trackingCode: payment.trackingCode,
  returnProof: payment.returnProof,
});

/** Whether the gateway may still capture the money: it answered a verification with `processing`. */
export const mayStillCapture = (exchanges: readonly GatewayExchange[]): boolean =>
  hasVerification(exchanges, ['processing']);

/** Whether a try has asked the gateway to open the payment. */
export const wasSentToOpen = (exchanges: readonly GatewayExchange[]): boolean =>
  exchanges.some(({ operation }) => operation === 'open');

/** Whether a verification has captured the money. */
export const hasCaptured = (exchanges: readonly GatewayExchange[]): boolean =>
  hasVerification(exchanges, ['paid']);

/**
 * Whether the gateway may have captured the money of a payment that is not paid: a verification got no
 * answer, `processing` or `paid`, whatever later calls said.
 */
export const mayHaveCaptured = (exchanges: readonly GatewayExchange[]): boolean =>
  hasVerification(exchanges, ['processing', 'no_answer', 'paid']);

const hasVerification = (
  exchanges: readonly GatewayExchange[],
  results: readonly string[],
): boolean =>
  exchanges.some(({ operation, result }) => operation === 'verify' && results.includes(result));
