import { z } from 'zod';
import type { FailureCode } from '../contract/failure-codes.ts';
import { amountBounds, formatMoney } from '../contract/money.ts';
import { fromWire, toWire } from './amount.ts';
import { escapedPath, parseResponse } from './call.ts';
import { describePayment } from './description.ts';
import { AccountProblem, GatewayUnavailable } from './errors.ts';
import type {
  Account,
  Capabilities,
  GatewayAdapter,
  GatewayStatus,
  OpenedPayment,
  Tools,
} from './gateway.ts';
import { defineDriver } from './gateway.ts';
import { iranianMobile, sentFields } from './payer.ts';
import { failed, maskedPan, providerMessage } from './redact.ts';
import { FeeField, reportedFee } from './reported-fee.ts';
import { createPayouts } from './zibal-payouts.ts';
import { createRefunds, RefundCredentials } from './zibal-refunds.ts';

/*
 * Host, sandbox merchant, paths and codes are from the official sample, fields from independent clients:
 * check them against the live documentation before the first live payment.
 */
const host = 'https://gateway.zibal.ir';
const sandboxMerchant = 'zibal';

const capabilities: Capabilities = {
  // The minimum is from an independent client. No maximum is known.
  currencies: new Map([['IRR', { wireExponent: 0, min: 1_001, max: amountBounds.max, step: 1 }]]),
  expirySeconds: { min: 60, max: 86_400 },
  twoStepVerify: true,
  // Not documented: usual for gateways in Iran.
  returnTime: { minutes: 30 },
  reportsFees: true,
  reportsReversals: true,
  reversal: null,
  refund: {
    partial: true,
    several: 'one_at_a_time',
    least: 1_000,
    windowMs: null,
    keyed: false,
    credentials: 'refunds',
  },
};

const Credentials = z.strictObject({
  merchant: z.string().min(1).max(100),
  refunds: RefundCredentials.optional(),
  baseUrl: z.string().optional(),
});

const Envelope = z.object({ result: z.int(), message: z.string().nullish() });
const Opened = z.object({ trackId: z.int().positive() });
/** A number in some sources, a string in others. */
const RefNumber = z.union([z.int().nonnegative(), z.string().regex(/^[\x21-\x7e]{0,100}$/)]);
const Paid = z.object({
  amount: z.int().positive(),
  refNumber: RefNumber.nullish(),
  cardNumber: z.string().nullish(),
  orderId: z.string().nullish(),
});
/** The wage is that of the merchant: no opening of ours asks that the payer bears it. Source: independent clients. */
const Inquired = Paid.extend({ status: z.int(), wage: FeeField });

const statuses = { verified: 1, unverified: 2, reversed: 18 } as const;
const results = { ok: 100, alreadyVerified: 201, notPaid: 202 } as const;

/** Refusals because of the account or the request. Source: official sample. */
const isOpeningRefusal = (result: number) => result >= 102 && result <= 115;
/** Too little, and above the account's limit. Source: official sample. */
const amountRefusals = new Set([105, 113]);

const failureCodes: Record<number, FailureCode> = {
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
  [statuses.reversed]: 'payment_reversed',
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
    const { kind, credentials } = account;
    if (credentials.refunds && kind === 'sandbox')
      throw new AccountProblem('Zibal has no refunds for its sandbox merchant');
    const { post, getStatus, toBody, origin } = createClient(account, tools);
    const inquire = async (payment: OpenedPayment): Promise<GatewayStatus> =>
      toStatus(await getStatus(payment));

    const others = { ...tools, override: credentials.baseUrl };

    return {
      inquire,
      ...(credentials.refunds && {
        ...createRefunds(credentials.refunds, {
          ...others,
          isReversed: async (payment) => (await getStatus(payment)).status === statuses.reversed,
        }),
        ...createPayouts(credentials.refunds, others),
      }),

      async open(payment) {
        const response = await post('request', {
          amount: toWire(capabilities, payment),
          callbackUrl: payment.returnUrl,
          description: describePayment(payment),
          orderId: payment.id,
          ...sentFields({ mobile: iranianMobile(payment.payer) }),
        });
        if (response.result !== results.ok) {
          if (!isOpeningRefusal(response.result)) throw unexpected('request', response.result);
          return {
            result: 'refused',
            ...providerMessage(response.result, response.message),
            ...(amountRefusals.has(response.result) && { failureCode: 'amount_not_accepted' }),
            // No code is known to be about it.
            ...(/mobile|موبایل/i.test(response.message ?? '') && { isAboutPayer: true }),
          };
        }
        const reference = String(response.parse(Opened).trackId);
        const url = `${origin}${escapedPath`/start/${reference}`}`;
        return { result: 'opened', reference, redirect: { method: 'GET', url } };
      },

      async verify(payment, mayTake) {
        const inquired = await getStatus(payment);
        if (inquired.status !== statuses.unverified) return toStatus(inquired);
        const { amount } = inquired;
        // A verification sends no amount. Another amount is not verified, and goes back to the payer.
        if (amount !== toWire(capabilities, payment))
          return failed('amount_mismatch', null, formatMoney({ amount, currency: 'IRR' }));
        if (mayTake && !(await mayTake())) return { state: 'unconfirmed' };
        const response = await post('verify', toBody(payment));
        switch (response.result) {
          case results.ok:
            // This response has no wage.
            return paid({
              ...requireSamePayment(payment, response.parse(Paid)),
              wage: inquired.wage,
            });
          case results.alreadyVerified:
            // This response has neither number nor amount.
            return inquire(payment);
          case results.notPaid: {
            // The inquiry said paid, the verification says not paid. Ask again; no outcome if they still differ.
            const now = await getStatus(payment);
            if (isPaid(now)) throw unexpected('verify', response.result);
            return toStatus(now);
          }
          default:
            throw unexpected('verify', response.result);
        }
      },
    };
  },
});

