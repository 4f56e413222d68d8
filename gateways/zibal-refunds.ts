import { z } from 'zod';
import type { RefundFailureCode } from '../contract/refund-failure-codes.ts';
import { dayMs } from '../contract/time.ts';
import { parseResponse } from './call.ts';
import { GatewayUnavailable } from './errors.ts';
import type { GatewayAdapter, KnownRefund, OpenedPayment, Tools } from './gateway.ts';
import { groupParts, joinReferences, knownRefund, reversedPayment } from './known-refund.ts';
import { providerMessage } from './redact.ts';
import { createPlatform, done, Id, TehranTime, unexpected } from './zibal-platform.ts';

/*
 * Source: independent clients. Check every field against the live documentation before the first live refund.
 * A card number is never sent: Zibal would pay to that card, whoever's it is.
 */
/** The access token can move money out, so only an account that refunds has it. */
export const RefundCredentials = z.strictObject({
  accessToken: z.string().regex(/^[\x21-\x7e]{8,4000}$/),
  accountId: z.string().regex(/^[\w-]{1,100}$/),
});

const Accepted = z.object({
  data: z.object({
    reversed: z.boolean().nullish(),
    // One client reads the number here, the other ones in the parts.
    refundId: Id.nullish(),
    split: z.array(z.object({ refundId: Id, amount: z.int() })).nullish(),
  }),
});
const Row = z.object({
  refundId: Id,
  /** 0 waits, 1 waits for the deposit, 2 done, 3 failed. */
  status: z.literal([0, 1, 2, 3]),
  amount: z.int(),
  transactionDetail: z.object({ trackId: Id }),
  createdAt: TehranTime.nullish(),
});
type Row = z.output<typeof Row>;
const Page = z.object({ data: z.array(Row) });

const pageSize = 100;
const mostPages = 20;

/**
 * The results with which Zibal certainly gives nothing back. Any other result is no outcome. Source: PyPI zibalPlatform
 * 1.0.0; 29, too little in the wallet for the fee, is of a Java client. Both refuse with 26, and name different reasons: that
 * the refund is not possible, and that the credit for inquiries of account numbers is used up. So it has no reason here.
 */
const refusals: Record<number, RefundFailureCode> = {
  9: 'not_refundable',
  11: 'insufficient_balance',
  29: 'insufficient_balance',
  26: 'gateway_refused',
  2: 'merchant_configuration',
  3: 'merchant_configuration',
  4: 'merchant_configuration',
  7: 'merchant_configuration',
  8: 'merchant_configuration',
  10: 'merchant_configuration',
  18: 'merchant_configuration',
};

/**
 * @param isReversed whether Zibal shows the payment as reversed: such money is in no list of refunds
 */
export const createRefunds = (
  { accessToken, accountId }: z.output<typeof RefundCredentials>,
  {
    isReversed,
    ...tools
  }: Pick<Tools, 'callsTo'> & {
    override: string | undefined;
    isReversed: (payment: OpenedPayment) => Promise<boolean>;
  },
): Required<Pick<GatewayAdapter, 'refund' | 'refunds'>> => {
  const post = createPlatform(accessToken, tools);

  const listRows = async ({ reference, expiresAt }: OpenedPayment): Promise<Row[]> => {
    // A payment lives for a day at most before its deadline, and the second day covers the time zones.
    const fromDate = new Date(expiresAt.getTime() - 2 * dayMs).toISOString().slice(0, 10);
    const rows: Row[] = [];
    for (let page = 1; page <= mostPages; page++) {
      // No account: no source sends it here. The token has one, and each row names its payment.
      const body = { page, size: pageSize, fromDate };
      const { response, result } = await post('refunds', '/v1/account/refund/list', body);
      if (result !== done) throw unexpected('refunds', result);
      const { data } = parseResponse(Page, response, 'zibal, refunds');
      rows.push(...data.filter(({ transactionDetail: of }) => of.trackId === reference));
      if (data.length < pageSize) return rows;
    }
    throw new GatewayUnavailable('zibal, refunds: the list is too long');
  };

  return {
    async refund(payment, { id, amount }) {
      const { response, result, message } = await post('refund', '/v1/account/refund', {
        trackId: Number(payment.reference),
        accountId,
        amount,
        // The quick way, without a fee, for the whole amount only.
        tryReverse: amount === payment.amount,
        description: id,
      });
      if (result === done) {
        const { reversed, refundId, split } = parseResponse(
          Accepted,
          response,
          'zibal, refund',
        ).data;
        if (reversed) return { result: 'accepted', refund: reversedPayment(payment) };
        const parts = (split ?? []).map((part) => part.refundId);
        const references = parts.length === 0 && refundId ? [refundId] : parts;
        if (references.length === 0)
          throw new GatewayUnavailable('zibal, refund: accepted, but without a number');
        const refund = knownRefund(joinReferences(references), payment, amount);
        return { result: 'accepted', refund: { ...refund, state: 'pending' } };
      }
      const failureCode = refusals[result];
      if (!failureCode) throw unexpected('refund', result);
      return { result: 'refused', failureCode, ...providerMessage(result, message) };
    },

    async refunds(payment, references) {
      const rows = await listRows(payment);
      if (rows.length === 0) return (await isReversed(payment)) ? [reversedPayment(payment)] : [];
      return groupParts(rows, references, ({ refundId }) => refundId).map((group) =>
        toKnown(payment, group),
      );
    },
  };
};

const toKnown = (payment: OpenedPayment, rows: Row[]): KnownRefund => {
  const all = (status: Row['status']) => rows.every((row) => row.status === status);
  // Done in part and failed in part is neither: it stays pending, and a person has to look.
  const state = all(2) ? 'succeeded' : all(3) ? 'failed' : 'pending';
  const amount = rows.reduce((sum, row) => sum + row.amount, 0);
  return {
    ...knownRefund(joinReferences(rows.map(({ refundId }) => refundId)), payment, amount),
    state,
    failureCode: state === 'failed' ? 'gateway_refused' : null,
    createdAt: rows[0]?.createdAt ?? null,
  };
};
