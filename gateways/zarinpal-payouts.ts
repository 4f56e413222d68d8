import { z } from 'zod';
import type { ListedPayout, PayoutStatus } from '../contract/payout.ts';
import { parseResponse } from './call.ts';
import type { GatewayAdapter, Tools } from './gateway.ts';
import { accountText } from './redact.ts';
import { Amount, createGraphql, Id } from './zarinpal-graphql.ts';
import type { RefundCredentials } from './zarinpal-refunds.ts';

/*
 * ZarinPal calls a payout a reconciliation, and does not say which payments it is of. Source:
 * https://zarinpal.com/docs/apiDocs/query/reconciles, whose list has no pages. It shows the status PAID alone; the others are
 * those of a refund's payout, and one that is not known says nothing of the bank.
 */
const statuses: Readonly<Record<string, PayoutStatus>> = {
  PAID: 'paid',
  REJECTED: 'failed',
  BANK_REJECTED: 'failed',
  REVERSED: 'failed',
};

/** With the offset of Tehran. */
const Time = z.iso.datetime({ offset: true });
const Reconciliation = z.object({
  id: Id,
  status: z.string(),
  amount: Amount,
  payable_at: Time,
  /** The date and the number of the bank, as `1402,06,21N1000000000000337759`. */
  reference_id: z.union([z.int(), z.string()]).nullish(),
  reconciled_at: Time.nullish(),
});
const List = z.object({ data: z.object({ resource: z.array(Reconciliation) }) });

const query =
  'query ($terminal_id: ID, $filter: ReconciliationStatusEnum) { resource: Reconciliation(terminal_id: ' +
  '$terminal_id, filter: $filter) { id status amount payable_at reference_id reconciled_at } }';

export const createPayouts = (
  { accessToken, terminalId }: z.output<typeof RefundCredentials>,
  tools: Pick<Tools, 'callsTo'> & { override: string | undefined },
): Required<Pick<GatewayAdapter, 'payouts'>> => {
  const ask = createGraphql(accessToken, tools);
  return {
    async payouts(since) {
      const response = await ask('payouts', query, { terminal_id: terminalId, filter: 'ALL' });
      const all = parseResponse(List, response, 'zarinpal, payouts').data.resource;
      return {
        payouts: all.map(toPayout).filter(({ createdAt }) => createdAt >= since),
        next: null,
      };
    },
  };
};

const toPayout = (each: z.output<typeof Reconciliation>): ListedPayout => ({
  id: each.id,
  amount: each.amount,
  currency: 'IRR',
  status: statuses[each.status] ?? 'on_its_way',
  createdAt: new Date(each.payable_at),
  arrivesOn: each.reconciled_at?.slice(0, 10) ?? null,
  descriptor: null,
  bankReference: accountText(each.reference_id),
  lines: 'never',
  paidOut: [],
});
