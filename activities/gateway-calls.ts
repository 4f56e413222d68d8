import { ApplicationFailure, ApplicationFailureCategory } from '@temporalio/common';
import type { GatewayExchange } from '../contract/gateway-exchange.ts';
import { gatewayBusy } from '../temporal/failure-types.ts';
import type { Payment } from '../contract/payment.ts';
import type { OpenedPayment } from '../gateways/gateway.ts';
import { GatewayUnavailable } from '../gateways/errors.ts';
import type { Bulkhead } from './bulkhead.ts';

/**
 * Work at a payment's gateway, so much at once at each: a slow one holds its own places, not all of
 * the worker's.
 * @throws ApplicationFailure GATEWAY_BUSY where there is no place: nothing was done, the engine repeats
 */
export const withGatewaySlot = async <T>(
  places: Bulkhead,
  { id, gateway }: Pick<Payment, 'id' | 'gateway'>,
  work: () => Promise<T>,
  how?: { withinMs: number },
): Promise<T> => {
  const place = places.take(gateway, id, how);
  if (!place.entered) throw busy(gateway, place.retryAfterMs);
  try {
    return await work();
  } finally {
    place.leave();
  }
};

const busy = (gateway: string, nextRetryDelay: number) =>
  ApplicationFailure.create({
    type: gatewayBusy,
    message: `Other payments take all places at ${gateway}`,
    nextRetryDelay,
    category: ApplicationFailureCategory.BENIGN,
  });

const unknown = { state: 'unknown' } as const;

/** What the call says; `unknown` where the gateway gave no usable answer. */
export const orUnknown = async <T>(call: () => Promise<T>): Promise<T | typeof unknown> => {
  try {
    return await call();
  } catch (error) {
    if (error instanceof GatewayUnavailable) return unknown;
    throw error;
  }
};

export const toGateway = (payment: Payment, publicBaseUrl: string) => ({
  id: payment.id,
  amount: payment.amount,
  currency: payment.currency,
  description: payment.description,
  expiresAt: payment.expiresAt,
  returnUrl: `${publicBaseUrl}/api/v1/payments/${payment.id}/return`,
});

/** A payment in the shape its gateway is asked about. */
export const toOpened = (
  payment: Payment,
  reference: string,
  publicBaseUrl: string,
): OpenedPayment => ({ ...toGateway(payment, publicBaseUrl), reference });

/** Whether a verification was answered as under way: it may take the money after the payment's end. */
export const mayYetBeTaken = (exchanges: readonly GatewayExchange[]): boolean =>
  wasVerified(exchanges, ['processing']);

/**
 * Whether a verification was answered as under way, with yes, or not at all: it may have taken the money
 * of a payment that is not paid, whatever was said of it since.
 */
export const wasInDoubt = (exchanges: readonly GatewayExchange[]): boolean =>
  wasVerified(exchanges, ['processing', 'no_answer', 'paid']);

const wasVerified = (exchanges: readonly GatewayExchange[], results: readonly string[]): boolean =>
  exchanges.some(({ operation, result }) => operation === 'verify' && results.includes(result));
