import type { Case } from './fixture.ts';

interface Bank {
  book: ReadonlyMap<string, { paymentId: string }>;
  pay(reference: string): void;
  /** The response to the next verification names this payment. */
  mistakeOnce(paymentId: string): void;
}

/** For a provider whose responses name their payment. */
export const otherPaymentCases = <P extends Bank>(): Case<P>[] => [
  {
    name: 'throws when the response is about another payment',
    arrange(bank, reference) {
      bank.pay(reference);
      const entry = bank.book.get(reference);
      if (entry) entry.paymentId = 'PAY_another';
    },
    inquire: 'no_answer',
    verify: 'no_answer',
  },
  {
    name: 'accepts a response that names no payment',
    arrange(bank, reference) {
      bank.pay(reference);
      const entry = bank.book.get(reference);
      if (entry) entry.paymentId = '';
    },
    inquire: { state: 'processing' },
    verify: { state: 'paid' },
  },
  {
    name: 'throws when the verification is about another payment',
    arrange(bank, reference) {
      bank.pay(reference);
      bank.mistakeOnce('PAY_another');
    },
    inquire: { state: 'processing' },
    verify: 'no_answer',
  },
];
