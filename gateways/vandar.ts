import { z } from 'zod';
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
import { createRefunds, createRenewal } from './vandar-refunds.ts';
import { RefundCredentials, textOf } from './vandar-api.ts';

/*
 * Source: https://github.com/vandarpay/docs (ipg), of 2023. Vandar says rials; a client (shetabit/multipay) divides them by
 * ten. So the amount that Vandar tells is compared before a verification, and another one is never taken.
 */
const host = 'https://ipg.vandar.io';
const testKey = 'test';

const capabilities: Capabilities = {
  // No maximum is documented.
  currencies: new Map([['IRR', { wireExponent: 0, min: 1_000, max: amountBounds.max, step: 1 }]]),
  expirySeconds: { min: 60, max: 86_400 },
  twoStepVerify: true,
  // Not documented: usual for gateways in Iran.
  returnTime: { minutes: 30 },
  reportsFees: false,
  reportsReversals: false,
  reversal: null,
  refund: {
    partial: true,
    several: 'one_at_a_time',
    // Not documented: the least amount of a payment.
    least: 1_000,
    windowMs: null,
    // `payment_number` must be unique. What a second refund with the same one gets is not documented.
    keyed: false,
    credentials: 'refunds',
  },
};

const Credentials = z.strictObject({
  apiKey: z.string().regex(/^[\x21-\x7e]{1,200}$/),
  refunds: RefundCredentials.optional(),
  baseUrl: z.string().optional(),
});

const Envelope = z.object({ status: z.int() });
const Opened = z.object({ status: z.literal(1), token: z.string().regex(/^[\w-]{1,200}$/) });
/** Whole rials. A text in the samples, with decimals in one of them. */
const Amount = z.union([
  z.int(),
  z
    .string()
    .regex(/^\d{1,15}(?:\.0{1,2})?$/)
    .transform(Number),
]);
const Facts = z.object({
  status: z.literal(1),
  amount: Amount,
  transId: z.int().positive(),
  factorNumber: z.string().nullish(),
  cardNumber: z.string().nullish(),
});
const Transaction = Facts.extend({ code: z.literal([0, 1, 2, 3, 4]) });
type Transaction = z.output<typeof Transaction> | { code: typeof codes.none };

const codes = { none: 0, unverified: 1, verified: 2, tooLate: 3, failed: 4 } as const;

/**
 * "The transaction ran into an error". The documentation does not say what an inquiry gets before the payer has paid, so
 * this text and the code 0 count as that: nothing is taken before a verification, and Vandar returns money that nobody
 * verifies.
 */
const nothingYet = 'تراکنش با خطا مواجه شده است';

/**
 * The statuses of an opening that is refused because of the account or the request. Source: the documentation (errors). A
 * refusal has texts alone; this is the one that the amount is below 1,000 rials.
 */
const openingRefusals = new Set([400, 401, 403, 422]);
const belowLeast = /amount نباید کوچکتر از/;

export const vandar = defineDriver({
  capabilities,
  credentials: Credentials,
  parseReturn(query) {
    const status = query.get('payment_status');
    // A cancelled and a failed payment are the same.
    if (status === 'OK') return 'paid';
    return status === null ? 'nothing' : 'unpaid';
  },
  connect(account, tools): GatewayAdapter {
    const { kind, credentials } = account;
    if (credentials.refunds && kind === 'sandbox')
      throw new AccountProblem('Vandar has no refunds in a sandbox account');
    const { post, getTransaction, pageOf } = createClient(account, tools);
    const others = { ...tools, override: credentials.baseUrl };

    return {
      ...(credentials.refunds && {
        ...createRefunds(credentials.refunds, others),
        ...createRenewal(credentials.refunds, others),
      }),

      async open(payment) {
        const response = await post('send', {
          amount: toWire(capabilities, payment),
          callback_url: payment.returnUrl,
          factorNumber: payment.id,
          description: describePayment(payment),
          ...sentFields({ mobile_number: iranianMobile(payment.payer) }),
        });
        if (response.status !== 1) {
          const { httpStatus, text } = response;
          if (!openingRefusals.has(httpStatus)) throw unexpected('send', httpStatus);
          return {
            result: 'refused',
            ...providerMessage(httpStatus, text),
            ...(belowLeast.test(text) && { failureCode: 'amount_not_accepted' }),
            // No text is known to be about it.
            ...(/mobile|موبایل/i.test(text) && { isAboutPayer: true }),
          };
        }
        const { token } = response.parse(Opened);
        return {
          result: 'opened',
          reference: token,
          redirect: { method: 'GET', url: pageOf(token) },
        };
      },

      inquire: async (payment) => toStatus(await getTransaction(payment)),

      async verify(payment, mayTake) {
        const told = await getTransaction(payment);
        if (told.code !== codes.unverified) return toStatus(told);
        const { amount, transId } = told;
        if (amount !== toWire(capabilities, payment))
          return failed('amount_mismatch', null, formatMoney({ amount, currency: 'IRR' }));
        if (mayTake && !(await mayTake())) return { state: 'unconfirmed' };
        const response = await post('verify', { token: payment.reference });
        if (response.status === 1) {
          const facts = requireSamePayment(payment, response.parse(Facts));
          if (facts.transId !== transId)
            throw new GatewayUnavailable('vandar, verify: the response is about another payment');
          return paid(facts);
        }
        // Verified before, too late, or its result was told before. Only the inquiry says what became of the money.
        const now = await getTransaction(payment);
        if (now.code === codes.unverified || now.code === codes.none)
          throw unexpected('verify', response.httpStatus);
        return toStatus(now);
      },
    };
  },
});

