import type { AccountDifferenceState } from '../../contract/account-difference.ts';
import type { BookEntry } from '../../contract/book-entry.ts';
import type { MovementKind } from '../../contract/movement.ts';
import type { PayoutLinesState, PayoutStatus } from '../../contract/payout.ts';

export const movement: Record<MovementKind, string> = {
  payment: 'payment',
  refund: 'refund',
  refund_elsewhere: 'refund outside of the gateway',
  refund_returned: 'refund sent back by the bank',
  late_payment: 'late payment',
  late_reversal: 'late payment reversed',
  fee: 'fee',
  chargeback: 'chargeback',
  chargeback_returned: 'chargeback given back',
  payout: 'payout',
  payout_returned: 'payout that came back',
};

export const payoutStatus: Record<PayoutStatus, string> = {
  on_its_way: 'on its way',
  paid: 'at the bank',
  failed: 'failed',
  cancelled: 'called off',
};

export const payoutLines: Record<PayoutLinesState, string> = {
  listed: 'listed by the gateway',
  later: 'not listed yet',
  never: 'not reported by the gateway',
};

export const statementLine: Record<BookEntry['kind'], string> = {
  payment: 'payment',
  payment_failed: 'payment that failed',
  refund: 'refund',
  refund_returned: 'refund sent back by the bank',
  chargeback: 'dispute',
  fee: 'fee',
  payout: 'payout',
  payout_returned: 'payout that came back',
  own_money: 'own money',
  other: 'other',
};

export const differenceState: Record<AccountDifferenceState, string> = {
  open: 'open',
  explained: 'explained',
  mended: 'mended',
};
