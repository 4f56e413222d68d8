import { z } from 'zod';
import type { FailureCode } from '../contract/failure-codes.ts';
import { amountBounds } from '../contract/money.ts';
import { fromWire, toWire } from './amount.ts';
import type {
  Account,
  Answer,
  Capabilities,
  GatewayAdapter,
  OpenedPayment,
  Tools,
} from './gateway.ts';
import { AccountProblem, defineDriver, GatewayUnavailable } from './gateway.ts';
import { pathOf, read } from './call.ts';
import { maskedPan, wordsOf } from './redact.ts';

/*
 * Host, sandbox merchant, paths and codes are in the official sample; fields come from independent
 * clients: check them against the live documentation before the first live payment. Its refund is
 * another API with another credential, and is not offered here.
 */
const host = 'https://gateway.zibal.ir';
const sandboxMerchant = 'zibal';

const capabilities: Capabilities = {
  // More than 1,000 rials, says an independent client; no maximum is known.
  currencies: new Map([['IRR', { wireExponent: 0, min: 1_001, max: amountBounds.max, step: 1 }]]),
  expirySeconds: { min: 60, max: 86_400 },
  twoStepVerify: true,
  tellsReversal: true,
};

const Credentials = z.strictObject({
  merchant: z.string().min(1).max(100),
  baseUrl: z.string().optional(),
});

const Reply = z.object({ result: z.int(), message: z.string().nullish() });
const Opened = z.object({ trackId: z.int().positive() });
/** A number or a string, depending on whom one asks. */
const RefNumber = z.union([z.int().nonnegative(), z.string().regex(/^[\x21-\x7e]{0,100}$/)]);
const Facts = z.object({
  amount: z.int().positive(),
  refNumber: RefNumber.nullish(),
  cardNumber: z.string().nullish(),
  orderId: z.string().nullish(),
});
const Inquired = Facts.extend({ status: z.int() });

const statuses = { verified: 1, unverified: 2 } as const;
const results = { ok: 100, alreadyVerified: 201, notPaid: 202 } as const;

/** About the account or what was sent: 102 to 115 are in the official sample. */
const isOpeningRefusal = (result: number) => result >= 102 && result <= 115;

const failureOf: Record<number, FailureCode> = {
  [-2]: 'gateway_error',
  4: 'invalid_card',
  5: 'insufficient_funds',
  6: 'authentication_failed',
  7: 'limit_exceeded',
  8: 'limit_exceeded',
  9: 'limit_exceeded',
  10: 'card_not_supported',
  11: 'gateway_error',
  12: 'issuer_unavailable',
  15: 'payment_reversed',
  16: 'payment_reversed',
  18: 'payment_reversed',
  21: 'merchant_configuration',
};

export const zibal = defineDriver({
  capabilities,
  credentials: Credentials,
  parseReturn(query) {
    if (query.get('status') === '3') return 'cancelled';
    const success = query.get('success');
    if (success === '1') return 'paid';
    return success === '0' ? 'unpaid' : 'nothing';
  },
  connect(account, tools): GatewayAdapter {
    const { ask, standing, trackIdOf, origin } = createClient(account, tools);
    const inquire = async (payment: OpenedPayment): Promise<Answer> =>
      toAnswer(await standing(payment));

    return {
      inquire,

      async open(payment) {
        const reply = await ask('request', {
          amount: toWire(capabilities, payment),
          callbackUrl: payment.returnUrl,
          description: payment.description || payment.id,
          orderId: payment.id,
        });
        if (reply.result !== results.ok) {
          if (!isOpeningRefusal(reply.result)) throw refused('request', reply.result);
          return { result: 'refused', ...wordsOf(reply.result, reply.message) };
        }
        const reference = String(reply.as(Opened).trackId);
        const url = `${origin}${pathOf`/start/${reference}`}`;
        return { result: 'opened', reference, redirect: { method: 'GET', url } };
      },

      async verify(payment) {
        const stands = await standing(payment);
        if (stands.status !== statuses.unverified) return toAnswer(stands);
        const { amount } = stands;
        // A verification names no amount: another one is not taken, and what is not verified goes back.
        if (amount !== toWire(capabilities, payment))
          return {
            state: 'failed',
            failureCode: 'amount_mismatch',
            ...wordsOf(null, `${amount} IRR`),
          };
        const reply = await ask('verify', trackIdOf(payment));
        switch (reply.result) {
          case results.ok:
            return paid(mustBeAbout(payment, reply.as(Facts)));
          case results.alreadyVerified:
            // It comes without number and amount.
            return inquire(payment);
          case results.notPaid: {
            // The inquiry has said that it is paid: as long as it does, the two contradict each other.
            const now = await standing(payment);
            if (isPaid(now)) throw refused('verify', reply.result);
            return toAnswer(now);
          }
          default:
            throw refused('verify', reply.result);
        }
      },
    };
  },
});

