import { z } from 'zod';
import { toWire } from './amount.ts';
import { escapedPath, parseResponse } from './call.ts';
import { describePayment } from './description.ts';
import { AccountProblem, GatewayUnavailable } from './errors.ts';
import type {
  Account,
  Capabilities,
  GatewayAdapter,
  GatewayPayment,
  GatewayStatus,
  OpenedPayment,
  Reversal,
  Tools,
} from './gateway.ts';
import { defineDriver } from './gateway.ts';
import { reversedPayment } from './known-refund.ts';
import { iranianMobile, sentFields } from './payer.ts';
import { failed, maskedPan, providerMessage } from './redact.ts';
import { FeeField, merchantOrPayer, reportedFee } from './reported-fee.ts';
import { createPayouts } from './zarinpal-payouts.ts';
import { createRefunds, RefundCredentials } from './zarinpal-refunds.ts';

const hosts = { sandbox: 'https://sandbox.zarinpal.com', live: 'https://payment.zarinpal.com' };

const capabilities: Capabilities = {
  // The maximum is of the documentation, which names no minimum: ZarinPal's own PHP library refuses less than 1,000.
  currencies: new Map([['IRR', { wireExponent: 0, min: 1_000, max: 1_000_000_000, step: 1 }]]),
  expirySeconds: { min: 60, max: 86_400 },
  twoStepVerify: true,
  // Not documented: usual for gateways in Iran.
  returnTime: { minutes: 30 },
  reportsFees: true,
  reportsReversals: true,
  reversal: { windowMs: 30 * 60_000 },
  refund: {
    partial: true,
    several: 'once',
    least: 20_000,
    windowMs: null,
    keyed: false,
    credentials: 'refunds',
  },
};

const Credentials = z.strictObject({
  merchantId: z.guid(),
  refunds: RefundCredentials.optional(),
  baseUrl: z.string().optional(),
});

const Authority = z.string().regex(/^[A-Za-z0-9-]{36}$/);
const Empty = z.union([z.array(z.unknown()).max(0), z.strictObject({}), z.literal(''), z.null()]);

/** A failure has an object in `errors` and empty `data`, a success the other way round. */
const Refusal = z.object({
  data: Empty.optional(),
  errors: z.object({
    code: z.int(),
    message: z.string().nullish(),
    // The fields that a validation refuses. Not documented: seen as an object, and as a list of objects.
    validations: z.unknown().optional(),
  }),
});
const Success = z.object({ data: z.unknown(), errors: Empty.optional() });

/** In the currency of the request. Source: https://www.zarinpal.com/docs/paymentGateway/, and its PHP library. */
const TellsFee = { fee: FeeField, fee_type: merchantOrPayer };
const Opened = z.object({ code: z.literal(100), authority: Authority, ...TellsFee });
const Verified = z.object({
  code: z.literal([100, 101]),
  // A number in the documentation. It is not confirmed that 101 always has it.
  ref_id: z.union([z.int().nonnegative(), z.string().regex(/^[\x21-\x7e]{1,100}$/)]).nullish(),
  card_pan: z.string().nullish(),
  ...TellsFee,
});
const Inquired = z.object({
  status: z.enum(['VERIFIED', 'PAID', 'IN_BANK', 'FAILED', 'REVERSED']),
});
const Reversed = z.object({ code: z.literal(100) });
// At most the latest 100, says a third-party client. The code is a text in ZarinPal's own sample.
const Unverified = z.object({
  code: z.literal([100, '100']),
  authorities: z.array(z.object({ authority: Authority })),
});

/** Refusals of a verification because of the payment. All others are about us, or a fault of theirs. */
const refusals = { anotherAmount: -50, notPaid: -51 } as const;

/**
 * Refusals because of the account or the request. Not −12, too many attempts: a retry may succeed.
 * Source: https://www.zarinpal.com/docs/paymentGateway/errorList.
 */
const isOpeningRefusal = (code: number) =>
  (code <= -9 && code >= -19 && code !== -12) || (code <= -30 && code >= -41);
/** The fields that a validation, −9, names. */
const fieldsOf = ({ code, validations }: z.output<typeof Refusal>['errors']): string[] =>
  code === -9 ? [validations].flat().flatMap((each) => Object.keys(Object(each) as object)) : [];
