import type { GatewayExchange } from '../contract/gateway-exchange.ts';
import type { Queries } from './driver/sql.ts';

/** The last exchanges of a payment are kept. */
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
 */
export const exchangeInserts = (
  sql: Queries,
  paymentId: string,
  exchanges: readonly GatewayExchange[],
) => sql`
    deleted_exchanges as (
      delete from gateway_exchanges where payment_id = ${paymentId} and id <= (
        select id from gateway_exchanges where payment_id = ${paymentId}
        order by id desc offset ${Math.max(0, maxKept - exchanges.length)} limit 1)
    ), inserted_exchanges as (
      insert into gateway_exchanges (payment_id, at, operation, result, code, message, duration_ms)
      select ${paymentId}, e.at, e.operation, e.result, e.code, e.message, e."durationMs"
      from jsonb_to_recordset(${toJson(sql, exchanges)}) as e (at timestamptz, operation text,
        result text, code text, message text, "durationMs" int)
    )`;

/** An exchange with the payment that it is about. */
export interface PaymentExchange extends GatewayExchange {
  paymentId: string;
}

export const createGatewayExchanges = (sql: Queries) => ({
  async insert(paymentId: string, exchanges: readonly GatewayExchange[]): Promise<void> {
    await sql`with ${exchangeInserts(sql, paymentId, exchanges)} select`;
  },

  /**
   * Stores the exchanges of repeated inquiries. Each replaces the payment's earlier exchange with the same
   * operation and result, so that inquiries never evict other exchanges.
   */
  async replaceRepeated(exchanges: readonly PaymentExchange[]): Promise<void> {
    await sql`
      with repeated as (
        select * from jsonb_to_recordset(${toJson(sql, exchanges)}) as e ("paymentId" text,
          at timestamptz, operation text, result text, code text, message text, "durationMs" int)
      ), deleted as (
        delete from gateway_exchanges x using repeated r
        where x.payment_id = r."paymentId" and x.operation = r.operation and x.result = r.result
      )
      insert into gateway_exchanges (payment_id, at, operation, result, code, message, duration_ms)
      select "paymentId", at, operation, result, code, message, "durationMs" from repeated`;
  },

  /** Oldest first. */
  list: (paymentId: string) => sql<GatewayExchange[]>`
    select at, operation, result, code, message, duration_ms as "durationMs"
    from gateway_exchanges where payment_id = ${paymentId} order by id`,
});
export type GatewayExchanges = ReturnType<typeof createGatewayExchanges>;
