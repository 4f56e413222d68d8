import type { Money } from '../../../gateways/amount.ts';
import type { Entry, Provider } from '../../fakes/server.ts';
import type { Case, Expected, ProviderFixture, RefusalCase } from './fixture.ts';

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

/** What a gateway for Rials alone rejects. */
export const otherThanRials: ProviderFixture<Provider>['rejected'] = [
  [{ amount: 1_250, currency: 'USD' }, 'gateway_currency'],
  [{ amount: 500, currency: 'JPY' }, 'gateway_currency'],
  [{ amount: 1_250, currency: 'KWD' }, 'gateway_currency'],
];

/** Amounts that are the same on the wire. */
export const unchanged = (...all: Money[]): [Money, Money][] => all.map((each) => [each, each]);

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

interface Refusing extends Book {
  refuse(name: string, ...codes: number[]): void;
}

/** A paid payment, about which a call is refused with each of these codes. */
export const refuses =
  (name: 'inquiry' | 'verify', ...codes: number[]) =>
  (verify: Expected): Case<Refusing>[] =>
    codes.map((code) => ({
      name: `${name} is refused with ${code}`,
      arrange(bank, reference) {
        bank.pay(reference);
        // One refusal for `inquire` and one for `verify`.
        bank.refuse(name, ...(name === 'inquiry' ? [code, code] : [code]));
      },
      inquire: name === 'inquiry' ? 'no_answer' : { state: 'processing' },
      verify,
    }));

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
