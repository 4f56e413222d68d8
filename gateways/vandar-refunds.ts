import { z } from 'zod';
import type { RefundFailureCode } from '../contract/refund-failure-codes.ts';
import { dayMs } from '../contract/time.ts';
import { escapedPath, parseResponse } from './call.ts';
import { GatewayUnavailable } from './errors.ts';
import type { GatewayAdapter, KnownRefund, OpenedPayment, Tools } from './gateway.ts';
import { groupParts, joinReferences, knownRefund } from './known-refund.ts';
import { providerMessage } from './redact.ts';
import { createApi, type RefundCredentials, textOf, Token } from './vandar-api.ts';

/*
 * Source: https://github.com/vandarpay/docs (refund, invoice, auth), of 2021 to 2023. It documents no list of refunds: the list of
 * transactions has the ids of a payment's refunds, and the state of each. Try it before the first live refund.
 */

const Id = z.union([z.int().positive(), z.string().regex(/^[\w-]{1,100}$/)]).transform(String);
/** Whole rials, unlike those of the list. */
const Rials = z.union([
  z.int(),
  z
    .string()
    .regex(/^\d{1,15}$/)
    .transform(Number),
]);
const Accepted = z.object({
  status: z.literal(1),
  data: z.object({
    // One for each 150 million rials.
    results: z
      .array(
        z.object({
          gateway_transaction_id: Id,
          amount: Rials,
          payment_number: z.string().nullish(),
        }),
      )
      .min(1),
  }),
});
const Refused = z.object({ status: z.literal(0) });

/** Only whole tomans, or with the tenth that a rial is. The text moves the point: a product of doubles would not be exact. */
const Tomans = z
  .number()
  .max(1e14)
  .transform((tomans) => Number(`${tomans}e1`));
const Row = z.object({
  id: Id,
  uuid: z.string().nullish(),
  amount: Tomans,
  status: z.int(),
  ref_id: z.string().nullish(),
  payment_number: z.string().nullish(),
  factorNumber: z.string().nullish(),
  refund_detail_ids: z.array(Id),
});
type Row = z.output<typeof Row>;
/** A list, whose sample has one row alone without brackets. */
const Rows = z.object({
  status: z.literal(1),
  data: z.union([z.array(Row), Row.transform((row) => [row])]),
});

/** The statuses of money that goes out. Every other is no refund. */
const states: Readonly<Record<number, Pick<KnownRefund, 'state' | 'failureCode'>>> = {
  2: { state: 'succeeded', failureCode: null },
  [-2]: { state: 'pending', failureCode: null },
  [-3]: { state: 'failed', failureCode: 'gateway_refused' },
  [-4]: { state: 'failed', failureCode: 'cancelled' },
  [-6]: { state: 'failed', failureCode: 'returned_by_bank' },
};

/**
 * The HTTP statuses with which Vandar certainly gives nothing back: no right, no such transaction, a wrong field. Not 401: a
 * token that has ended, or was renewed in this moment. Source: the documentation (errors).
 */
const refusals: Readonly<Record<number, RefundFailureCode>> = {
  403: 'merchant_configuration',
  404: 'not_refundable',
  422: 'gateway_refused',
};

const mostParts = 20;

type Needs = Pick<Tools, 'callsTo' | 'now'> & { override: string | undefined };

