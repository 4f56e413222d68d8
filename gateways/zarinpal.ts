import { z } from 'zod';
import { toWire } from './amount.ts';
import type {
  Account,
  Answer,
  Capabilities,
  GatewayAdapter,
  GatewayPayment,
  OpenedPayment,
  Tools,
} from './gateway.ts';
import { AccountProblem, defineDriver, GatewayUnavailable } from './gateway.ts';
import { pathOf, read } from './call.ts';
import { maskedPan, wordsOf } from './redact.ts';

const hosts = { sandbox: 'https://sandbox.zarinpal.com', live: 'https://payment.zarinpal.com' };

const capabilities: Capabilities = {
  // At most 1,000,000,000 rials; there is no official minimum.
  currencies: new Map([['IRR', { wireExponent: 0, min: 1, max: 1_000_000_000, step: 1 }]]),
  expirySeconds: { min: 60, max: 86_400 },
  twoStepVerify: true,
  tellsReversal: true,
};

const Credentials = z.strictObject({ merchantId: z.guid(), baseUrl: z.string().optional() });

const Authority = z.string().regex(/^[A-Za-z0-9-]{36}$/);
const Empty = z.union([z.array(z.unknown()).max(0), z.strictObject({}), z.literal(''), z.null()]);

/** The types change with the outcome: on failure `data` is empty and `errors` an object. */
const Refusal = z.object({
  data: Empty.optional(),
  errors: z.object({ code: z.int(), message: z.string().nullish() }),
});
const Success = z.object({ data: z.unknown(), errors: Empty.optional() });

const Opened = z.object({ code: z.literal(100), authority: Authority });
const Verified = z.object({
  code: z.literal([100, 101]),
  // A number in the documentation; whether 101 always carries it is not confirmed.
  ref_id: z.union([z.int().nonnegative(), z.string().regex(/^[\x21-\x7e]{1,100}$/)]).nullish(),
  card_pan: z.string().nullish(),
});
const Inquired = z.object({
  status: z.enum(['VERIFIED', 'PAID', 'IN_BANK', 'FAILED', 'REVERSED']),
});
const Reversed = z.object({ code: z.literal(100) });
// That these are at most the latest 100 is from a third-party client. Its documentation's sample has
// the code as a text.
const Unverified = z.object({
  code: z.literal([100, '100']),
  authorities: z.array(z.object({ authority: Authority })),
});

/** Refusals of a verification that are about the payment. All others are about us, or a fault there. */
const refusals = { anotherAmount: -50, notPaid: -51 } as const;

/**
 * About the account or what was sent: https://www.zarinpal.com/docs/paymentGateway/errorList. Of −12,
 * too many attempts, the same call may succeed a moment later.
 */
const isOpeningRefusal = (code: number) =>
  (code <= -9 && code >= -19 && code !== -12) || (code <= -30 && code >= -41);

