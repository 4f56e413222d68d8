import { amountProblem } from './amount.ts';
import { findDriver } from './registry.ts';
import { sandbox } from './sandbox.ts';

/** The payments that a gateway takes and the refunds that it makes, for applications. */
export interface GatewayTerms {
  currencies: { currency: string; min: number; max: number; step: number }[];
  expires_in: { min: number; max: number };
  refunds: { partial: boolean; least: number } | null;
}

/** Why a gateway takes no new payment, whatever the payment is; undefined: it takes some. */
export const problemWithGateway = ({
  driver: name,
  enabled,
  hasCredentials,
}: {
  driver: string;
  enabled: boolean;
  hasCredentials: boolean;
}): string | undefined => {
  const driver = findDriver(name);
  if (!driver) return 'has a driver that this version does not have';
  if (!enabled) return 'is disabled';
  return hasCredentials || driver === sandbox ? undefined : 'has no credentials';
};

/** @returns undefined for a driver that this version does not have */
export const termsOf = (
  driver: string,
  { hasRefundCredentials }: { hasRefundCredentials: boolean },
): GatewayTerms | undefined => {
  const capabilities = findDriver(driver)?.capabilities;
  if (!capabilities) return undefined;
  const { currencies, expirySeconds, refund, reversal } = capabilities;
  const hasRefunds = refund && (refund.credentials === null || hasRefundCredentials);
  return {
    currencies: [...currencies].map(([currency, { min, max, step }]) => ({
      currency,
      min,
      max,
      step,
    })),
    expires_in: { ...expirySeconds },
    refunds: hasRefunds
      ? { partial: refund.partial, least: refund.least }
      : // The payment is undone as a whole.
        reversal && { partial: false, least: 1 },
  };
};

/** The terms of the currency alone, if there is one, that take the amount. */
export const takenOf = (
  { currencies, ...terms }: GatewayTerms,
  { currency, amount }: { currency?: string | undefined; amount?: number | undefined },
): GatewayTerms => ({
  ...terms,
  currencies: currencies.filter(
    (each) =>
      (currency === undefined || each.currency === currency) &&
      (amount === undefined || amountProblem(each, amount) === undefined),
  ),
});
