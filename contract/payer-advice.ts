import { type FailureCode, type NextStep, nextStep } from './failure-codes.ts';
import type { Language } from './languages.ts';
import { amountText } from './payer-amount.ts';
import json from './payer-advice.json' with { type: 'json' };
import type { Payment } from './payment-fields.ts';
import { isTerminal } from './status.ts';

type AdviceName = keyof typeof json | `failure_${FailureCode}` | `next_${NextStep}`;

/** Every sentence of an advice. A sentence that lacks a language does not compile. */
export const adviceTexts: Readonly<Record<AdviceName, Readonly<Record<Language, string>>>> = {
  ...json,
  failure_suspected_fraud: json.failure_card_declined, // Nothing tells a payer that fraud is suspected.
};

/** The longest time after which the money of a payment that is not paid is usually back. */
export type ReturnTime = { minutes: number } | { days: number };

/** The facts that an advice depends on. */
export interface Advised extends Pick<
  Payment,
  | 'status'
  | 'failureCode'
  | 'cancelledBy'
  | 'updatedAt'
  | 'currency'
  | 'amountRefunded'
  | 'amountRefundPending'
> {
  /** Only a payer who was sent to the gateway can have paid. */
  payerSent: boolean;
  /** When money was found after the end. */
  moneyFoundAt: Date | null;
  /** A person has to find out where the money is. */
  isInDoubt: boolean;
  /** By another payment, whose money has not gone back. */
  isOrderPaid: boolean;
  /** The gateway has this one; undefined: this version does not know the gateway. */
  returnTime: ReturnTime | undefined;
}

const isOver = (since: Date, time: ReturnTime, now: Date): boolean => {
  const minutes = 'days' in time ? time.days * 24 * 60 : time.minutes;
  return now.getTime() - since.getTime() > minutes * 60_000;
};

const outcomeOf = ({ status, failureCode, cancelledBy }: Advised): AdviceName[] => {
  if (status !== 'failed') {
    const isPayersChoice = status === 'expired' || cancelledBy === 'payer';
    return [`advice_${status}`, ...(isPayersChoice ? (['next_retry'] as const) : [])];
  }
  const code = failureCode ?? 'unknown';
  const reason = `failure_${code}` as const;
  // A newer version may have recorded a code that is unknown here.
  return [reason in adviceTexts ? reason : 'failure_unknown', `next_${nextStep(code)}`];
};

/** The advice asks nobody to pay again for an order that is paid. */
const nextOf = (payment: Advised): AdviceName[] => {
  const names = outcomeOf(payment);
  const isSaid = names.includes('failure_order_already_paid');
  if (!payment.isOrderPaid || isSaid || !isTerminal(payment.status) || payment.status === 'paid')
    return names;
  const [outcome] = names;
  return [...(outcome ? [outcome] : []), 'failure_order_already_paid', 'next_nothing'];
};

const moneyOf = (payment: Advised, now: Date): AdviceName | undefined => {
  const { status, payerSent, isInDoubt, moneyFoundAt, updatedAt, returnTime } = payment;
  if (!isTerminal(status) || status === 'paid') return undefined;
  if (isInDoubt) return 'money_by_hand';
  if (!payerSent || returnTime === undefined) return undefined;
  if (isOver(moneyFoundAt ?? updatedAt, returnTime, now)) return 'money_is_back';
  return moneyFoundAt === null ? 'money_if_taken' : 'money_on_its_way';
};

const refundsOf = (
  { amountRefundPending, amountRefunded, currency }: Advised,
  language: Language,
): string[] =>
  [['refund_in_process', amountRefundPending] as const, ['refund_done', amountRefunded] as const]
    .filter(([, amount]) => amount > 0)
    .map(([name, amount]) =>
      adviceTexts[name][language].replace('{amount}', amountText(language, { amount, currency })),
    );

/** The payer should know and do this now, in whole sentences. No name or id is in them. */
export const payerAdvice = (payment: Advised, language: Language, now: Date): string[] => {
  const money = moneyOf(payment, now);
  const { returnTime = { minutes: 0 } } = payment;
  const time = new Intl.DurationFormat(language, { style: 'long' }).format(returnTime);
  const names = [...nextOf(payment), ...(money ? [money] : [])];
  return [
    ...names.map((name) => adviceTexts[name][language].replace('{time}', time)),
    ...refundsOf(payment, language),
  ];
};
