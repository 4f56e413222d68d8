import { z } from 'zod';
import type { BookEntry } from '../contract/book-entry.ts';
import type { ListedPayout } from '../contract/payout.ts';
import { parseResponse } from './call.ts';
import type { GatewayAdapter, Tools } from './gateway.ts';
import { accountText } from './redact.ts';
import { createPlatform, done, Id, TehranTime, unexpected } from './zibal-platform.ts';
import type { RefundCredentials } from './zibal-refunds.ts';

/*
 * Zibal calls a payout a checkout or a settlement, and reports it once the bank has it. Source: independent clients. None of
 * them says whether the amounts of the details are before or after the wage, or what their types are: check them before
 * the first live settlement.
 */

const Detail = z.object({
  amount: z.int(),
  type: z.int().nullish(),
  /** The trackId of a payment. */
  transactionId: Id.or(z.literal('')).nullish(),
});
const Row = z.object({
  amount: z.int(),
  settlementDate: TehranTime,
  /** The bank's own. */
  refNumber: z.union([z.int(), z.string()]).nullish(),
  /** {@link atTheBank}; with any other it came back to the account. */
  status: z.int(),
  details: z.array(Detail).nullish(),
});
const Page = z.object({ data: z.array(Row) });

const atTheBank = 0;
/** One of them may name thousands of payments. */
const pageSize = 1;

export const createPayouts = (
  { accessToken }: z.output<typeof RefundCredentials>,
  tools: Pick<Tools, 'callsTo'> & { override: string | undefined },
): Required<Pick<GatewayAdapter, 'payouts'>> => {
  const post = createPlatform(accessToken, tools);
  return {
    async payouts(since, after) {
      const page = Number(after ?? 1);
      const { response, result } = await post('payouts', '/v1/report/checkout', {
        page,
        size: pageSize,
        fromDate: since.toISOString().slice(0, 10),
      });
      if (result !== done) throw unexpected('payouts', result);
      const { data } = parseResponse(Page, response, 'zibal, payouts');
      return {
        payouts: data.flatMap(toPayout),
        next: data.length < pageSize ? null : String(page + 1),
      };
    },
  };
};

const toPayout = ({
  amount,
  settlementDate: at,
  refNumber,
  status,
  details,
}: z.output<typeof Row>): ListedPayout[] => {
  const id = accountText(refNumber);
  // The bank does not have it yet.
  if (id === null) return [];
  const parts = (details ?? []).map((part, index) => ({
    ...{ id: `${id}_${String(index + 1).padStart(5, '0')}`, at, kind: kindOf(part) },
    ...{ type: `type ${part.type ?? 'unknown'}`, amount: part.amount },
    source: part.transactionId || null,
  }));
  return [
    {
      ...{ id, amount, currency: 'IRR', createdAt: at, arrivesOn: tehranDay(at), descriptor: null },
      ...{ bankReference: id, status: status === atTheBank ? 'paid' : 'failed' },
      ...{ lines: parts.length === 0 ? 'never' : 'listed', paidOut: parts },
    },
  ];
};

const kindOf = ({ transactionId, amount }: z.output<typeof Detail>): BookEntry['kind'] => {
  if (!transactionId) return 'other';
  return amount < 0 ? 'refund' : 'payment';
};

const tehranDay = (at: Date): string =>
  new Date(at.getTime() + 3.5 * 3_600_000).toISOString().slice(0, 10);
