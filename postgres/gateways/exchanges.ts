import type { GatewayExchange } from '../../contract/gateway-exchange.ts';
import type { Queries } from '../driver/sql.ts';

/** The last exchanges of a payment are kept, and the last questions about each of its refunds. */
const maxKept = 50;

/** JSON that `jsonb_to_recordset` turns into rows. */
const toJson = (sql: Queries, exchanges: readonly GatewayExchange[]) =>
  sql.json(
    exchanges.map((exchange) => ({
      ...exchange,
      at: exchange.at.toISOString(),
      durationMs: Math.round(exchange.durationMs),
    })),
  );

/**
 * Two common table expressions that store exchanges. They are part of the statement that writes their
 * result, so they cost no round trip.
 * @param refundId the refund that they are about. A gateway is told of it a few times and asked for weeks, so that what it
 * was told stays
 */
export const exchangeInserts = (
  sql: Queries,
  paymentId: string,
  exchanges: readonly GatewayExchange[],
  refundId: string | null = null,
) => {
  const replaceable = sql`
    payment_id = ${paymentId} and refund_id is not distinct from ${refundId} and operation <> 'refund'`;
  return sql`
    deleted_exchanges as (
      delete from gateway_exchanges where ${replaceable} and id <= (
        select id from gateway_exchanges where ${replaceable}
        order by id desc offset ${Math.max(0, maxKept - exchanges.length)} limit 1)
    ), inserted_exchanges as (
      insert into gateway_exchanges (payment_id, refund_id, gateway, at, operation, result, code, message, duration_ms)
      select p.id, ${refundId}, coalesce(e.gateway, p.gateway), e.at, e.operation, e.result, e.code, e.message, e."durationMs"
      from jsonb_to_recordset(${toJson(sql, exchanges)}) as e (gateway text, at timestamptz, operation text,
        result text, code text, message text, "durationMs" int)
      join payments p on p.id = ${paymentId}
    )`;
};

/** An exchange with the payment that it is about. */
export interface PaymentExchange extends GatewayExchange {
  paymentId: string;
}

export const createGatewayExchanges = (sql: Queries) => ({
  async insert(
    paymentId: string,
    exchanges: readonly GatewayExchange[],
    refundId: string | null = null,
  ): Promise<void> {
    await sql`with ${exchangeInserts(sql, paymentId, exchanges, refundId)} select`;
  },

  /**
   * Stores the exchanges of repeated inquiries. Each replaces the payment's earlier exchanges with the same
   * operation and result, so that inquiries never evict other exchanges. The first one without an answer since the
   * payment's last other result stays: it says since when the gateway is silent.
   */
  async replaceRepeated(exchanges: readonly PaymentExchange[]): Promise<void> {
    await sql`
      with repeated as (
        select * from jsonb_to_recordset(${toJson(sql, exchanges)}) as e ("paymentId" text,
          at timestamptz, operation text, result text, code text, message text, "durationMs" int)
      ), deleted as (
        delete from gateway_exchanges x using repeated r
        where x.payment_id = r."paymentId" and x.operation = r.operation and x.result = r.result
          and (x.result <> 'no_answer' or x.id is distinct from (
            select min(f.id) from gateway_exchanges f
            where f.payment_id = x.payment_id and f.result = 'no_answer' and f.id > coalesce((
              select max(o.id) from gateway_exchanges o
              where o.payment_id = x.payment_id and o.result <> 'no_answer'), 0)))
      )
      insert into gateway_exchanges (payment_id, gateway, at, operation, result, code, message, duration_ms)
      select p.id, p.gateway, r.at, r.operation, r.result, r.code, r.message, r."durationMs"
      from repeated r join payments p on p.id = r."paymentId"`;
  },

  /**
   * Oldest first.
   * @param refundId only those about this refund
   */
  list: (paymentId: string, refundId: string | null = null) => sql<GatewayExchange[]>`
    select case operation when 'open' then gateway end as gateway, at, operation, result, code, message, duration_ms as "durationMs"
    from gateway_exchanges
    where payment_id = ${paymentId} ${refundId === null ? sql`` : sql`and refund_id = ${refundId}`} order by id`,
});
export type GatewayExchanges = ReturnType<typeof createGatewayExchanges>;