const createClient = (
  { kind, credentials: { merchant, baseUrl } }: Account<z.output<typeof Credentials>>,
  tools: Tools,
) => {
  // The same host takes both: the merchant's name alone keeps test payments from a live account.
  if ((kind === 'sandbox') !== (merchant === sandboxMerchant))
    throw new AccountProblem(`The merchant is not one of a ${kind} account`);
  const call = tools.callsTo({ provider: 'zibal', baseUrl: host, override: baseUrl });
  const origin = baseUrl ? new URL(baseUrl).origin : host;

  const ask = async (what: string, body: object) => {
    const answer = await call({
      what,
      method: 'POST',
      path: `/v1/${what}`,
      json: { merchant, ...body },
    });
    const { result, message } = read(Reply, answer, `zibal, ${what}`);
    return {
      result,
      message,
      as: <Data extends z.ZodType>(data: Data) => read(data, answer, `zibal, ${what}`),
    };
  };
  const trackIdOf = ({ reference }: OpenedPayment) => ({ trackId: Number(reference) });

  const standing = async (payment: OpenedPayment) => {
    const reply = await ask('inquiry', trackIdOf(payment));
    // Why it does not answer is about us, or an unknown number: it says nothing of the payment.
    if (reply.result !== results.ok) throw refused('inquiry', reply.result);
    return mustBeAbout(payment, reply.as(Inquired));
  };
  return { ask, standing, trackIdOf, origin };
};

/** @throws GatewayUnavailable for what is said of another payment: it says nothing of this one */
const mustBeAbout = <F extends z.output<typeof Facts>>({ id }: OpenedPayment, facts: F): F => {
  if (!facts.orderId || facts.orderId === id) return facts;
  throw new GatewayUnavailable('zibal: it answered about another payment');
};

const isPaid = ({ status }: z.output<typeof Inquired>) =>
  status === statuses.verified || status === statuses.unverified;

const toAnswer = ({ status, ...facts }: z.output<typeof Inquired>): Answer => {
  if (status === -1) return { state: 'waiting' };
  if (status === statuses.unverified) return { state: 'processing' };
  if (status === statuses.verified) return paid(facts);
  if (status === 3) return { state: 'cancelled' };
  const failureCode = failureOf[status];
  // A status nobody told us of: it may mean that money moves.
  if (!failureCode) throw new GatewayUnavailable(`zibal, inquiry: unknown status ${status}`);
  return { state: 'failed', failureCode, ...wordsOf(status, null) };
};

const paid = ({ amount, refNumber, cardNumber }: z.output<typeof Facts>): Answer => ({
  state: 'paid',
  // The currency is not said; there is no other.
  amount: fromWire(capabilities, { amount, currency: 'IRR' }),
  currency: 'IRR',
  trackingCode: refNumber ? String(refNumber) : null,
  cardPanMasked: maskedPan(cardNumber),
});

const refused = (what: string, result: number) =>
  new GatewayUnavailable(`zibal, ${what}: it refused to answer, result ${result}`);
