import type { Filters, ListPage } from '../../contract/list.ts';
import type { ListRefunds } from '../../contract/list-refunds.ts';
import type { RefundStage } from '../../contract/refund.ts';
import type { Fragment, Queries } from '../driver/sql.ts';
import { conditionsOf, rangeOf } from '../list.ts';

/** Selects refunds for a list. Null: all of them. */
export interface RefundFilter extends Filters<ListRefunds> {
  application: string | null;
  test: boolean | null;
  paymentId: string | null;
  stage: RefundStage | null;
  /** Only those that wait for a second admin. */
  toConfirm: true | null;
}

export const everyRefund: RefundFilter = {
  application: null,
  test: null,
  paymentId: null,
  orderId: null,
  status: null,
  stage: null,
  toConfirm: null,
  from: null,
  to: null,
};

/** The condition for refunds `r` that wait for a second admin. */
export const isToConfirm = (sql: Queries) =>
  sql`r.status = 'pending' and r.to_confirm and not r.cancel_requested`;

/** The refunds `r` of a page that match, from `from` on: the newest first. */
export const matchingRefunds = (
  sql: Queries,
  { from, to, ...filter }: RefundFilter,
  { after, limit }: ListPage,
): Fragment => sql`
  from refunds r
  where true ${conditionsOf(sql, filter, {
    application: (application) => sql`r.application = ${application}`,
    test: (test) => sql`r.test = ${test}`,
    paymentId: (id) => sql`r.payment_id = ${id}`,
    orderId: (id) => sql`r.order_id = ${id}`,
    status: (status) => sql`r.status = ${status}`,
    stage: (stage) => sql`r.stage = ${stage}`,
    toConfirm: () => isToConfirm(sql),
  })} ${rangeOf(sql, { from, to }, after, { at: sql`r.created_at`, id: sql`r.id` })}
  order by r.created_at desc, r.id desc limit ${limit}`;
