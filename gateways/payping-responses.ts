import { z } from 'zod';
import type { FailureCode } from '../contract/failure-codes.ts';
import type { ReportedFee } from '../contract/reported-fee.ts';
import type { CurrencyTerms } from './amount.ts';
import { fromWire, type Money } from './amount.ts';
import type { HttpResponse } from './call.ts';
import { parseResponse } from './call.ts';
import { GatewayUnavailable } from './errors.ts';
import type { GatewayStatus, OpenedPayment, OpenResult, Reversal } from './gateway.ts';
import { failed, maskedPan, providerMessage } from './redact.ts';
import { FeeField, reportedFee } from './reported-fee.ts';

/**
 * Whole tomans of ten rials each. The bounds are those of PayPing's own sample, 1,000 and 50,000,000 tomans. Two independent
 * clients allow 200,000,000; a create above the lower of both is refused before a payer sees it.
 */
export const paypingCurrencies: ReadonlyMap<string, CurrencyTerms> = new Map([
  ['IRR', { wireExponent: -1, min: 10_000, max: 500_000_000, step: 10 }],
]);

/** Ignores the case of names: PayPing's document has both `amount` and `Amount` for one field. */
const inAnyCase = <Shape extends z.ZodRawShape>(shape: Shape) => {
  const names = new Map(Object.keys(shape).map((name) => [name.toLowerCase(), name]));
  return z.preprocess(
    (body) =>
      typeof body === 'object' && body !== null
        ? Object.fromEntries(
            Object.entries(body).map(([key, value]) => [
              names.get(key.toLowerCase()) ?? key,
              value,
            ]),
          )
        : body,
    z.object(shape),
  );
};

const Code = z.string().regex(/^[\x21-\x7e]{1,100}$/);
const RefId = z.union([z.int().positive(), z.string().regex(/^[1-9]\d{0,14}$/)]);
export const Opened = inAnyCase({ paymentCode: Code });
export const statuses = {
  created: 0,
  verified: 1,
  atBank: 2,
  cancelled: 3,
  bankFailed: 4,
  awaiting: 5,
};
export const Report = inAnyCase({
  amount: z.int().positive(),
  clientRefId: z.string().nullish(),
  paymentStatus: z.literal(Object.values(statuses)),
  // Empty until the payer has paid.
  refId: z.union([RefId, z.literal(''), z.literal(0), z.literal('0')]).nullish(),
  isRefund: z.boolean().nullish(),
  refundStatus: z.int().nullish(),
  // The document does not say who bears it.
  wage: FeeField,
});
type Report = z.output<typeof Report>;
const Verified = inAnyCase({
  amount: z.int().positive(),
  cardNumber: z.string().nullish(),
  clientRefId: z.string().nullish(),
  paymentRefId: RefId,
  // Source: independent clients.
  businessWage: FeeField,
  payerWage: FeeField,
});
const Reversed = inAnyCase({
  amount: z.int().positive(),
  clientRefId: z.string().nullish(),
});
const Problem = inAnyCase({
  title: z.string().nullish(),
  metaData: inAnyCase({ code: z.int(), message: z.unknown().optional() }).nullish(),
});

/*
 * The codes are those of PayPing's document. It lists more of them, and a code that is in none of these lists is no
 * outcome.
 */
/** Refusals of an opening because of the account or the request. All others may pass on a retry. */
const openingRefusals = new Set([101, 102, 103, 104, 105, 107, 111, 112, 113, 137, 164, 165]);
const namesPayer = /payer_?(?:name|identity)|موبایل|ایمیل|پرداخت‌?\s?کننده/i;
/** More than a test token may take. Source: an independent client; no other code is known to be about the amount alone. */
const testAmountRefused = 104;
const alreadyVerified = new Set([110, 123]);
/** Under review, bank not reached, being verified: ask again. */
const inProgress = new Set([109, 114, 155]);
const notValid = 133;
/** Refusals of a verification because of the payment. All others are about us, or may pass on a retry. */
const verifyRefusals: Record<number, FailureCode> = {
  // Not paid: PayPing does not tell a payer who cancelled from one who was too slow.
  121: 'payment_not_completed',
  127: 'payment_not_completed',
  // Not found, not valid. The code for a payment that was rolled back is not documented.
  122: 'unknown',
  [notValid]: 'unknown',
  137: 'amount_mismatch',
};

/**
 * Refusals of a reversal that are certain: the payment was not opened as reversible, and its time is over. After any other
 * the money may be on its way: 155 and 156 say that it is being confirmed or reversed, and 114 that the bank was not
 * reached. Source: public copy of PayPing's document of its API, v3.
 */
const reversalRefusals = new Set([134, 135]);
const refundIsComplete = 2;

/** @throws GatewayUnavailable unless PayPing clearly refuses the payment */
export const parseOpeningRefusal = (response: HttpResponse): OpenResult => {
  const { status, body } = response;
  const { title, metaData } = Problem.safeParse(body).data ?? {};
  // A wrong token may be reported by the status alone.
  const isUnauthorized = status === 401 || status === 403;
  const isKnown = status >= 400 && status !== 409 && openingRefusals.has(metaData?.code ?? 0);
  if (!isUnauthorized && !isKnown) throw unexpected('pay', response);
  return {
    result: 'refused',
    ...providerMessage(metaData?.code ?? status, title),
    ...(metaData?.code === testAmountRefused && { failureCode: 'amount_not_accepted' }),
    // No code is known to be about it.
    ...(namesPayer.test(JSON.stringify(body)) && { isAboutPayer: true }),
  };
};