export const zarinpal = defineDriver({
  capabilities,
  credentials: Credentials,
  parseReturn(query) {
    const status = query.get('Status');
    if (status === 'OK') return 'paid';
    // NOK does not tell cancelled from failed.
    return status === 'NOK' ? 'unpaid' : 'nothing';
  },
  connect(account, tools): GatewayAdapter {
    const { kind } = account;
    const { ask, statusOf, guard, isOfKind, origin } = createClient(account, tools);
    const inquire = async (payment: OpenedPayment): Promise<Answer> =>
      toAnswer(await statusOf(payment), payment);

    return {
      inquire,

      async open(payment) {
        const answer = await ask('request', requestOf(payment), Opened);
        if (answer.refusal) {
          const { code, message } = answer.refusal;
          if (!isOpeningRefusal(code)) throw refused('request', code);
          return { result: 'refused', ...wordsOf(code, message) };
        }
        const { authority } = answer.ok;
        if (!isOfKind(authority))
          return { result: 'refused', code: 'test_mode_guard', message: `Not a ${kind} authority` };
        const url = `${origin}${pathOf`/pg/StartPay/${authority}`}`;
        return { result: 'opened', reference: authority, redirect: { method: 'GET', url } };
      },

      async verify(payment) {
        // Verifying first would take a payer who is still at the bank for one who failed.
        const status = await statusOf(payment);
        if (!isPaid(status)) return toAnswer(status, payment);
        const answer = await ask(
          'verify',
          { ...guard(payment), amount: toWire(capabilities, payment) },
          Verified,
        );
        if (answer.refusal) {
          const { code, message } = answer.refusal;
          if (code === refusals.anotherAmount)
            return { state: 'failed', failureCode: 'amount_mismatch', ...wordsOf(code, message) };
          if (code !== refusals.notPaid) throw refused('verify', code);
          // The inquiry has said that it is paid: as long as it does, the two contradict each other.
          const now = await statusOf(payment);
          if (isPaid(now)) throw refused('verify', code);
          return toAnswer(now, payment);
        }
        const { ref_id: ref, card_pan: card } = answer.ok;
        const told = { trackingCode: ref ? String(ref) : null, cardPanMasked: maskedPan(card) };
        if (ref) return { ...paid(payment), ...told };
        // Verified before, but without its number: it is paid only if the inquiry says so too.
        const stands = await inquire(payment);
        return stands.state === 'paid' ? { ...stands, ...told } : stands;
      },

      // Up to 30 minutes after the payment; it refuses later.
      async reverse(payment) {
        const answer = await ask('reverse', guard(payment), Reversed);
        if (!answer.refusal) return { result: 'reversed' };
        return { result: 'refused', ...wordsOf(answer.refusal.code, answer.refusal.message) };
      },

      async listUnverified() {
        const answer = await ask('unVerified', {}, Unverified);
        if (answer.refusal) throw refused('unVerified', answer.refusal.code);
        const references = answer.ok.authorities.map(({ authority }) => authority);
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

  const ask = async <Data extends z.ZodType>(what: string, body: object, data: Data) => {
    const answer = await call({
      what,
      method: 'POST',
      path: `/pg/v4/payment/${what}.json`,
      json: { merchant_id: merchantId, ...body },
    });
    const refusal = Refusal.safeParse(answer.body).data?.errors;
    if (refusal) return { refusal };
    const success = read(Success, answer, `zarinpal, ${what}`);
    return { ok: read(data, { ...answer, body: success.data }, `zarinpal, ${what}`) };
  };

  /** Test authorities start with S, live ones with A: money of one kind never counts for the other. */
  const isOfKind = (authority: string) => authority.startsWith(kind === 'sandbox' ? 'S' : 'A');
  const guard = ({ reference }: OpenedPayment): { authority: string } => {
    if (!isOfKind(reference))
      throw new AccountProblem(`A reference is not of the account's kind, ${kind}`);
    return { authority: reference };
  };

  const statusOf = async (payment: OpenedPayment) => {
    const answer = await ask('inquiry', guard(payment), Inquired);
    // Why it does not answer the question is about us: it says nothing of the payment.
    if (answer.refusal) throw refused('inquiry', answer.refusal.code);
    return answer.ok.status;
  };

  return { ask, statusOf, guard, isOfKind, origin };
};

const requestOf = (payment: GatewayPayment) => ({
  amount: toWire(capabilities, payment),
  currency: 'IRR',
  description: payment.description || payment.id,
  callback_url: payment.returnUrl,
  // auto_verify is from third-party clients. Unset, the merchant's panel decides, and would settle
  // late payments behind our back.
  metadata: { order_id: payment.id, auto_verify: false },
});

type Status = z.output<typeof Inquired>['status'];

const isPaid = (status: Status) => status === 'PAID' || status === 'VERIFIED';

const toAnswer = (status: Status, payment: OpenedPayment): Answer => {
  switch (status) {
    case 'IN_BANK':
      // Also what a payer leaves behind who has gone away: no sign that money is on its way. Who pays
      // after the deadline is not verified any more, and ZarinPal gives it back.
      return { state: 'waiting' };
    case 'PAID':
      return { state: 'processing' };
    case 'VERIFIED':
      return paid(payment);
    case 'FAILED':
      return { state: 'failed', failureCode: 'payment_not_completed', ...wordsOf(status, null) };
    case 'REVERSED':
      return { state: 'failed', failureCode: 'payment_reversed', ...wordsOf(status, null) };
  }
};

/** ZarinPal names no amount: it verified the one we sent, and refuses another with −50. */
const paid = ({ amount, currency }: OpenedPayment) =>
  ({ state: 'paid', amount, currency, trackingCode: null, cardPanMasked: null }) as const;

const refused = (what: string, code: number) =>
  new GatewayUnavailable(`zarinpal, ${what}: it refused to answer, code ${code}`);
