import type { Scene } from './subject.ts';

interface Bank {
  book: ReadonlyMap<string, { paymentId: string }>;
  pay(reference: string): void;
  /** Its next verification answers about this payment. */
  mistakeOnce(paymentId: string): void;
}

/** Of a provider whose answers name the payment that they are about. */
export const answersAboutAnother = <P extends Bank>(): Scene<P>[] => [
  {
    what: 'FS-08: an answer about another payment is none',
    play(bank, reference) {
      bank.pay(reference);
      const entry = bank.book.get(reference);
      if (entry) entry.paymentId = 'PAY_another';
    },
    inquire: 'no_answer',
    verify: 'no_answer',
  },
  {
    what: 'an answer that names no payment is about the one that was asked about',
    play(bank, reference) {
      bank.pay(reference);
      const entry = bank.book.get(reference);
      if (entry) entry.paymentId = '';
    },
    inquire: { state: 'processing' },
    verify: { state: 'paid' },
  },
  {
    what: 'FS-08: a verification that answers about another payment is none',
    play(bank, reference) {
      bank.pay(reference);
      bank.mistakeOnce('PAY_another');
    },
    inquire: { state: 'processing' },
    verify: 'no_answer',
  },
];
