import type { Journal } from './journal.ts';
import type { Post } from './receiver.ts';
import type { CreatedPayment } from './scenarios.ts';
import type { RefundRow, ServiceRecords } from './service-records.ts';

/** Finds where the refunds of a payment contradict its sums, the gateway's own book, or what was told about them. */
export const findRefundProblems = (
  payment: CreatedPayment,
  {
    records,
    posts,
    journal,
  }: { records: ServiceRecords; posts: readonly Post[]; journal: Journal },
): string[] => {
  const { id, gateway, reference, order, amount } = payment;
  const rows = records.refunds.get(id) ?? [];
  const sums = records.sums.get(id) ?? { refunded: 0, pending: 0 };
  const inBook =
    gateway.refundAtDashboard && reference !== undefined ? gateway.refundsOf(reference) : [];
  const isPaid = records.shown.get(id)?.status === 'paid';
  const bookSum = isPaid ? inBook.reduce((sum, each) => sum + each.amount, 0) : 0;
  const done = rows.filter(({ status }) => status === 'succeeded');
  const doneSum = done.reduce((sum, each) => sum + each.amount, 0);
  const known = new Set(rows.map((row) => row.id));
  const problems = journal
    .refundsFor(order)
    .filter((accepted) => !known.has(accepted))
    .map((accepted) => `${accepted} was accepted, and is lost`);
  if (sums.pending !== 0) problems.push(`${sums.pending} of it is still reserved`);
  if (sums.refunded !== doneSum)
    problems.push(`it says that ${sums.refunded} went back, and its refunds say ${doneSum}`);
  if (bookSum !== gateway.toGatewayAmount(doneSum))
    problems.push(`the gateway gave ${bookSum} back, and its refunds say ${doneSum}`);
  if (doneSum > amount) problems.push(`${doneSum} of ${amount} went back`);
  const told = inBook.flatMap(({ refundId }) => refundId ?? []);
  if (new Set(told).size !== told.length) problems.push('the gateway carried a refund out twice');
  return [...problems, ...rows.flatMap((row) => findRowProblems(row, posts))];
};

const findRowProblems = (
  { id, status, stage, requestedBy, events }: RefundRow,
  posts: readonly Post[],
): string[] => {
  if (status === 'pending') return [`${id} has not ended: ${stage}`];
  const expected =
    requestedBy === 'gateway' ? ['refund.created', `refund.${status}`] : [`refund.${status}`];
  const kinds = events.map(({ kind }) => kind).toSorted();
  const problems =
    kinds.join() === expected.toSorted().join()
      ? []
      : [`${id} is ${status}, and has the events ${kinds.join() || 'none'}`];
  for (const event of events) {
    const sent = posts.filter(({ eventId }) => eventId === event.id);
    if (event.delivery !== 'delivered' || !sent.some((post) => post.status === 204))
      problems.push(`the delivery of ${event.kind} of ${id} is ${event.delivery}`);
    if (sent.some(({ isSigned }) => !isSigned)) problems.push('the signature of a POST is wrong');
    if (new Set(sent.map(({ body }) => body.toString())).size > 1)
      problems.push(`${event.kind} of ${id} arrived with different bytes`);
  }
  return problems;
};
