import { bookProblems } from './books.ts';
import { deliveryProblems } from './deliveries.ts';
import type { Journal } from './journal.ts';
import { lateProblems } from './late.ts';
import type { Created } from './wishes.ts';
import { isTerminal } from './wishes.ts';
import type { Post } from './receiver.ts';
import type { Records, Shown } from './records.ts';
import type { Absences } from './recovery.ts';

export interface Violation {
  order: string;
  /** Undefined where it has none, or is about more than one. */
  payment?: Created;
  text: string;
}

export interface Evidence {
  payments: readonly Created[];
  records: Records;
  posts: readonly Post[];
  absences: Absences;
  journal: Journal;
}

/** Everything that must be true of every payment, from the outside. */
export const checkAll = (evidence: Evidence): Violation[] => {
  const { payments, records, posts, journal } = evidence;
  const byId = Map.groupBy(posts, ({ paymentId }) => paymentId);
  const byOrder = new Map(payments.map((payment) => [payment.order, payment]));
  return [
    ...payments.flatMap((payment) =>
      checkOne(payment, byId.get(payment.id) ?? [], evidence).map((text) => ({
        ...{ order: payment.order, payment, text },
      })),
    ),
    ...[...records.orders].flatMap(([order, count]) =>
      count > 1 ? [{ order, text: `${count} payments were made with one idempotency key` }] : [],
    ),
    ...[...byId.keys()].flatMap((id) =>
      records.events.has(id)
        ? []
        : [{ order: id, text: 'a webhook arrived of a payment that nobody made' }],
    ),
    ...journal.problems().map(({ order, text }) => {
      const payment = byOrder.get(order);
      return { order, text, ...(payment && { payment }) };
    }),
  ];
};

const checkOne = (
  payment: Created,
  posts: readonly Post[],
  { records, absences, journal }: Evidence,
): string[] => {
  const shown = records.shown.get(payment.id);
  if (!shown) return ['the API does not know it any more'];
  const { status } = shown;
  if (!isTerminal(status)) return [`it still waits: ${status}`];
  const delivery = records.deliveries.get(payment.id);
  return [
    ...wishProblems(payment, shown),
    ...bookProblems(payment, shown),
    ...lateProblems(payment, shown, {
      absences,
      shown: journal.shownOf(payment.order),
      written: records.late.get(payment.id) ?? [],
    }),
    ...eventProblems(payment, posts, { records, shown }),
    ...(delivery === 'delivered' ? [] : [`its delivery is ${delivery ?? 'missing'}`]),
    ...deliveryProblems({ posts, absences, ledger: records.ledger.get(payment.id) ?? [] }),
    ...journal
      .shownOf(payment.order)
      .filter(({ status: told }) => isTerminal(told) && told !== status)
      .map(({ status: told, where }) => `it ended ${status}, and ${where} said ${told}`),
  ];
};

const wishProblems = ({ order, amount, currency, story }: Created, shown: Shown): string[] => {
  const isAsked = shown.amount === amount && shown.currency === currency;
  const isTold = JSON.stringify(shown.metadata) === JSON.stringify({ order, story });
  if (shown.order_id === order && isAsked && isTold) return [];
  const facts = `${shown.amount} ${shown.currency} for ${shown.order_id}`;
  return [`it is ${facts}, with ${JSON.stringify(shown.metadata)}`];
};

const eventProblems = (
  { id }: Created,
  posts: readonly Post[],
  { records, shown }: { records: Records; shown: Shown },
): string[] => {
  const [event, ...others] = records.events.get(id) ?? [];
  if (!event) return ['it has no event'];
  const problems = others.length > 0 ? [`it has ${others.length + 1} events`] : [];
  const told = JSON.parse(event.body.toString()) as Record<string, unknown>; // The service's own.
  const right = { ...shown, event: `payment.${shown.status}`, event_id: event.id };
  for (const [name, value] of Object.entries(right))
    if (JSON.stringify(told[name]) !== JSON.stringify(value))
      problems.push(
        `its event says ${name} ${JSON.stringify(told[name])}, the API ${JSON.stringify(value)}`,
      );
  if (posts.some(({ body }) => !body.equals(event.body)))
    problems.push('other bytes than those of its event arrived');
  if (posts.some(({ eventId, kind }) => eventId !== event.id || kind !== right.event))
    problems.push('a POST of another event arrived');
  if (posts.some(({ isSigned }) => !isSigned)) problems.push('a POST was not signed rightly');
  return problems;
};
