import { z } from 'zod';
import type { FailureCode } from '../contract/failure-codes.ts';
import type { CurrencyTerms } from './amount.ts';
import { fromWire } from './amount.ts';
import type { Answer, OpenedPayment, Opening, Reversal } from './gateway.ts';
import { GatewayUnavailable } from './gateway.ts';
import type { HttpAnswer } from './call.ts';
import { read } from './call.ts';
import { maskedPan, wordsOf } from './redact.ts';

/** Of the tomans, for which a verification has 32 bits. No other bounds are in its document. */
const mostTomans = 2 ** 31 - 1;

/** Whole tomans of ten rials each. */
export const paypingCurrencies: ReadonlyMap<string, CurrencyTerms> = new Map([
  ['IRR', { wireExponent: -1, min: 10, max: mostTomans * 10, step: 10 }],
]);

/** Its document writes one field as `amount`, and as `Amount` where it was verified before. */
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
});
type Report = z.output<typeof Report>;
const Facts = inAnyCase({
  amount: z.int().positive(),
  cardNumber: z.string().nullish(),
  clientRefId: z.string().nullish(),
  paymentRefId: RefId,
});
const Problem = inAnyCase({
  title: z.string().nullish(),
  metaData: inAnyCase({ code: z.int(), message: z.unknown().optional() }).nullish(),
});

/** About the account or what was sent. All others pass, or have nothing to do with an opening. */
const openingRefusals = new Set([101, 102, 103, 104, 105, 107, 111, 112, 113, 137, 164, 165]);
const alreadyVerified = new Set([110, 123]);
/** Under review, the bank was not reached, being verified: it is to be asked again. */
const underWay = new Set([109, 114, 155]);
/** Refusals of a verification that are about the payment. All others are about us, or pass. */
const verifyRefusals: Record<number, FailureCode> = {
  // It was not paid; its payer has cancelled or was too slow, which are not told apart.
  121: 'payment_not_completed',
  127: 'payment_not_completed',
  // It was not found, and is not valid: how one that was rolled back is refused is not known.
  122: 'unknown',
  133: 'unknown',
  137: 'amount_mismatch',
};

/** Being confirmed, or being given back: what becomes of it is still to be asked. */
const returning = new Set([155, 156]);
const refundIsComplete = 2;

/** @throws GatewayUnavailable for what does not say that PayPing will not take the payment */
export const refusalOf = (answer: HttpAnswer): Opening => {
  const { status, body } = answer;
  const { title, metaData } = Problem.safeParse(body).data ?? {};
  // What is wrong with a token may be told by the status alone.
  const isOurs = status === 401 || status === 403;
  const isKnown = status >= 400 && status !== 409 && openingRefusals.has(metaData?.code ?? 0);
  if (!isOurs && !isKnown) throw refused('pay', answer);
  return { result: 'refused', ...wordsOf(metaData?.code ?? status, title) };
};

/**
 * What a verification said; `already`: it was done before, and only a report says what was paid.
 * @throws GatewayUnavailable
 */
export const confirmationOf = (
  answer: HttpAnswer,
  payment: OpenedPayment,
): Answer | { state: 'already' } => {
  const { status } = answer;
  if (status === 202 || status === 502) return { state: 'processing' };
  if (status === 200) return toPaid(mustBeAbout(payment, read(Facts, answer, 'payping, verify')));
  const { title, metaData } = read(Problem, answer, 'payping, verify');
  const code = metaData?.code ?? 0;
  if (underWay.has(code)) return { state: 'processing' };
  if (alreadyVerified.has(code)) {
    const before = Facts.safeParse(metaData?.message).data;
    return before ? toPaid(mustBeAbout(payment, before)) : { state: 'already' };
  }
  const failureCode = status === 400 ? verifyRefusals[code] : undefined;
  if (failureCode) return { state: 'failed', failureCode, ...wordsOf(code, title) };
  throw refused('verify', answer);
};

/** @throws GatewayUnavailable */
export const reversalOf = (answer: HttpAnswer): Reversal => {
  const { status } = answer;
  if (status === 200) return { result: 'reversed' };
  if (status === 202) throw refused('reverse', answer);
  const { title, metaData } = read(Problem, answer, 'payping, reverse');
  if (returning.has(metaData?.code ?? 0)) throw refused('reverse', answer);
  return { result: 'refused', ...wordsOf(metaData?.code ?? status, title) };
};

/** A refund that is only asked for, or is not complete, has given nothing back. */
export const isRefunded = ({ isRefund, refundStatus }: Report): boolean =>
  isRefund === true && refundStatus === refundIsComplete;

export const toAnswer = (report: Report): Answer => {
  const { amount, paymentStatus, refId } = report;
  if (isRefunded(report))
    return { state: 'failed', failureCode: 'payment_reversed', ...wordsOf('refunded', null) };
  switch (paymentStatus) {
    case statuses.cancelled:
      return { state: 'cancelled' };
    case statuses.bankFailed:
      return { state: 'failed', failureCode: 'gateway_error', ...wordsOf(paymentStatus, null) };
    case statuses.awaiting:
      return { state: 'processing' };
    case statuses.verified:
      return paid({ amount, trackingCode: refId ? String(refId) : null, cardPanMasked: null });
    default:
      return { state: 'waiting' };
  }
};

/** @throws GatewayUnavailable for what is said of another payment: it says nothing of this one */
export const mustBeAbout = <F extends { clientRefId?: string | null | undefined }>(
  { id }: OpenedPayment,
  facts: F,
): F => {
  if (!facts.clientRefId || facts.clientRefId === id) return facts;
  throw new GatewayUnavailable('payping: it answered about another payment');
};

const toPaid = ({ amount, cardNumber, paymentRefId }: z.output<typeof Facts>): Answer =>
  paid({ amount, trackingCode: String(paymentRefId), cardPanMasked: maskedPan(cardNumber) });

const paid = ({ amount, ...facts }: PaidFacts): Answer => ({
  state: 'paid',
  amount: fromWire({ currencies: paypingCurrencies }, { amount, currency: 'IRR' }),
  currency: 'IRR',
  ...facts,
});

interface PaidFacts {
  /** In tomans. */
  amount: number;
  trackingCode: string | null;
  cardPanMasked: string | null;
}

export const refused = (what: string, { status }: HttpAnswer) =>
  new GatewayUnavailable(`payping, ${what}: it refused to answer, HTTP ${status}`);