export const createRefunds = (
  { business, accessToken }: RefundCredentials,
  tools: Needs,
): Required<Pick<GatewayAdapter, 'refund' | 'refunds'>> => {
  const call = createApi(tools);
  const headers = { authorization: `Bearer ${accessToken}` };

  const getRow = async (id: string): Promise<Row> => {
    const path = `${escapedPath`/v3/business/${business}/transaction`}?id=${encodeURIComponent(id)}`;
    const response = await call({ operation: 'refunds', method: 'GET', path, headers });
    const { data } = parseResponse(Rows, response, 'vandar, refunds');
    const row = data.find((each) => each.id === id || each.uuid === id);
    if (!row) throw new GatewayUnavailable('vandar, refunds: a transaction is not in the list');
    return row;
  };

  return {
    async refund({ trackingCode, ...payment }, { id, amount }) {
      const refused = (failureCode: RefundFailureCode, code: number | null, message: string) =>
        ({ result: 'refused', failureCode, ...providerMessage(code, message) }) as const;
      if (!trackingCode) return refused('not_refundable', null, 'The payment has no number');
      const response = await call({
        operation: 'refund',
        method: 'POST',
        path: escapedPath`/v3/business/${business}/transaction/${trackingCode}/refund`,
        headers,
        json: { payment_number: id, amount: String(amount), description: id },
      });
      const failureCode = refusals[response.status];
      if (failureCode && Refused.safeParse(response.body).success)
        return refused(failureCode, response.status, textOf(response.body));
      const { results } = parseResponse(Accepted, response, 'vandar, refund').data;
      // Whatever it has taken on then, the list shows it.
      if (results.some(({ payment_number: number }) => number && number !== id))
        throw new GatewayUnavailable('vandar, refund: the response is about another refund');
      if (sum(results) !== amount)
        throw new GatewayUnavailable('vandar, refund: the response has another amount');
      const reference = joinReferences(results.map((part) => part.gateway_transaction_id));
      const refund = knownRefund(reference, payment, amount);
      return { result: 'accepted', refund: { ...refund, refundId: id, state: 'pending' } };
    },

    async refunds(payment, references) {
      if (!payment.trackingCode) return [];
      const found = await getRow(payment.trackingCode);
      const isOurs = !found.factorNumber || found.factorNumber === payment.id;
      if (!isOurs || found.amount !== payment.amount)
        throw new GatewayUnavailable('vandar, refunds: the response is about another payment');
      if (found.refund_detail_ids.length > mostParts)
        throw new GatewayUnavailable('vandar, refunds: the list is too long');
      const rows: Row[] = [];
      for (const id of found.refund_detail_ids) rows.push(await getRow(id));
      return groupParts(rows, references, ({ id }) => id).map((group) => toKnown(payment, group));
    },
  };
};

const toKnown = (payment: OpenedPayment, rows: Row[]): KnownRefund => {
  const parts = rows.map(({ status }) => {
    const state = states[status];
    if (!state) throw new GatewayUnavailable(`vandar, refunds: status ${status} is no refund`);
    return state;
  });
  const areAll = (state: KnownRefund['state']) => parts.every((part) => part.state === state);
  // Done in part and failed in part is neither: it stays pending, and a person has to look.
  const state = areAll('succeeded') ? 'succeeded' : areAll('failed') ? 'failed' : 'pending';
  const failureCode = state === 'failed' ? (parts[0]?.failureCode ?? null) : null;
  const [row] = rows;
  return {
    ...knownRefund(joinReferences(rows.map(({ id }) => id)), payment, sum(rows)),
    refundId: row?.payment_number ?? null,
    state,
    failureCode,
    code: failureCode && String(row?.status),
    bankReference: row?.ref_id ?? null,
  };
};

const sum = (parts: readonly { amount: number }[]): number =>
  parts.reduce((total, { amount }) => total + amount, 0);

/** Of five days. So three without Vandar lose nothing, and a lost answer, after which a person is needed, is rare. */
const renewBeforeMs = 3 * dayMs;

const Renewed = z.object({
  token_type: z.literal('Bearer'),
  expires_in: z.int().positive().max(31_536_000),
  access_token: Token,
  refresh_token: Token,
});

export const createRenewal = (
  { business, refreshToken, endsAt: knownEnd }: RefundCredentials,
  tools: Needs,
): Required<Pick<GatewayAdapter, 'renew'>> => {
  const call = createApi(tools);
  const endsAt = knownEnd === undefined ? null : new Date(knownEnd);
  return {
    async renew() {
      const now = tools.now();
      if (endsAt && endsAt.getTime() - now.getTime() > renewBeforeMs)
        return { result: 'current', endsAt };
      try {
        const response = await call({
          operation: 'renew',
          method: 'POST',
          path: '/v3/refreshtoken',
          json: { refreshtoken: refreshToken },
        });
        if (response.status === 401)
          return { result: 'refused', reason: 'vandar, renew: HTTP 401', endsAt };
        const renewed = parseResponse(Renewed, response, 'vandar, renew');
        const end = new Date(now.getTime() + renewed.expires_in * 1_000);
        const refundCredentials = {
          business,
          accessToken: renewed.access_token,
          refreshToken: renewed.refresh_token,
          endsAt: end.toISOString(),
        };
        return { result: 'renewed', refundCredentials, endsAt: end };
      } catch (error) {
        if (!(error instanceof GatewayUnavailable)) throw error;
        return { result: 'unanswered', reason: error.message, endsAt };
      }
    },
  };
};
