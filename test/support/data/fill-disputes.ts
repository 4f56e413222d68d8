import { disputeId } from '../../../contract/ids.ts';
import { dayMs } from '../../../contract/time.ts';
import type { Sql } from '../../../postgres/driver/sql.ts';

interface Row {
  id: string;
  application: string;
  test: boolean;
  order_id: string;
  status: string;
  gateway: string;
  amount: number;
  currency: string;
}

/** Each state, the days until an answer is due, and its mode. */
const wanted = [
  ['chargeback', 'needs_response', 2, false],
  ['inquiry', 'needs_response', 12, false],
  ['chargeback', 'under_review', null, false],
  ['chargeback', 'won', null, false],
  ['chargeback', 'lost', null, false],
  ['inquiry', 'closed', null, false],
  ['chargeback', 'needs_response', 1, true],
  ['chargeback', 'needs_response', 9, true],
] as const;

/** Disputes in every state of some paid payments of two applications. @returns their ids by state */
export const fillDisputes = async (sql: Sql, rows: readonly Row[], reason: string) => {
  const paid = rows.filter(({ status, gateway }) => status === 'paid' && gateway === 'zarinpal');
  const now = Date.now();
  const disputes = wanted.map(([stage, status, days, test], n) => {
    const payment = paid.find((row) => row.test === test);
    if (!payment) throw new Error('Some payments are missing');
    paid.splice(paid.indexOf(payment), 1);
    const isOpen = status === 'needs_response' || status === 'under_review';
    const { application, order_id, gateway, amount, currency } = payment;
    const of = { payment_id: payment.id, application, test, order_id, gateway, amount, currency };
    return {
      ...of,
      id: disputeId(gateway, `dp_${n}`),
      gateway_reference: `dp_${n}`,
      stage,
      status,
      reason: n === 0 ? reason : 'product_not_received',
      network_reason: '13.1',
      respond_by: days === null ? null : new Date(now + days * dayMs),
      opened_at: new Date(now - (n + 1) * dayMs),
      closed_at: isOpen ? null : new Date(now - n * 1000),
      updated_at: new Date(now - n * 1000),
    };
  });
  await sql`insert into disputes ${sql(disputes)}`;
  const ids = (test: boolean) =>
    disputes.filter((dispute) => dispute.test === test).map(({ id }) => id);
  const [urgent = '', inquiry = '', review = '', won = '', lost = '', closed = ''] = ids(false);
  return { urgent, inquiry, review, won, lost, closed, test: ids(true)[0] ?? '' };
};