const createClient = (
  { kind, credentials: { apiKey, baseUrl } }: Account<z.output<typeof Credentials>>,
  tools: Tools,
) => {
  // Test and live share a host: only the key keeps test payments out of a live account.
  if ((kind === 'sandbox') !== (apiKey === testKey))
    throw new AccountProblem(`The key does not belong to a ${kind} account`);
  const call = tools.callsTo({ provider: 'vandar', baseUrl: host, override: baseUrl });
  const origin = baseUrl ? new URL(baseUrl).origin : host;
  // The test key has paths of its own: an older official document says so, and for version 3 a client.
  const test = kind === 'sandbox' ? 'test/' : '';

  const post = async (operation: 'send' | 'transaction' | 'verify', body: object) => {
    const response = await call({
      operation,
      method: 'POST',
      path: `/api/v3/${test}${operation}`,
      json: { api_key: apiKey, ...body },
    });
    const name = `vandar, ${operation}`;
    const { status } = parseResponse(Envelope, response, name);
    return {
      status,
      httpStatus: response.status,
      text: textOf(response.body),
      parse: <Data extends z.ZodType>(schema: Data) => parseResponse(schema, response, name),
    };
  };

  const getTransaction = async (payment: OpenedPayment): Promise<Transaction> => {
    const response = await post('transaction', { token: payment.reference });
    if (response.status === 1) return requireSamePayment(payment, response.parse(Transaction));
    if (response.status === 0 && response.text.startsWith(nothingYet)) return { code: codes.none };
    // Any other refusal is about us or an unknown token.
    throw unexpected('transaction', response.httpStatus);
  };

  return {
    post,
    getTransaction,
    pageOf: (token: string) => `${origin}/v3/${test}${escapedPath`${token}`}`,
  };
};

/** @throws GatewayUnavailable for a response about another payment */
const requireSamePayment = <F extends z.output<typeof Facts>>(
  { id }: OpenedPayment,
  response: F,
): F => {
  if (!response.factorNumber || response.factorNumber === id) return response;
  throw new GatewayUnavailable('vandar: the response is about another payment');
};

const toStatus = (told: Transaction): GatewayStatus => {
  switch (told.code) {
    case codes.none:
      return { state: 'waiting' };
    case codes.unverified:
      return { state: 'processing' };
    case codes.verified:
      return paid(told);
    case codes.tooLate:
      return { state: 'expired' };
    case codes.failed:
      return failed('payment_not_completed', told.code);
  }
};

const paid = ({
  amount,
  transId,
  cardNumber,
}: Pick<z.output<typeof Facts>, 'amount' | 'transId' | 'cardNumber'>): GatewayStatus => ({
  state: 'paid',
  // The response has no currency. Vandar takes rials only.
  amount: fromWire(capabilities, { amount, currency: 'IRR' }),
  currency: 'IRR',
  trackingCode: String(transId),
  cardPanMasked: maskedPan(cardNumber),
});

const unexpected = (operation: string, httpStatus: number) =>
  new GatewayUnavailable(`vandar, ${operation}: unexpected refusal (HTTP ${httpStatus})`);