/**
 * `verified_before`: an earlier verification took the money; only a report shows the amount.
 * @throws GatewayUnavailable
 */
export const parseVerification = (
  response: HttpResponse,
  payment: OpenedPayment,
): GatewayStatus | { state: 'verified_before' } => {
  const { status } = response;
  if (status === 202 || status === 502) return { state: 'processing' };
  if (status === 200) {
    const verified = parseResponse(Verified, response, 'payping, verify');
    return toPaid(requireSamePayment(payment, verified));
  }
  const { title, metaData } = parseResponse(Problem, response, 'payping, verify');
  const code = metaData?.code ?? 0;
  if (inProgress.has(code)) return { state: 'processing' };
  if (alreadyVerified.has(code)) {
    const verified = Verified.safeParse(metaData?.message).data;
    if (!verified) return { state: 'verified_before' };
    return toPaid(requireSamePayment(payment, verified));
  }
  // PayPing's own plugin takes "not valid" with 409, too.
  const isRefusal = status === 400 || (status === 409 && code === notValid);
  const failureCode = isRefusal ? verifyRefusals[code] : undefined;
  if (failureCode) return failed(failureCode, code, title);
  throw unexpected('verify', response);
};

/**
 * @param paid in tomans, by the report. Another amount in the answer is none that can be used: the report shows what went back
 * @throws GatewayUnavailable unless PayPing clearly reverses the payment, or clearly refuses that
 */
export const parseReversal = (
  response: HttpResponse,
  payment: OpenedPayment,
  paid: number,
): Reversal => {
  const name = 'payping, reverse';
  if (response.status === 200) {
    const { amount } = requireSamePayment(payment, parseResponse(Reversed, response, name));
    if (amount !== paid) throw new GatewayUnavailable(`${name}: it names another amount`);
    return { result: 'reversed' };
  }
  const { title, metaData } = parseResponse(Problem, response, name);
  const code = metaData?.code ?? 0;
  if (response.status < 400 || !reversalRefusals.has(code)) throw unexpected('reverse', response);
  return { result: 'refused', ...providerMessage(code, title) };
};

/** A refund that is requested but not complete has returned no money. */
export const isRefunded = ({ isRefund, refundStatus }: Report): boolean =>
  isRefund === true && refundStatus === refundIsComplete;

export const toStatus = (report: Report): GatewayStatus => {
  const { amount, paymentStatus, refId } = report;
  if (isRefunded(report)) return failed('payment_reversed', 'refunded');
  switch (paymentStatus) {
    case statuses.cancelled:
      return { state: 'cancelled' };
    case statuses.bankFailed:
      return failed('gateway_error', paymentStatus);
    case statuses.awaiting:
      return { state: 'processing' };
    case statuses.verified:
      return paid({
        amount,
        trackingCode: refId ? String(refId) : null,
        cardPanMasked: null,
        fee: feeOf(amount, report.wage),
      });
    default:
      return { state: 'waiting' };
  }
};

/** @throws GatewayUnavailable for a response about another payment */
export const requireSamePayment = <R extends { clientRefId?: string | null | undefined }>(
  { id }: OpenedPayment,
  response: R,
): R => {
  if (!response.clientRefId || response.clientRefId === id) return response;
  throw new GatewayUnavailable('payping: the response is about another payment');
};

const toPaid = ({
  amount,
  cardNumber,
  paymentRefId,
  businessWage,
  payerWage,
}: z.output<typeof Verified>): GatewayStatus =>
  paid({
    amount,
    trackingCode: String(paymentRefId),
    cardPanMasked: maskedPan(cardNumber),
    // Each may bear a part, and the merchant's leaves the account.
    fee:
      payerWage && !businessWage ? feeOf(amount, payerWage, 'payer') : feeOf(amount, businessWage),
  });

/** The amount and the wage are in tomans. */
const feeOf = (
  amount: number,
  wage: number | null | undefined,
  paidBy: ReportedFee['paidBy'] = 'merchant',
): ReportedFee | undefined =>
  typeof wage === 'number' ? reportedFee(moneyOf(wage).amount, paidBy, moneyOf(amount)) : undefined;

interface PaidFacts {
  /** In tomans. */
  amount: number;
  trackingCode: string | null;
  cardPanMasked: string | null;
  fee: ReportedFee | undefined;
}

/** Their amounts are in tomans. */
export const moneyOf = (tomans: number): Money => ({
  amount: fromWire({ currencies: paypingCurrencies }, { amount: tomans, currency: 'IRR' }),
  currency: 'IRR',
});

const paid = ({ amount, ...facts }: PaidFacts): GatewayStatus => ({
  state: 'paid',
  ...moneyOf(amount),
  ...facts,
});

export const unexpected = (operation: string, { status }: HttpResponse) =>
  new GatewayUnavailable(`payping, ${operation}: unexpected response, HTTP ${status}`);
