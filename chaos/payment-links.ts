import type { Evidence, Violation } from './evidence.ts';

/** Finds links that are not paid although their payment is, or are without it, or whose one event did not arrive. */
export const findLinkProblems = ({ payments, records, posts }: Evidence): Violation[] =>
  payments.flatMap((payment) => {
    const { id, order, link } = payment;
    if (link === undefined) return [];
    const row = records.links.get(link);
    const isPaid = records.shown.get(id)?.status === 'paid';
    const problems: string[] = [];
    if ((row?.status === 'paid') !== isPaid || (isPaid && row?.paymentId !== id))
      problems.push(`its link is ${row?.status} by ${row?.paymentId}`);
    const kinds = (row?.events ?? []).map(({ kind }) => kind).join();
    if (kinds !== (isPaid ? 'link.paid' : ''))
      problems.push(`its link has the events ${kinds || 'of nothing'}`);
    for (const event of row?.events ?? []) {
      const hasArrived = posts.some(
        (post) => post.eventId === event.id && post.isSigned && post.status === 204,
      );
      if (event.delivery !== 'delivered' || !hasArrived)
        problems.push(`the delivery of its link's event is ${event.delivery}`);
    }
    return problems.map((text) => ({ order, payment, text }));
  });