/** −41 is more than 100,000,000 tomans. −9 is a validation, and about the amount if that alone is named. */
const isAmountRefusal = (errors: z.output<typeof Refusal>['errors']): boolean => {
  const found = fieldsOf(errors);
  return errors.code === -41 || (found.length > 0 && found.every((name) => name === 'amount'));
};
/** A validation that names `metadata` or a part of it. A validation that names nothing may be about it. */
const isPayerRefusal = (errors: z.output<typeof Refusal>['errors']): boolean => {
  const found = fieldsOf(errors);
  const isNamed = found.some((name) => /^metadata\b|\b(?:mobile|email)$/.test(name));
  return errors.code === -9 && (found.length === 0 || isNamed);
};

/**
 * Refusals of a reversal: the bank cannot, not in the success state, our address, too late, or the account. After
 * any other the money may be on its way.
 */
const isReversalRefusal = (code: number) => (code <= -60 && code >= -63) || isOpeningRefusal(code);
const notInSuccessState = -61;
const noRefunds = { code: null, message: 'The account has no credentials for refunds' } as const;

export const zarinpal = defineDriver({
  capabilities,
  credentials: Credentials,
  parseReturn(query) {
    const status = query.get('Status');
    if (status === 'OK') return 'paid';
    // NOK is the same for a cancelled and a failed payment.
    return status === 'NOK' ? 'unpaid' : 'nothing';
  },
  connect(account, tools): GatewayAdapter {
    const { kind, credentials } = account;
    if (credentials.refunds && kind === 'sandbox')
      throw new AccountProblem('ZarinPal has no refunds in its sandbox');
    const { post, getStatus, toBody, isOfKind, origin } = createClient(account, tools);
    const inquire = async (payment: OpenedPayment): Promise<GatewayStatus> =>
      toStatus(await getStatus(payment), payment);
    const others = { ...tools, override: credentials.baseUrl };
    const refunds = credentials.refunds && createRefunds(credentials.refunds, others);

    // ZarinPal allows it up to 30 minutes after the payment.
    const reverse = async (payment: OpenedPayment): Promise<Reversal> => {
      const { refusal } = await post('reverse', toBody(payment), Reversed);
      if (!refusal) return { result: 'reversed' };
      if (!isReversalRefusal(refusal.code)) throw unexpected('reverse', refusal.code);
      // Also the answer for money that was reversed before.
      const isDone =
        refusal.code === notInSuccessState && (await getStatus(payment)) === 'REVERSED';
      if (isDone) return { result: 'reversed' };
      return { result: 'refused', ...providerMessage(refusal.code, refusal.message) };
    };

    return {
      inquire,
      reverse,
      ...(credentials.refunds && createPayouts(credentials.refunds, others)),

      async refund(payment, refund) {
        if (refund.isReversible) {
          const reversal = await reverse(payment);
          if (reversal.result === 'reversed')
            return { result: 'accepted', refund: reversedPayment(payment) };
          if (!refunds && reversal.result === 'refused')
            return { ...reversal, failureCode: 'not_refundable' };
        }
        if (refunds) return refunds.refund(payment, refund);
        return { result: 'refused', failureCode: 'merchant_configuration', ...noRefunds };
      },

      async refunds(payment, references) {
        if ((await getStatus(payment)) === 'REVERSED') return [reversedPayment(payment)];
        return refunds?.refunds(payment, references) ?? [];
      },

      async open(payment) {
        const response = await post('request', toOpeningBody(payment), Opened);
        if (response.refusal) {
          const { code, message } = response.refusal;
          if (!isOpeningRefusal(code)) throw unexpected('request', code);
          return {
            result: 'refused',
            ...providerMessage(code, message),
            ...(isAmountRefusal(response.refusal) && { failureCode: 'amount_not_accepted' }),
            ...(isPayerRefusal(response.refusal) && { isAboutPayer: true }),
          };
        }
        const { authority, fee, fee_type: paidBy } = response.data;
        if (!isOfKind(authority))
          return { result: 'refused', code: 'test_mode_guard', message: `Not a ${kind} authority` };
        const url = `${origin}${escapedPath`/pg/StartPay/${authority}`}`;
        return {
          result: 'opened',
          reference: authority,
          redirect: { method: 'GET', url },
          fee: reportedFee(fee, paidBy, payment),
        };
      },

      async verify(payment, mayTake) {
        // Inquire first: a verification reports a payer who is still at the bank as failed.
        const status = await getStatus(payment);
        if (!isPaid(status)) return toStatus(status, payment);
        if (status === 'PAID' && mayTake && !(await mayTake())) return { state: 'unconfirmed' };
        const response = await post(
          'verify',
          { ...toBody(payment), amount: toWire(capabilities, payment) },
          Verified,
        );
        if (response.refusal) {
          const { code, message } = response.refusal;
          if (code === refusals.anotherAmount) return failed('amount_mismatch', code, message);
          if (code !== refusals.notPaid) throw unexpected('verify', code);
          // The inquiry said paid, the verification says not paid. Ask again; no outcome if they still differ.
          const now = await getStatus(payment);
          if (isPaid(now)) throw unexpected('verify', code);
          return toStatus(now, payment);
        }
        const { ref_id: ref, card_pan: card, fee, fee_type: paidBy } = response.data;
        const facts = {
          trackingCode: ref ? String(ref) : null,
          cardPanMasked: maskedPan(card),
          fee: reportedFee(fee, paidBy, payment),
        };
        if (ref) return { ...paid(payment), ...facts };
        // Verified before, but without its number: the inquiry must confirm it.
        const confirmed = await inquire(payment);
        return confirmed.state === 'paid' ? { ...confirmed, ...facts } : confirmed;
      },

      async listUnverified() {
        const response = await post('unVerified', {}, Unverified);
        if (response.refusal) throw unexpected('unVerified', response.refusal.code);
        const references = response.data.authorities.map(({ authority }) => authority);
        return { references: references.filter(isOfKind), complete: references.length < 100 };
      },
    };
  },
});

