import type { Queries } from '../driver/sql.ts';

/** Proofs that somebody has paid and order ids that are numbers: a provider lets us use each of them once. */
export const createProofs = (sql: Queries) => ({
  /**
   * Claims a proof of an account for one payment, for ever.
   * @returns false if another payment has claimed it
   */
  async claim(gateway: string, paymentId: string, proof: string): Promise<boolean> {
    await sql`
      insert into gateway_proofs (gateway, proof, payment_id) values (${gateway}, ${proof}, ${paymentId})
      on conflict (gateway, proof) do nothing`;
    const rows = await sql`
      select from gateway_proofs
      where gateway = ${gateway} and proof = ${proof} and payment_id = ${paymentId}`;
    return rows.length > 0;
  },

  async listClaimed(gateway: string, paymentId: string): Promise<string[]> {
    const rows = await sql<{ proof: string }[]>`
      select proof from gateway_proofs where payment_id = ${paymentId} and gateway = ${gateway} order by claimed_at`;
    return rows.map(({ proof }) => proof);
  },

  /**
   * The milliseconds since 1970, and three digits of a sequence. The time keeps it unique where a restore sets the
   * sequence back.
   */
  async nextOrderNumber(): Promise<number> {
    const [row] = await sql<{ number: string }[]>`
      select (extract(epoch from clock_timestamp()) * 1000)::bigint * 1000 + nextval('order_numbers') % 1000 as number`;
    return Number(row?.number);
  },
});
