import { z } from 'zod';
import { formatMoney } from '../contract/money.ts';
import { toWire } from './amount.ts';
import type { Call, HttpResponse } from './call.ts';
import { escapedPath, parseResponse } from './call.ts';
import { describePayment } from './description.ts';
import { AccountProblem, GatewayUnavailable } from './errors.ts';
import type {
  Account,
  Capabilities,
  GatewayAdapter,
  OpenedPayment,
  Reversal,
  Tools,
} from './gateway.ts';
import { defineDriver } from './gateway.ts';
import { reversedPayment } from './known-refund.ts';
import {
  isRefunded,
  moneyOf,
  Opened,
  parseOpeningRefusal,
  parseReversal,
  parseVerification,
  paypingCurrencies,
  Report,
  requireSamePayment,
  statuses,
  toStatus,
  unexpected,
} from './payping-responses.ts';
import { iranianMobile, sentFields } from './payer.ts';
import { failed, providerMessage } from './redact.ts';

/*
 * Source: PayPing's document of its API (v1, v2 and v3), and independent clients for what it leaves out.
 * Check it against the live documentation before the first live payment.
 */
const host = 'https://api.payping.ir';

const capabilities: Capabilities = {
  currencies: paypingCurrencies,
  expirySeconds: { min: 60, max: 86_400 },
  twoStepVerify: true,
  returnTime: { minutes: 10 },
  reportsFees: true,
  // The report shows refunds. Whether a reversal is one of them is not documented.
  reportsReversals: false,
  reversal: { windowMs: 30 * 60_000 },
  refund: null,
};

/*
 * A token does not show whether it is a test token, so its name does: the credentials of a live account
 * do not fit a sandbox account, nor the other way round.
 */
const Token = z.string().regex(/^[\x21-\x7e]{8,4000}$/);
const Credentials = z.union([
  z.strictObject({ testToken: Token, baseUrl: z.string().optional() }),
  z.strictObject({ liveToken: Token, baseUrl: z.string().optional() }),
]);

export const payping = defineDriver({
  capabilities,
  credentials: Credentials,
  // A posted form. Its other statuses are not documented.
  parseReturn: (fields) => (fields.get('status') === '1' ? 'paid' : 'nothing'),
  connect(account, tools): GatewayAdapter {
    const { post, getReport, confirm, origin } = createClient(account, tools);

    /** Verifies a verified payment once more for its card number. Undefined unless it is paid again. */
    const confirmAgain = async (payment: OpenedPayment, refId: number) => {
      try {
        const status = await confirm(payment, refId);
        return status.state === 'paid' ? status : undefined;
      } catch (error) {
        if (error instanceof GatewayUnavailable) return undefined;
        throw error;
      }
    };

    // PayPing allows it up to 30 minutes after the verification.
    const reverse = async (payment: OpenedPayment): Promise<Reversal> => {
      const { refId, amount } = await getReport(payment);
      if (!refId) return { result: 'refused', ...providerMessage(null, 'It was not paid') };
      const response = await post('reverse', '/v3/pay/reverse', {
        paymentRefId: Number(refId),
        paymentCode: payment.reference,
      });
      return parseReversal(response, payment, amount);
    };

    return {
      reverse,

      async open(payment) {
        const response = await post('pay', '/v3/pay', {
          amount: toWire(capabilities, payment),
          returnUrl: payment.returnUrl,
          description: describePayment(payment),
          clientRefId: payment.id,
          isReversible: true,
          ...sentFields({
            payerName: payment.payer?.name,
            // PayPing takes one of the two. PayPing's own plugin prefers the e-mail, too.
            payerIdentity: payment.payer?.email ?? iranianMobile(payment.payer),
          }),
        });
        if (response.status !== 200) return parseOpeningRefusal(response);
        const { paymentCode } = parseResponse(Opened, response, 'payping, pay');
        const url = `${origin}${escapedPath`/v3/pay/start/${paymentCode}`}`;
        return { result: 'opened', reference: paymentCode, redirect: { method: 'GET', url } };
      },

      async inquire(payment) {
        return toStatus(await getReport(payment));
      },

      async verify(payment, mayTake) {
        const report = await getReport(payment);
        const { paymentStatus, amount, refId } = report;
        const isVerified = paymentStatus === statuses.verified;
        const isAwaiting = paymentStatus === statuses.awaiting;
        if ((!isVerified && !isAwaiting) || isRefunded(report)) return toStatus(report);
        // Another amount is not verified, and goes back to the payer by itself.
        if (isAwaiting && amount !== toWire(capabilities, payment))
          return failed('amount_mismatch', null, formatMoney(moneyOf(amount)));
        if (!refId) {
          if (isVerified) return toStatus(report);
          throw new GatewayUnavailable('payping, report: paid, but without the number for verify');
        }
        // The report is final. Only the second verification shows the card, and it may fail.
        if (isVerified) return (await confirmAgain(payment, Number(refId))) ?? toStatus(report);
        if (mayTake && !(await mayTake())) return { state: 'unconfirmed' };
        const status = await confirm(payment, Number(refId));
        if (status.state !== 'verified_before' && status.state !== 'failed') return status;
        // An earlier verification whose response was lost may have taken the money, so a refusal of this
        // one counts only while the payment still waits for verification.
        const now = await getReport(payment);
        const isRefused = status.state === 'failed' && now.paymentStatus === statuses.awaiting;
        return isRefused ? status : toStatus(now);
      },

      async refund(payment, { isReversible }) {
        const reversal: Reversal = isReversible
          ? await reverse(payment)
          : { result: 'refused', ...providerMessage(null, 'The time of a reversal is over') };
        return reversal.result === 'refused'
          ? { ...reversal, failureCode: 'not_refundable' }
          : { result: 'accepted', refund: reversedPayment(payment) };
      },

      async refunds(payment) {
        return isRefunded(await getReport(payment)) ? [reversedPayment(payment)] : [];
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

  const send = (request: Omit<Call, 'headers'>): Promise<HttpResponse> =>
    call({ ...request, headers: { authorization: `bearer ${token}` } });

  const post = (operation: string, path: string, json: object) =>
    send({ operation, method: 'POST', path, json });

  const getReport = async (payment: OpenedPayment) => {
    const path = escapedPath`/v1/report/${payment.reference}`;
    const response = await send({ operation: 'report', method: 'GET', path });
    if (response.status !== 200) throw unexpected('report', response);
    return requireSamePayment(payment, parseResponse(Report, response, 'payping, report'));
  };

  const confirm = async (payment: OpenedPayment, refId: number) => {
    const response = await send({
      operation: 'verify',
      method: 'POST',
      path: '/v3/pay/verify',
      json: {
        paymentRefId: refId,
        paymentCode: payment.reference,
        amount: toWire(capabilities, payment),
      },
      // 502: the bank is still processing.
      expectedStatuses: [502],
    });
    return parseVerification(response, payment);
  };

  return { post, getReport, confirm, origin };
};

const checkKind = (kind: Account['kind'], credentials: object) => {
  const fits = kind === 'sandbox' ? 'testToken' in credentials : 'liveToken' in credentials;
  if (!fits) throw new AccountProblem(`The token is not named as one of a ${kind} account`);
};