const createClient = (
  { kind, credentials: { merchant, baseUrl } }: Account<z.output<typeof Credentials>>,
  tools: Tools,
) => {
  // Test and live share a host: only the merchant's name keeps test payments out of a live account.
  if ((kind === 'sandbox') !== (merchant === sandboxMerchant))
    throw new AccountProblem(`The merchant does not belong to a ${kind} account`);
  const call = tools.callsTo({ provider: 'zibal', baseUrl: host, override: baseUrl });
  const origin = baseUrl ? new URL(baseUrl).origin : host;

  const post = async (operation: string, body: object) => {
    const response = await call({
      operation,
      method: 'POST',
      path: `/v1/${operation}`,
      json: { merchant, ...body },
    });
    const name = `zibal, ${operation}`;
    const { result, message } = parseResponse(Envelope, response, name);
    return {
      result,
      message,
      parse: <Data extends z.ZodType>(schema: Data) => parseResponse(schema, response, name),
    };
  };
  const toBody = ({ reference }: OpenedPayment) => ({ trackId: Number(reference) });

  const getStatus = async (payment: OpenedPayment) => {
    const response = await post('inquiry', toBody(payment));
    // A refused inquiry is about us or an unknown number. It says nothing about the payment.
    if (response.result !== results.ok) throw unexpected('inquiry', response.result);
    return requireSamePayment(payment, response.parse(Inquired));
  };
  return { post, getStatus, toBody, origin };
};

/** @throws GatewayUnavailable for a response about another payment */
const requireSamePayment = <P extends z.output<typeof Paid>>(
  { id }: OpenedPayment,
  response: P,
): P => {
  if (!response.orderId || response.orderId === id) return response;
  throw new GatewayUnavailable('zibal: the response is about another payment');
};

const isPaid = ({ status }: z.output<typeof Inquired>) =>
  status === statuses.verified || status === statuses.unverified;

const toStatus = ({ status, ...facts }: z.output<typeof Inquired>): GatewayStatus => {
  if (status === -1) return { state: 'waiting' };
  if (status === statuses.unverified) return { state: 'processing' };
  if (status === statuses.verified) return paid(facts);
  if (status === 3) return { state: 'cancelled' };
  const failureCode = failureCodes[status];
  // An undocumented status may mean that money moves. 15 and 16 are refunds, which may be of a part only.
  if (!failureCode) throw new GatewayUnavailable(`zibal, inquiry: status ${status} is no outcome`);
  return failed(failureCode, status);
};

const paid = ({
  amount,
  refNumber,
  cardNumber,
  wage,
}: Omit<z.output<typeof Inquired>, 'status'>): GatewayStatus => ({
  state: 'paid',
  // The response has no currency. Zibal takes rials only.
  amount: fromWire(capabilities, { amount, currency: 'IRR' }),
  currency: 'IRR',
  trackingCode: refNumber ? String(refNumber) : null,
  cardPanMasked: maskedPan(cardNumber),
  fee: reportedFee(wage, 'merchant', { amount }),
});

const unexpected = (operation: string, result: number) =>
  new GatewayUnavailable(`zibal, ${operation}: unexpected result ${result}`);
