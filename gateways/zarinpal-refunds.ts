import { z } from 'zod';
import type { RefundFailureCode } from '../contract/refund-failure-codes.ts';
import { parseResponse } from './call.ts';
import { GatewayUnavailable } from './errors.ts';
import type { GatewayAdapter, OpenedPayment, Tools } from './gateway.ts';
import { knownRefund } from './known-refund.ts';
import { providerMessage } from './redact.ts';
import { Amount, createGraphql, Id } from './zarinpal-graphql.ts';

/*
 * Source: the official PHP SDK and https://zarinpal.com/docs/apiDocs/query/refund. The fields of `refund`, the
 * statuses and the types of errors are from third-party clients of the live schema: check them before the first live
 * refund. Another client has queries GetRefund and GetRefunds, which contradict the SDK and are not used.
 */
/** The access token can move money out, so only an account that refunds has it. */
export const RefundCredentials = z.strictObject({
  accessToken: z.string().regex(/^[\x21-\x7e]{8,4000}$/),
  terminalId: z.string().regex(/^[\w-]{1,100}$/),
  /** CARD pays at once, PAYA in the next cycle of the banks, and their fees differ. */
  method: z.enum(['CARD', 'PAYA']).default('PAYA'),
});

/** GraphQL sends its errors with any HTTP status. */
const Errors = z.object({
  errors: z
    .array(
      z.object({
        message: z.string(),
        extensions: z.object({ category: z.string().nullish() }).nullish(),
      }),
    )
    .min(1),
});
const payoutStatuses = {
  PENDING: 'pending',
  IN_PROGRESS: 'pending',
  PAID: 'succeeded',
  REJECTED: 'failed',
  BANK_REJECTED: 'failed',
  // It was paid out, and came back.
  REVERSED: 'failed',
} as const;
const PayoutStatus = z.enum(Object.keys(payoutStatuses) as (keyof typeof payoutStatuses)[]);
const failureCodes: Partial<Record<z.output<typeof PayoutStatus>, RefundFailureCode>> = {
  REJECTED: 'gateway_refused',
  BANK_REJECTED: 'returned_by_bank',
  REVERSED: 'returned_by_bank',
};

/**
 * The categories of errors with which a refund is certainly refused: the server has rejected the arguments, the token or
 * the right before it did anything. Any other error may have come after the money went, and is no outcome. Source:
 * third-party clients of the live schema.
 */
const refusals = new Map<string | null | undefined, RefundFailureCode>([
  // A balance that is too low has no code of its own.
  ['validation', 'gateway_refused'],
  ['authentication', 'merchant_configuration'],
  ['authorization', 'merchant_configuration'],
]);

const Session = z.object({
  id: Id,
  amount: Amount,
  refund: z
    .object({
      instant_payout: z.object({
        status: PayoutStatus,
        amount: Amount,
        reference_id: Id.nullish(),
      }),
    })
    .nullish(),
});
type Session = z.output<typeof Session>;
const Sessions = z.object({ data: z.object({ Session: z.array(Session).max(1) }) });
const Added = z.object({ data: z.object({ AddRefund: z.object({ id: Id }) }) });

const sessionQuery =
  'query ($terminal_id: ID!, $reference_id: String) { Session(terminal_id: $terminal_id, reference_id: ' +
  '$reference_id) { id amount refund { instant_payout { status amount reference_id } } } }';
const refundQuery = (method: string) =>
  'mutation ($session_id: ID!, $amount: BigInteger!, $description: String) { AddRefund(session_id: $session_id, ' +
  `amount: $amount, description: $description, method: ${method}, reason: CUSTOMER_REQUEST) { id } }`;

export const createRefunds = (
  { accessToken, terminalId, method }: z.output<typeof RefundCredentials>,
  tools: Pick<Tools, 'callsTo'> & { override: string | undefined },
): Required<Pick<GatewayAdapter, 'refund' | 'refunds'>> => {
  const ask = createGraphql(accessToken, tools);

  /** Undefined where ZarinPal has no such session, or for a payment without its number. */
  const findSession = async (payment: OpenedPayment): Promise<Session | undefined> => {
    // The session's id is neither the authority nor this number.
    if (!payment.trackingCode) return undefined;
    const variables = { terminal_id: terminalId, reference_id: payment.trackingCode };
    const response = await ask('session', sessionQuery, variables);
    const [session] = parseResponse(Sessions, response, 'zarinpal, session').data.Session;
    if (session && session.amount !== payment.amount)
      throw new GatewayUnavailable('zarinpal, session: the response is about another payment');
    return session;
  };

  return {
    async refund(payment, { id, amount }) {
      const session = await findSession(payment);
      const refused = (failureCode: RefundFailureCode, message: string) =>
        ({ result: 'refused', failureCode, ...providerMessage(null, message) }) as const;
      if (!session) return refused('not_refundable', 'ZarinPal has no such session');
      // A session has one refund, so the session's id is the refund's.
      if (session.refund) return refused('already_refunded', 'A session has one refund');
      const response = await ask('refund', refundQuery(method), {
        session_id: session.id,
        amount,
        description: id,
      });
      if (Added.safeParse(response.body).success)
        return {
          result: 'accepted',
          refund: { ...knownRefund(session.id, payment, amount), state: 'pending' },
        };
      const { errors } = parseResponse(Errors, response, 'zarinpal, refund');
      const [failureCode, ...others] = errors.map(({ extensions }) =>
        refusals.get(extensions?.category),
      );
      if (!failureCode || others.includes(undefined))
        throw new GatewayUnavailable('zarinpal, refund: unexpected error');
      const [error] = errors;
      return {
        result: 'refused',
        failureCode,
        ...providerMessage(error?.extensions?.category ?? null, error?.message),
      };
    },

    async refunds(payment) {
      const session = await findSession(payment);
      if (!session?.refund) return [];
      const { status, amount, reference_id: bankReference = null } = session.refund.instant_payout;
      const failureCode = failureCodes[status] ?? null;
      const state = payoutStatuses[status];
      const { code } = providerMessage(failureCode && status, null);
      return [
        { ...knownRefund(session.id, payment, amount), state, failureCode, code, bankReference },
      ];
    },
  };
};
