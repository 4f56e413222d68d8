import type { GatewayExchange } from '../contract/gateway-exchange.ts';
import type { Queries } from './driver/sql.ts';

/** Of one payment: the last ones stay. */
const mostKept = 50;

/** As JSON that Postgres reads again as rows. */
const jsonOf = (sql: Queries, exchanges: readonly GatewayExchange[]) =>
  sql.json(
    exchanges.map((exchange) => ({
      ...exchange,
      at: exchange.at.toISOString(),
      durationMs: Math.round(exchange.durationMs),
    })),
  );

/**
 * Two common table expressions that keep exchanges: part of the statement that writes what they
 * mean, so that they cost no round trip.
 */
export const exchangeInserts = (
  sql: Queries,
  paymentId: string,
  exchanges: readonly GatewayExchange[],
) => sql`
    dropped as (
      delete from gateway_exchanges where payment_id = ${paymentId} and id <= (
        select id from gateway_exchanges where payment_id = ${paymentId}
        order by id desc offset ${Math.max(0, mostKept - exchanges.length)} limit 1)
    ), exchanged as (
      insert into gateway_exchanges (payment_id, at, operation, result, code, message, duration_ms)
      select ${paymentId}, e.at, e.operation, e.result, e.code, e.message, e."durationMs"
      from jsonb_to_recordset(${jsonOf(sql, exchanges)}) as e (at timestamptz, operation text,
        result text, code text, message text, "durationMs" int)
    )`;

/** An exchange about one of many payments. */
export interface PaymentExchange extends GatewayExchange {
  paymentId: string;
}

export const createGatewayExchanges = (sql: Queries) => ({
  /** Where nothing else is written. */
  async insert(paymentId: string, exchanges: readonly GatewayExchange[]): Promise<void> {
    await sql`with ${exchangeInserts(sql, paymentId, exchanges)} select`;
  },

  /**
   * Of what is asked again and again, e.g. by the sweep about many payments: of each payment, the last
   * one with each result stays, so that they do not push out what else was said.
   */
  async insertRepeated(exchanges: readonly PaymentExchange[]): Promise<void> {
    await sql`
      with said as (
        select * from jsonb_to_recordset(${jsonOf(sql, exchanges)}) as e ("paymentId" text,
          at timestamptz, operation text, result text, code text, message text, "durationMs" int)
      ), dropped as (
        delete from gateway_exchanges x using said
        where x.payment_id = said."paymentId" and x.operation = said.operation
          and x.result = said.result
      )
      insert into gateway_exchanges (payment_id, at, operation, result, code, message, duration_ms)
      select "paymentId", at, operation, result, code, message, "durationMs" from said`;
  },

  /** In order. */
  list: (paymentId: string) => sql<GatewayExchange[]>`
    select at, operation, result, code, message, duration_ms as "durationMs"
    from gateway_exchanges where payment_id = ${paymentId} order by id`,
});
export type GatewayExchanges = ReturnType<typeof createGatewayExchanges>;
