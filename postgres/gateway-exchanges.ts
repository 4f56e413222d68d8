import type { Exchange } from '../contract/exchange.ts';
import type { Queries } from './connection.ts';

/** Of one payment: the last ones stay. */
const mostKept = 50;

/**
 * Two common table expressions that keep exchanges: part of the statement that writes what they
 * mean, so that they cost no round trip.
 */
export const exchangesKept = (sql: Queries, paymentId: string, exchanges: readonly Exchange[]) => {
  const rows = exchanges.map((exchange) => ({
    ...exchange,
    at: exchange.at.toISOString(),
    durationMs: Math.round(exchange.durationMs),
  }));
  return sql`
    dropped as (
      delete from gateway_exchanges where payment_id = ${paymentId} and id <= (
        select id from gateway_exchanges where payment_id = ${paymentId}
        order by id desc offset ${Math.max(0, mostKept - rows.length)} limit 1)
    ), exchanged as (
      insert into gateway_exchanges (payment_id, at, operation, result, code, message, duration_ms)
      select ${paymentId}, e.at, e.operation, e.result, e.code, e.message, e."durationMs"
      from jsonb_to_recordset(${sql.json(rows)}) as e (at timestamptz, operation text, result text,
        code text, message text, "durationMs" int)
    )`;
};

export const createGatewayExchanges = (sql: Queries) => ({
  /** Where nothing else is written. */
  async insert(paymentId: string, exchanges: readonly Exchange[]): Promise<void> {
    await sql`with ${exchangesKept(sql, paymentId, exchanges)} select`;
  },

  /** In order. */
  list: (paymentId: string) => sql<Exchange[]>`
    select at, operation, result, code, message, duration_ms as "durationMs"
    from gateway_exchanges where payment_id = ${paymentId} order by id`,
});
export type GatewayExchanges = ReturnType<typeof createGatewayExchanges>;
