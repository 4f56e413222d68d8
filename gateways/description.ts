import type { GatewayPayment } from './gateway.ts';

/**
 * The description for the provider: trimmed and without control characters, which providers refuse as a
 * fault of the account. The id of the payment if nothing is visible.
 */
export const describePayment = ({
  id,
  description,
}: Pick<GatewayPayment, 'id' | 'description'>): string => {
  const cleaned = (description ?? '').replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ').trim();
  // Marks and format characters belong to the words of some languages, but are nothing without them.
  return /[\p{L}\p{N}\p{P}\p{S}]/u.test(cleaned) ? cleaned : id;
};
