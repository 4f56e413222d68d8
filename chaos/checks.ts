import { findDeliveryProblems } from './deliveries.ts';
import type { Evidence, Violation } from './evidence.ts';
import { findFallbackProblems } from './fallbacks.ts';
import { findGatewayProblems } from './gateway-records.ts';
import { findLateProblems } from './late-payments.ts';
import { findOrderProblems } from './orders.ts';
import { findLinkProblems } from './payment-links.ts';
import type { Post } from './receiver.ts';
import { findRefundProblems } from './refunds.ts';
import { type CreatedPayment, isTerminal } from './scenarios.ts';
import type { ServiceRecords, ShownPayment } from './service-records.ts';

/** Checks everything that must be true of every payment, from the outside. */
export const checkAll = (evidence: Evidence): Violation[] => {
  const { payments, records, posts, journal } = evidence;
  const ofPayments = posts.filter(({ kind }) => kind.startsWith('payment.'));
  const postsByPayment = Map.groupBy(ofPayments, ({ paymentId }) => paymentId);
  const byOrder = new Map(payments.map((payment) => [payment.order, payment]));
  return [
    ...payments.flatMap((payment) =>
      checkPayment(payment, postsByPayment.get(payment.id) ?? [], evidence).map((text) => ({
        order: payment.order,
        payment,
        text,
      })),
    ),
    ...[...records.orders].flatMap(([order, count]) =>
      count > 1 ? [{ order, text: `${count} payments were made with one idempotency key` }] : [],
    ),
    ...[...postsByPayment.keys()].flatMap((id) =>
      records.events.has(id)
        ? []
        : [{ order: id, text: 'a webhook arrived about a payment that does not exist' }],
    ),
    ...findOrderProblems(evidence),
    ...findLinkProblems(evidence),
    ...journal.problems().map(({ order, text }) => {
      const payment = byOrder.get(order);
      return { order, text, ...(payment && { payment }) };
    }),
  ];
};

const checkPayment = (
  payment: CreatedPayment,
  posts: readonly Post[],
  evidence: Evidence,
): string[] => {
  const { records, disruptions, journal } = evidence;
  const shown = records.shown.get(payment.id);
  if (!shown) return ['the API does not know it any more'];
  const { status } = shown;
  const fallbackProblems = findFallbackProblems(payment, records.gateways.get(payment.id));
  if (!isTerminal(status)) return [`it has not ended: ${status}`, ...fallbackProblems];
  const delivery = records.deliveries.get(payment.id);
  const statuses = journal.statusesFor(payment.order);
  return [
    ...findCreateProblems(payment, shown),
    ...findGatewayProblems(payment, shown),
    ...fallbackProblems,
    ...findLateProblems(payment, shown, {
      disruptions,
      statuses,
      recorded: records.latePayments.get(payment.id),
    }),
    ...findEventProblems(payment, posts, { records, shown }),
    ...(delivery === 'delivered' ? [] : [`its delivery is ${delivery ?? 'missing'}`]),
    ...findDeliveryProblems({
      posts,
      disruptions,
      attempts: records.attempts.get(payment.id) ?? [],
    }),
    ...findRefundProblems(payment, evidence),
    ...statuses
      .filter((seen) => isTerminal(seen.status) && seen.status !== status)
      .map((seen) => `it ended ${status}, and ${seen.where} reported ${seen.status}`),
  ];
};

const findCreateProblems = (
  { order, orderId, amount, currency, behaviour, link }: CreatedPayment,
  shown: ShownPayment,
): string[] => {
  const isSameMoney = shown.amount === amount && shown.currency === currency;
  const metadata = link === undefined ? { order, behaviour } : {};
  const isSameMetadata = JSON.stringify(shown.metadata) === JSON.stringify(metadata);
  if (shown.order_id === orderId && isSameMoney && isSameMetadata) return [];
  const facts = `${shown.amount} ${shown.currency} for ${shown.order_id}`;
  return [`it is ${facts}, with ${JSON.stringify(shown.metadata)}`];
};

const findEventProblems = (
  { id }: CreatedPayment,
  posts: readonly Post[],
  { records, shown }: { records: ServiceRecords; shown: ShownPayment },
): string[] => {
  const [event, ...others] = records.events.get(id) ?? [];
  if (!event) return ['it has no event'];
  const problems = others.length > 0 ? [`it has ${others.length + 1} events`] : [];
  const content = JSON.parse(event.body.toString()) as Record<string, unknown>; // The service's own.
  const expected = { ...shown, event: `payment.${shown.status}`, event_id: event.id };
  for (const [name, value] of Object.entries(expected)) {
    const [inEvent, inApi] = [JSON.stringify(content[name]), JSON.stringify(value)];
    if (inEvent !== inApi) problems.push(`its event has ${name} ${inEvent}, the API ${inApi}`);
  }
  if (posts.some(({ body }) => !body.equals(event.body)))
    problems.push('other bytes than those of its event arrived');
  if (posts.some(({ eventId, kind }) => eventId !== event.id || kind !== expected.event))
    problems.push('a POST of another event arrived');
  if (posts.some(({ isSigned }) => !isSigned)) problems.push('the signature of a POST is wrong');
  return problems;
};
