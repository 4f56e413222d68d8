import type { KnownDispute } from '../../../contract/dispute.ts';
import { createDisputes } from '../../../postgres/payments/disputes.ts';
import type { Sql } from '../../../postgres/driver/sql.ts';

let count = 0;

/** A chargeback of 10 EUR, as a gateway reports it. */
export const aDispute = (changes: Partial<KnownDispute> = {}): KnownDispute => ({
  gatewayReference: `dp_${process.pid}_${(count += 1)}`,
  stage: 'chargeback',
  status: 'needs_response',
  amount: 1000,
  currency: 'EUR',
  reason: 'fraudulent',
  networkReason: '10.4',
  respondBy: new Date('2026-12-24T23:59:59Z'),
  openedAt: new Date('2026-11-21T08:00:00Z'),
  ...changes,
});

/**
 * Records the disputes of a payment as the sweeper does, which does not look at it meanwhile.
 * @returns the ids of their events
 */
export const recordDisputes = async (
  sql: Sql,
  paymentId: string,
  reported: readonly KnownDispute[],
  now = new Date(),
): Promise<string[]> => {
  const [look] = await sql<{ number: number }[]>`
    insert into dispute_looks (payment_id) values (${paymentId})
    on conflict (payment_id) do update set due_at = null returning number`;
  const events =
    look && (await createDisputes(sql).recordLook({ paymentId, ...look }, reported, now));
  if (!events) throw new Error(`the disputes of ${paymentId} are not recorded`);
  return events;
};
