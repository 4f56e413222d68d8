import type { KnownRefund, OpenedPayment } from './gateway.ts';

/** A refund of which the gateway says no more than this. The amount is in minor units. */
export const knownRefund = (
  reference: string,
  { currency }: Pick<OpenedPayment, 'currency'>,
  amount: number,
): Omit<KnownRefund, 'state'> => ({
  reference,
  refundId: null,
  amount,
  currency,
  failureCode: null,
  code: null,
  message: null,
  bankReference: null,
  expectedAt: null,
  createdAt: null,
});

/** The gateway has undone the payment. It has no id for that. */
export const reversedPayment = (payment: OpenedPayment): KnownRefund => ({
  ...knownRefund(`reversal-${payment.reference}`, payment, payment.amount),
  state: 'succeeded',
});

/** The reference of a refund that a gateway carries out as several, in parts with ids of their own. */
export const joinReferences = (ids: readonly string[]): string => ids.toSorted().join(',');

/** Puts the parts of one refund together, by the references of ours. Any other part is a refund. */
export const groupParts = <Part>(
  parts: readonly Part[],
  references: readonly string[],
  idOf: (part: Part) => string,
): Part[][] =>
  Object.values(
    Object.groupBy(
      parts,
      (part) => references.find((each) => each.split(',').includes(idOf(part))) ?? idOf(part),
    ),
  ).filter((group) => group !== undefined);