const createClient = (
  { kind, credentials: { merchantId, baseUrl } }: Account<z.output<typeof Credentials>>,
  tools: Tools,
) => {
  const call = tools.callsTo({ provider: 'zarinpal', baseUrl: hosts[kind], override: baseUrl });
  const origin = baseUrl ? new URL(baseUrl).origin : hosts[kind];

  const post = async <Data extends z.ZodType>(operation: string, body: object, schema: Data) => {
    const response = await call({
      operation,
      method: 'POST',
      path: `/pg/v4/payment/${operation}.json`,
      json: { merchant_id: merchantId, ...body },
    });
    const refusal = Refusal.safeParse(response.body).data?.errors;
    if (refusal) return { refusal };
    const name = `zarinpal, ${operation}`;
    const { data } = parseResponse(Success, response, name);
    return { data: parseResponse(schema, { ...response, body: data }, name) };
  };

  /** Test authorities start with S, live ones with A: money of one kind never counts for the other. */
  const isOfKind = (authority: string) => authority.startsWith(kind === 'sandbox' ? 'S' : 'A');
  const toBody = ({ reference }: OpenedPayment): { authority: string } => {
    if (!isOfKind(reference))
      throw new AccountProblem(`The reference does not belong to a ${kind} account`);
    return { authority: reference };
  };

  const getStatus = async (payment: OpenedPayment) => {
    const response = await post('inquiry', toBody(payment), Inquired);
    // A refused inquiry is about us. It says nothing about the payment.
    if (response.refusal) throw unexpected('inquiry', response.refusal.code);
    return response.data.status;
  };

  return { post, getStatus, toBody, isOfKind, origin };
};

const toOpeningBody = (payment: GatewayPayment) => ({
  amount: toWire(capabilities, payment),
  currency: 'IRR',
  description: describePayment(payment),
  callback_url: payment.returnUrl,
  // auto_verify is from third-party clients. Without it the merchant's panel decides, and could capture
  // late payments without us.
  metadata: {
    order_id: payment.id,
    auto_verify: false,
    ...sentFields({ mobile: iranianMobile(payment.payer), email: payment.payer?.email }),
  },
});

type Status = z.output<typeof Inquired>['status'];

const isPaid = (status: Status) => status === 'PAID' || status === 'VERIFIED';

const toStatus = (status: Status, payment: OpenedPayment): GatewayStatus => {
  switch (status) {
    case 'IN_BANK':
      // Not `processing`: a payer who has gone away leaves this status too. A payment after the deadline
      // is not verified, and ZarinPal returns the money.
      return { state: 'waiting' };
    case 'PAID':
      return { state: 'processing' };
    case 'VERIFIED':
      return paid(payment);
    case 'FAILED':
      return failed('payment_not_completed', status);
    case 'REVERSED':
      return failed('payment_reversed', status);
  }
};

/** ZarinPal's responses have no amount: it verifies the one we send, and refuses another with −50. */
const paid = ({ amount, currency }: OpenedPayment) =>
  ({ state: 'paid', amount, currency, trackingCode: null, cardPanMasked: null }) as const;

const unexpected = (operation: string, code: number) =>
  new GatewayUnavailable(`zarinpal, ${operation}: unexpected refusal, code ${code}`);
