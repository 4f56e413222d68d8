import type { Entry } from '../../fakes/server.ts';
import type { Case, Expected, RefusalCase } from './fixture.ts';

/** An inquiry and a verification return the same. */
export const bothReturn = <P>(
  name: string,
  arrange: Case<P>['arrange'],
  expected: Expected,
): Case<P> => ({ name, arrange, inquire: expected, verify: expected });

/** Money is there, so an inquiry returns processing. The verification says what becomes of it. */
export const verifyReturns = <P>(
  name: string,
  arrange: Case<P>['arrange'],
  verify: Expected,
): Case<P> => ({ name, arrange, inquire: { state: 'processing' }, verify });

/** A call is refused with each of these codes. */
export const refusedWith = <P>(
  codes: readonly number[],
  refuse: (bank: P, code: number) => void,
  expected: RefusalCase<P>[2] | ((code: number) => object),
): RefusalCase<P>[] =>
  codes.map((code) => [
    String(code),
    (bank) => refuse(bank, code),
    typeof expected === 'function' ? expected(code) : expected,
  ]);

interface Book {
  book: ReadonlyMap<string, Entry>;
  pay(reference: string): void;
}

/** The payer pays, and the provider shows these facts of it. */
export const paidAs =
  (facts: Partial<Entry>) =>
  (bank: Book, reference: string): void => {
    bank.pay(reference);
    Object.assign(bank.book.get(reference) ?? {}, facts);
  };

/** The payer pays, and then something happens at the provider. */
export const paidThen =
  <B extends Book>(happens: (bank: B, reference: string) => void) =>
  (bank: B, reference: string): void => {
    bank.pay(reference);
    happens(bank, reference);
  };

interface Bank extends Book {
  /** The response to the next verification names this payment. */
  mistakeOnce(paymentId: string): void;
}

/** For a provider whose responses name their payment. */
export const otherPaymentCases = <P extends Bank>(): Case<P>[] => [
  bothReturn(
    'throws when the response is about another payment',
    paidAs({ paymentId: 'PAY_another' }),
    'no_answer',
  ),
  verifyReturns('accepts a response that names no payment', paidAs({ paymentId: '' }), {
    state: 'paid',
  }),
  verifyReturns(
    'throws when the verification is about another payment',
    (bank, reference) => {
      bank.pay(reference);
      bank.mistakeOnce('PAY_another');
    },
    'no_answer',
  ),
];
