import { z } from 'zod';
import { amountBounds } from '../contract/money.ts';
import { fromWire, toWire } from './amount.ts';
import type {
  Account,
  Answer,
  Capabilities,
  GatewayAdapter,
  OpenedPayment,
  Opening,
  Tools,
} from './gateway.ts';
import { AccountProblem, defineDriver, GatewaySilence } from './gateway.ts';
import type { Call, HttpAnswer } from './http.ts';
import { pathOf, read } from './http.ts';
import { maskedPan, wordsOf } from './words.ts';

/*
 * Everything here comes from one independent client: check it against the live documentation before
 * the first live payment.
 */
const host = 'https://api.payping.ir';

const capabilities: Capabilities = {
  // Whole tomans of ten rials each; no bounds are known.
  currencies: new Map([
    ['IRR', { wireExponent: -1, min: 10, max: amountBounds.max - 9, step: 10 }],
  ]),
  expirySeconds: { min: 60, max: 86_400 },
  twoStepVerify: true,
  // How its report shows a reversed payment is not known.
  tellsReversal: false,
};

/*
 * Nothing shows whether a token is a test token, so that its name has to: the credentials of a live
 * account do not fit a sandbox account, nor the other way round.
 */
const Token = z.string().regex(/^[\x21-\x7e]{8,4000}$/);
const Credentials = z.union([
  z.strictObject({ testToken: Token, baseUrl: z.string().optional() }),
  z.strictObject({ liveToken: Token, baseUrl: z.string().optional() }),
]);

const Code = z.string().regex(/^[\x21-\x7e]{1,100}$/);
const RefId = z.union([z.int().positive(), z.string().regex(/^[1-9]\d{0,14}$/)]);
const Opened = z.object({ paymentCode: Code });
const statuses = { created: 0, verified: 1, atBank: 2, cancelled: 3, bankFailed: 4, awaiting: 5 };
const Report = z.object({
  amount: z.int().positive(),
  paymentStatus: z.literal(Object.values(statuses)),
  // Empty until the payer has paid.
  refId: z.union([RefId, z.literal(''), z.literal(0), z.literal('0')]).nullish(),
});
const Facts = z.object({
  amount: z.int().positive(),
  cardNumber: z.string().nullish(),
  paymentRefId: RefId,
});
const Problem = z.object({
  title: z.string().nullish(),
  metaData: z.object({ code: z.int(), message: z.unknown().optional() }).nullish(),
});
const alreadyVerified = 110;

export const payping = defineDriver({
  capabilities,
  credentials: Credentials,
  connect(account, tools): GatewayAdapter {
    const { ask, report, verify, origin } = createClient(account, tools);

    return {
      async open(payment) {
        const answer = await ask({
          what: 'pay',
          method: 'POST',
          path: '/v3/pay',
          json: {
            amount: toWire(capabilities, payment),
            returnUrl: payment.returnUrl,
            description: payment.description || payment.id,
            clientRefId: payment.id,
            isReversible: true,
          },
        });
        if (answer.status !== 200) return refusalOf(answer);
        const { paymentCode } = read(Opened, answer, 'payping, pay');
        const url = `${origin}${pathOf`/v3/pay/start/${paymentCode}`}`;
        return { result: 'opened', reference: paymentCode, redirect: { method: 'GET', url } };
      },

      async inquire(payment) {
        return toAnswer(await report(payment));
      },

      async verify(payment) {
        const stands = await report(payment);
        const { awaiting, verified } = statuses;
        if (stands.paymentStatus !== awaiting && stands.paymentStatus !== verified)
          return toAnswer(stands);
        const { amount } = stands;
        // Another amount is not taken: what is not verified goes back.
        if (stands.paymentStatus === awaiting && amount !== toWire(capabilities, payment))
          return {
            state: 'failed',
            failureCode: 'amount_mismatch',
            ...wordsOf(null, `${amount} IRT`),
          };
        // A verified one is verified again for its card: it says that it was, and which it is.
        if (stands.refId) return verify(payment, Number(stands.refId));
        if (stands.paymentStatus === verified) return toAnswer(stands);
        throw new GatewaySilence('payping, report: paid, but without the number to verify it by');
      },

      // Up to 30 minutes after the verification; it refuses later.
      async reverse(payment) {
        const { refId } = await report(payment);
        if (!refId) return { result: 'refused', ...wordsOf(null, 'It was not paid') };
        const answer = await ask({
          what: 'reverse',
          method: 'POST',
          path: '/v3/pay/reverse',
          json: { paymentRefId: Number(refId), paymentCode: payment.reference },
        });
        if (answer.status === 200) return { result: 'reversed' };
        const { title, metaData } = read(Problem, answer, 'payping, reverse');
        return { result: 'refused', ...wordsOf(metaData?.code ?? answer.status, title) };
      },
    };
  },
});

