import type { Dispute } from '../../contract/dispute.ts';
import type { GatewayKind } from '../../contract/gateway-account.ts';
import type { Filters, ListPage } from '../../contract/list.ts';
import type { ListDisputes } from '../../contract/list-disputes.ts';
import { first, type Queries } from '../driver/sql.ts';
import { selectDispute } from '../payments/disputes.ts';
import { conditionsOf, rangeOf } from '../list.ts';

/** A dispute with the account that it is at. */
export interface DisputeRecord extends Dispute {
  driver: string;
  gatewayKind: GatewayKind;
}

/** Selects disputes for a list. Null: all of them. */
export interface DisputeFilter extends Filters<ListDisputes> {
  application: string | null;
  test: boolean | null;
  gateway: string | null;
}

export const everyDispute: DisputeFilter = {
  application: null,
  test: null,
  gateway: null,
  paymentId: null,
  stage: null,
  status: null,
  from: null,
  to: null,
};

/** The condition for disputes `d` that a person can still answer. The index `disputes__to_answer` has them in order. */
export const isToAnswer = (sql: Queries) =>
  sql`d.status = 'needs_response' and d.respond_by > now()`;

export const createAdminDisputes = (sql: Queries) => {
  const select = sql`
    select ${selectDispute(sql)}, g.driver, g.kind as "gatewayKind"
    from disputes d join gateways g on g.slug = d.gateway`;
  return {
    /** The newest first, those of every application. */
    async list(
      { from, to, ...filter }: DisputeFilter,
      { after, limit }: ListPage,
    ): Promise<DisputeRecord[]> {
      return sql<DisputeRecord[]>`
        ${select} where true ${conditionsOf(sql, filter, {
          application: (application) => sql`d.application = ${application}`,
          test: (test) => sql`d.test = ${test}`,
          gateway: (gateway) => sql`d.gateway = ${gateway}`,
          paymentId: (id) => sql`d.payment_id = ${id}`,
          stage: (stage) => sql`d.stage = ${stage}`,
          status: (status) => sql`d.status = ${status}`,
        })} ${rangeOf(sql, { from, to }, after, { at: sql`d.opened_at`, id: sql`d.id` })}
        order by d.opened_at desc, d.id desc limit ${limit}`;
    },

    /** Those that a person can still answer: the ones that end soonest first. */
    async listToAnswer(test: boolean, limit: number): Promise<DisputeRecord[]> {
      return sql<DisputeRecord[]>`
        ${select} where ${isToAnswer(sql)} and d.test = ${test} order by d.respond_by limit ${limit}`;
    },

    /** The newest first. */
    async listOfPayments(ids: readonly string[], limit: number): Promise<DisputeRecord[]> {
      return sql<DisputeRecord[]>`
        ${select} where d.payment_id = any(${[...ids]}::text[])
        order by d.opened_at desc, d.id desc limit ${limit}`;
    },

    get: (id: string) => first(sql<DisputeRecord[]>`${select} where d.id = ${id}`),
  };
};
