import { cancel } from './cancel.ts';
import { delivery } from './delivery.ts';
import { dispute } from './dispute.ts';
import { end } from './end.ts';
import { lateMoney } from './late-money.ts';
import { opening } from './opening.ts';
import { order } from './order.ts';
import type { Part, Value } from './part.ts';
import { paymentLink } from './payment-link.ts';
import { refund } from './refund.ts';

export type AnyState = Readonly<Record<string, Value>>;

/** Parts of different states in one list: whoever explores them sees a flat row of values. */
const anyPart = <S>(part: Part<S>): Part<AnyState> => part as unknown as Part<AnyState>;

/** Every part, with the bounds that keep its states few. */
export const parts: readonly Part<AnyState>[] = [
  anyPart(opening()),
  anyPart(opening({ candidates: 2 })),
  anyPart(opening({ candidates: 2, dead: true })),
  anyPart(end()),
  anyPart(end({ restores: true })),
  anyPart(delivery()),
  anyPart(lateMoney()),
  anyPart(lateMoney({ restores: true })),
  anyPart(refund()),
  anyPart(refund({ shape: 'two tries' })),
  anyPart(refund({ shape: 'restores' })),
  anyPart(dispute()),
  anyPart(cancel()),
  anyPart(order()),
  anyPart(order({ shape: 'two tries' })),
  anyPart(order({ shape: 'silence' })),
  anyPart(order({ shape: 'calls off' })),
  anyPart(order({ shape: 'restores' })),
  anyPart(paymentLink()),
];

/** Faults that tests plant: the explorer must find each of them. */
export const plantedFaults: readonly { fault: string; part: Part<AnyState> }[] = [
  ...(
    [
      'key checked before the insert',
      'outbox row deleted before the start',
      'a second opening replaces the first',
      'ended although a payer was sent',
    ] as const
  ).map((fault) => ({ fault, part: anyPart(opening({ fault })) })),
  ...(
    [
      'the gateway is switched before the opening is recorded',
      'a refusal after a silence ends the payment',
      'one refusal ends the payment',
      'the next gateway is tried after the payer was sent',
      'the retry records the gateway that it asked, whatever is recorded',
    ] as const
  ).map((fault) => ({ fault, part: anyPart(opening({ fault, candidates: 2 })) })),
  ...(['a silent gateway is asked again and no other'] as const).map((fault) => ({
    fault,
    part: anyPart(opening({ fault, candidates: 2, dead: true })),
  })),
  ...(
    [
      'no compare-and-set',
      'event outside the transaction',
      'nobody looks for late money',
      'a retry does not doubt the try before it',
      'a recheck is forgotten when the payment ends',
      'a recheck joins an inquiry that began before it',
    ] as const
  ).map((fault) => ({ fault, part: anyPart(end({ fault })) })),
  ...(['lost checkout_at taken as never sent'] as const).map((fault) => ({
    fault,
    part: anyPart(end({ fault, restores: true })),
  })),
  ...(
    [
      'round begun without its number',
      'a completed attempt completes again',
      'attempt not in the ledger before the POST',
      'nobody heals an overdue delivery',
    ] as const
  ).map((fault) => ({ fault, part: anyPart(delivery(fault)) })),
  ...(
    [
      'nobody looks for late money',
      'reversed again without asking',
      'a lost answer counts as done',
      'found counts as resolved',
    ] as const
  ).map((fault) => ({ fault, part: anyPart(lateMoney({ fault })) })),
  ...(
    [
      'sum checked before the insert',
      'told again without asking',
      'told is written after the call',
      'a refusal after silence is an outcome',
    ] as const
  ).map((fault) => ({ fault, part: anyPart(refund({ fault })) })),
  ...(['a refusal counts although the retry told again', 'no compare-and-set'] as const).map(
    (fault) => ({ fault, part: anyPart(refund({ fault, shape: 'two tries' })) }),
  ),
  ...(['an untold refund ignores its likeness'] as const).map((fault) => ({
    fault,
    part: anyPart(refund({ fault, shape: 'restores' })),
  })),
  ...(
    [
      'the hold is read before the insert',
      'a refund is told without a look at the hold',
      'a record without its number',
      'nobody looks after an end',
    ] as const
  ).map((fault) => ({ fault, part: anyPart(dispute(fault)) })),
  ...(
    [
      'cancelled without asking the gateway',
      'a refused close counts as closed',
      'silence counts as unpaid',
      'no compare-and-set',
      'a recheck is forgotten when the payment ends',
    ] as const
  ).map((fault) => ({ fault, part: anyPart(cancel(fault)) })),
  ...(
    [
      'the order is read, then claimed',
      'the end does not look at the order',
      'a held claim loses at once',
      'an unpaid end keeps its claim',
      'a whole refund keeps the claim',
      'a lost chargeback keeps the claim',
      'a returned refund claims again',
      'the option is read before the call',
    ] as const
  ).map((fault) => ({ fault, part: anyPart(order({ fault })) })),
  ...(
    ['nobody looks for the money of the loser', 'a refused end forgets what it took'] as const
  ).map((fault) => ({ fault, part: anyPart(order({ fault, shape: 'two tries' })) })),
  ...(
    [
      'a claim is never taken over',
      'captured money takes over no claim',
      'a claim is taken over before its call is over',
    ] as const
  ).map((fault) => ({ fault, part: anyPart(order({ fault, shape: 'silence' })) })),
  ...(
    [
      'the winner calls nobody off',
      'a call-off joins the verification that runs',
      'the opening does not look at the order',
    ] as const
  ).map((fault) => ({ fault, part: anyPart(order({ fault, shape: 'calls off' })) })),
  ...(['a payment loses by what was read before'] as const).map((fault) => ({
    fault,
    part: anyPart(order({ fault, shape: 'restores' })),
  })),
  ...(
    [
      'the link is not read again under its lock',
      'the link is ended by what was read before',
      'the end does not wait for the payment that is open',
      'a disabled link is not paid',
      'the sweeper looks at expired links alone',
      'a payment of the link takes no part in the claim of the order',
    ] as const
  ).map((fault) => ({ fault, part: anyPart(paymentLink(fault)) })),
];