/** Credentials, path and rate: such an answer says nothing of the payment. */
const aboutUs = new Set([401, 403, 404, 405, 415]);

const createClient = (
  { kind, credentials }: Account<z.output<typeof Credentials>>,
  tools: Tools,
) => {
  const token = 'testToken' in credentials ? credentials.testToken : credentials.liveToken;
  checkKind(kind, credentials);
  const { baseUrl } = credentials;
  const call = tools.callsTo({ provider: 'payping', baseUrl: host, override: baseUrl });
  const origin = baseUrl ? new URL(baseUrl).origin : host;

  const ask = (request: Omit<Call, 'headers'>): Promise<HttpAnswer> =>
    call({ ...request, headers: { authorization: `bearer ${token}` } });

  const report = async ({ reference }: OpenedPayment) => {
    const path = pathOf`/v1/report/${reference}`;
    const answer = await ask({ what: 'report', method: 'GET', path });
    if (answer.status !== 200) throw refused('report', answer);
    return read(Report, answer, 'payping, report');
  };

  const verify = async (payment: OpenedPayment, refId: number): Promise<Answer> => {
    const answer = await ask({
      what: 'verify',
      method: 'POST',
      path: '/v3/pay/verify',
      json: {
        paymentRefId: refId,
        paymentCode: payment.reference,
        amount: toWire(capabilities, payment),
      },
      // Still settling.
      meaningful: [502],
    });
    if (answer.status === 202 || answer.status === 502) return { state: 'settling' };
    if (answer.status === 200) return toPaid(read(Facts, answer, 'payping, verify'));
    if (aboutUs.has(answer.status)) throw refused('verify', answer);
    const { title, metaData } = read(Problem, answer, 'payping, verify');
    if (!metaData) throw refused('verify', answer);
    if (metaData.code !== alreadyVerified && answer.status === 409) throw refused('verify', answer);
    const before =
      metaData.code === alreadyVerified ? Facts.safeParse(metaData.message).data : null;
    if (before) return toPaid(before);
    // A verification whose answer was lost may have taken the money: the refusal of this one is no
    // outcome.
    const stands = await report(payment);
    if (metaData.code === alreadyVerified || stands.paymentStatus !== statuses.awaiting)
      return toAnswer(stands);
    // How a payment that was rolled back is refused is not known; what is not verified goes back.
    return { state: 'failed', failureCode: 'unknown', ...wordsOf(metaData.code, title) };
  };

  return { ask, report, verify, origin };
};

/** @throws GatewaySilence for what does not say that PayPing will not take the payment */
const refusalOf = (answer: HttpAnswer): Opening => {
  const { status } = answer;
  // What is wrong with a token may be told by the status alone.
  const isOurs = status === 401 || status === 403;
  const { title, metaData } = isOurs
    ? (Problem.safeParse(answer.body).data ?? {})
    : read(Problem, answer, 'payping, pay');
  if (!isOurs && (status < 400 || status === 409 || !metaData)) throw refused('pay', answer);
  const { code, message } = wordsOf(metaData?.code ?? status, title);
  return { result: 'refused', code: code ?? '', message: message ?? '' };
};

const checkKind = (kind: Account['kind'], credentials: object) => {
  const fits = kind === 'sandbox' ? 'testToken' in credentials : 'liveToken' in credentials;
  if (!fits) throw new AccountProblem(`The token is not named as one of a ${kind} account`);
};

const toAnswer = ({ amount, paymentStatus, refId }: z.output<typeof Report>): Answer => {
  switch (paymentStatus) {
    case statuses.cancelled:
      return { state: 'cancelled' };
    case statuses.bankFailed:
      return { state: 'failed', failureCode: 'gateway_error', ...wordsOf(paymentStatus, null) };
    case statuses.awaiting:
      return { state: 'settling' };
    case statuses.verified:
      return paid({ amount, trackingCode: refId ? String(refId) : null, cardPanMasked: null });
    default:
      return { state: 'waiting' };
  }
};

const toPaid = ({ amount, cardNumber, paymentRefId }: z.output<typeof Facts>): Answer =>
  paid({ amount, trackingCode: String(paymentRefId), cardPanMasked: maskedPan(cardNumber) });

const paid = ({ amount, ...facts }: PaidFacts): Answer => ({
  state: 'paid',
  amount: fromWire(capabilities, { amount, currency: 'IRR' }) ?? amount,
  currency: 'IRR',
  ...facts,
});

interface PaidFacts {
  /** In tomans. */
  amount: number;
  trackingCode: string | null;
  cardPanMasked: string | null;
}

const refused = (what: string, { status }: HttpAnswer) =>
  new GatewaySilence(`payping, ${what}: it refused to answer, HTTP ${status}`);
