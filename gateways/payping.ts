import { z } from 'zod';
import { toWire } from './amount.ts';
import type { Account, Capabilities, GatewayAdapter, OpenedPayment, Tools } from './gateway.ts';
import { AccountProblem, defineDriver, GatewayUnavailable } from './gateway.ts';
import type { Call, HttpAnswer } from './call.ts';
import { pathOf, read } from './call.ts';
import {
  confirmationOf,
  isRefunded,
  mustBeAbout,
  Opened,
  paypingCurrencies,
  refusalOf,
  refused,
  Report,
  reversalOf,
  statuses,
  toAnswer,
} from './payping-answers.ts';
import { wordsOf } from './redact.ts';

/*
 * From PayPing's own document of its API (v1, v2 and v3), and where that is silent from independent
 * clients: check it against the live documentation before the first live payment.
 */
const host = 'https://api.payping.ir';

const capabilities: Capabilities = {
  currencies: paypingCurrencies,
  expirySeconds: { min: 60, max: 86_400 },
  twoStepVerify: true,
  // Its report shows refunds; nobody says that a reversal is one of them.
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

export const payping = defineDriver({
  capabilities,
  credentials: Credentials,
  connect(account, tools): GatewayAdapter {
    const { ask, report, confirm, origin } = createClient(account, tools);

    const paidAgain = async (payment: OpenedPayment, refId: number) => {
      try {
        const said = await confirm(payment, refId);
        return said.state === 'paid' ? said : undefined;
      } catch (error) {
        if (error instanceof GatewayUnavailable) return undefined;
        throw error;
      }
    };

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
        const { paymentStatus, amount, refId } = stands;
        const isVerified = paymentStatus === statuses.verified;
        const isAwaiting = paymentStatus === statuses.awaiting;
        if ((!isVerified && !isAwaiting) || isRefunded(stands)) return toAnswer(stands);
        // Another amount is not taken: what is not verified goes back.
        if (isAwaiting && amount !== toWire(capabilities, payment))
          return {
            state: 'failed',
            failureCode: 'amount_mismatch',
            ...wordsOf(null, `${amount} IRT`),
          };
        if (!refId) {
          if (isVerified) return toAnswer(stands);
          throw new GatewayUnavailable(
            'payping, report: paid, but without the number to verify it by',
          );
        }
        // A verified one is verified again for its card alone: whatever else is said, and where nothing
        // is, its report calls it final.
        if (isVerified) return (await paidAgain(payment, Number(refId))) ?? toAnswer(stands);
        const said = await confirm(payment, Number(refId));
        if (said.state !== 'already' && said.state !== 'failed') return said;
        // A verification whose answer was lost may have taken the money: the refusal of this one is
        // no outcome.
        const now = await report(payment);
        const isRefused = said.state === 'failed' && now.paymentStatus === statuses.awaiting;
        return isRefused ? said : toAnswer(now);
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
        return reversalOf(answer);
      },
    };
  },
});

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

  const report = async (payment: OpenedPayment) => {
    const path = pathOf`/v1/report/${payment.reference}`;
    const answer = await ask({ what: 'report', method: 'GET', path });
    if (answer.status !== 200) throw refused('report', answer);
    return mustBeAbout(payment, read(Report, answer, 'payping, report'));
  };

  const confirm = async (payment: OpenedPayment, refId: number) =>
    confirmationOf(
      await ask({
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
      }),
      payment,
    );

  return { ask, report, confirm, origin };
};

const checkKind = (kind: Account['kind'], credentials: object) => {
  const fits = kind === 'sandbox' ? 'testToken' in credentials : 'liveToken' in credentials;
  if (!fits) throw new AccountProblem(`The token is not named as one of a ${kind} account`);
};
