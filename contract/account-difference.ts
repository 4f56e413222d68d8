/**
 * The differences that a day's comparison with a gateway's own book can find. The texts are for people; docs/operating/differences.md says
 * what to do about each.
 */
export const accountDifferences = {
  captured_unknown: 'captured at the gateway, unknown here',
  captured_not_paid: 'captured at the gateway, not paid here',
  captured_twice: 'captured twice at the gateway',
  payment_missing: 'paid here, not captured at the gateway',
  amount_differs: 'another amount at the gateway',
  currency_differs: 'another currency at the gateway',
  day_differs: 'more than a day apart',
  refund_unknown: 'refunded at the gateway, not here',
  refunded_twice: 'refunded twice at the gateway',
  refund_missing: 'refunded here, not at the gateway',
  reversal_unknown: 'reversed at the gateway, not here',
  reversal_missing: 'reversed here, not at the gateway',
  fee_differs: 'not the agreed fee',
  balance_differs: 'the lines of the day do not give the balance at the gateway',
  payout_differs: 'a payout that the gateway reported otherwise before',
  kind_unknown: 'moved at the gateway, of a kind that is unknown here',
  not_answered: 'the gateway gave no answer',
} as const;
export type AccountDifferenceKind = keyof typeof accountDifferences;

/** Money that a gateway has captured and that is not paid here. Admins are alerted. */
export const unpaidDifferences = [
  'captured_unknown',
  'captured_not_paid',
] as const satisfies AccountDifferenceKind[];

/** Says what differs, with the gateway's own name of its entry where that alone says it. */
export const describeDifference = ({
  kind,
  theirName,
}: {
  kind: AccountDifferenceKind;
  theirName: string | null;
}): string => [accountDifferences[kind], theirName].filter((text) => text !== null).join(': ');

export const accountDifferenceStates = ['open', 'explained', 'mended'] as const;
export type AccountDifferenceState = (typeof accountDifferenceStates)[number];
