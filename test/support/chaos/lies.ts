import type { Evidence } from '../../../chaos/evidence.ts';
import type { Post } from '../../../chaos/receiver.ts';
import type { CreatedPayment } from '../../../chaos/scenarios.ts';
import type { ShownPayment } from '../../../chaos/service-records.ts';
import type { Sql } from '../../../postgres/driver/sql.ts';
import type { Entry } from '../../fakes/server.ts';

/** A payment of a run in which nothing was wrong, with what a lie changes. */
interface Subject {
  payment: CreatedPayment;
  shown: ShownPayment;
  entry: Entry;
  posts: readonly Post[];
  evidence: Evidence;
}
type Fits = (subject: Subject) => boolean;
/** A statement about the payment with the id $1, or a change of another record. */
type Lie = readonly [
  shows: RegExp | readonly RegExp[],
  lie: string | ((subject: Subject) => unknown),
  fits?: Fits,
];

/** It was verified, and nothing was given back. */
const isPaid: Fits = ({ shown, payment: { gateway, refund } }) =>
  shown.status === 'paid' && !gateway.oneStep && refund === undefined;
const isPaidAlone: Fits = (subject) =>
  isPaid(subject) && subject.payment.order === subject.payment.orderId;
const hasCard: Fits = (subject) =>
  isPaid(subject) && subject.payment.gateway.reportsCard === 'always';
const isRefused: Fits = ({ shown }) => shown.failure_code === 'payment_not_completed';
const isOfWrongAmount: Fits = ({ shown }) => shown.failure_code === 'amount_mismatch';
/** Its payer had paid, and the gateway was not asked for the money: another payment has the order. */
const isSecond: Fits = ({ shown, entry, payment, evidence: { payments, records } }) =>
  shown.failure_code === 'order_already_paid' &&
  entry.charged > 0 &&
  !payment.gateway.oneStep &&
  payments.some(
    ({ id, orderId, refund }) =>
      orderId === payment.orderId && !refund && records.shown.get(id)?.status === 'paid',
  );
const hasRefund: Fits = ({ payment: { id, order }, evidence: { records, journal } }) =>
  records.refunds
    .get(id)
    ?.some((row) => row.status === 'succeeded' && journal.refundsFor(order).includes(row.id)) ??
  false;
const hasLink: Fits = (subject) => isPaid(subject) && subject.payment.link !== undefined;
const isElsewhere: Fits = (subject) =>
  isPaid(subject) && subject.payment.gateway !== subject.payment.candidates[0];

const ofItsEvent = 'where event_id in (select event_id from deliveries where payment_id = $1)';
const setAttempts = (change: string) => `update attempts set ${change} ${ofItsEvent}`;
const setPayment = (change: string) => `update payments set ${change} where id = $1`;

/** Two of one list about the same payment would hide each other. */
const lies: readonly (readonly Lie[])[] = [
  [
    [/^it has no event$/, 'delete from events where subject = $1'],
    [
      /^it has 2 events$/,
      `insert into events select gen_random_uuid(), subject, payment_id, application, test, kind, body, created_at
        from events where subject = $1`,
    ],
    [/^other bytes than/, "update events set body = body || ' '::bytea where subject = $1"],
    [/^its delivery is missing$/, 'delete from deliveries where payment_id = $1'],
    [
      /^its delivery is pending$/,
      "update deliveries set status = 'pending', next_attempt_at = 'infinity' where payment_id = $1",
    ],
    [/^attempt 1 is not in the ledger$/, `delete from attempts ${ofItsEvent}`],
    [/^attempt \d is recorded as 418, which/, setAttempts('response_status = 418')],
    [/^attempt 1 was never completed$/, setAttempts('completed_at = null')],
    [/^its ledger has the numbers 3/, setAttempts('number = number + 2')],
    [/^a POST of another event/, ({ posts }) => posts.map((post) => (post.eventId = 'none'))],
    [/^the signature of a POST is/, ({ posts }) => posts.map((post) => (post.isSigned = false))],
    [/^no POST of it was accepted$/, ({ posts }) => posts.map((post) => (post.status = 500))],
    [/^a webhook arrived about a/, ({ posts }) => posts.map((post) => (post.paymentId = 'PAY_0'))],
  ],
  [
    [/^it is \d+ \w+ for /, setPayment('amount = amount + 10')],
    [
      /^2 payments were made with one/,
      setPayment(
        'metadata = (select metadata from payments where id <> $1 and link_id is null limit 1)',
      ),
    ],
    [
      [
        ...[/^its tracking_code is wrong, /, /^its event has tracking_code "/],
        ...[/^its card_pan_masked is wrong, /, /^its paid_at, .*, is before the payer paid$/],
      ],
      setPayment(
        "tracking_code = 'wrong', card_pan_masked = 'wrong', paid_at = paid_at - interval '1 hour'",
      ),
      hasCard,
    ],
    [
      [/^it ended expired, and must be paid: /, /^it ended expired, and \w+ reported paid$/],
      setPayment("status = 'expired', paid_at = null, order_claimed_at = null"),
      isPaidAlone,
    ],
    [
      /^its link is open by null$/,
      `update links set status = 'open', payment_id = null, paid_at = null
        where id = (select link_id from payments where id = $1)`,
      hasLink,
    ],
    [
      /^its link has the events of nothing$/,
      'delete from events where subject = (select link_id from payments where id = $1)',
      hasLink,
    ],
    [/^its failure code is unknown, /, setPayment("failure_code = 'unknown'"), isRefused],
    [
      [/^it lost its order, and no other/, /^the payer's money is not back /],
      setPayment(
        "status = 'failed', failure_code = 'order_already_paid', paid_at = null, order_claimed_at = null",
      ),
      isPaidAlone,
    ],
    [
      [/^\d of its payments are paid and/, /^it is paid, but the gateway did not keep the/],
      setPayment("status = 'paid', failure_code = null, paid_at = now()"),
      isSecond,
    ],
    [/^the API names stripe, and its/, setPayment("gateway = 'stripe', candidates = null")],
    [
      [/^it says that 1 went back, and its/, /^500 of it is still reserved$/],
      setPayment('amount_refunded = 1, amount_refund_pending = 500'),
    ],
    [/ was accepted, and is lost$/, 'delete from refunds where payment_id = $1', hasRefund],
    [
      [
        / is failed, and has the events refund\./,
        /^the gateway gave \d+ back, and its refunds say/,
      ],
      "update refunds set status = 'failed', failure_code = 'declined' where payment_id = $1",
      hasRefund,
    ],
    [
      /^a late payment is recorded \(returns\)/,
      "insert into late_payments (payment_id, found_at, result, resolved_at) values ($1, now(), 'returns', now())",
    ],
    [
      /^its late payment is recorded as nothing, /,
      'delete from late_payments where payment_id = $1',
      isOfWrongAmount,
    ],
    [/ is about 1, and must be about /, ({ entry }) => (entry.amount = 1)],
  ],
  [
    [/ was charged 2 times$/, ({ entry }) => (entry.charged = 2)],
    [/ is in usd, and must be in /, ({ entry }) => (entry.currency = 'usd')],
    [
      /^the payer was charged 2 times$/,
      ({ payment: { gateway }, entry }) => gateway.provider.book.set('another', { ...entry }),
    ],
    [
      [/^its payer was sent to 2 pages: /, / which \w+ does not know$/],
      ({ payment: { pages, gateway } }) => pages.add(`${gateway.link.url}/another`),
    ],
    [
      / moved money, and the payer is at /,
      ({ payment, entry }) => payment.candidates[0]?.provider.book.set('lost', { ...entry }),
      isElsewhere,
    ],
  ],
];

/**
 * Tells each lie about another payment of the run: in the database, in a gateway's book, or in what arrived. One that fits no
 * payment is left out. @returns what the checks must find now
 */
export const plantLies = (sql: Sql, evidence: Evidence): Promise<RegExp[]> =>
  sql.begin(async (tx) => {
    // Without the triggers and references that keep the service from such records.
    await tx`set local session_replication_role = replica`;
    const subjects = evidence.payments.flatMap((payment): Subject[] => {
      const shown = evidence.records.shown.get(payment.id);
      const entries = payment.gateway.entriesFor(payment.id);
      // An opening that lost its answer has left an entry without money before it.
      const found = entries.find(([, { charged }]) => charged > 0) ?? entries[0];
      if (!shown || !found) return [];
      const posts = evidence.posts.filter(({ paymentId }) => paymentId === payment.id);
      return [{ payment, shown, entry: found[1], posts, evidence }];
    });
    const planted: RegExp[] = [];
    for (const list of lies) {
      const free = new Set(subjects);
      const choices = ([, , fits = isPaid]: Lie) => subjects.filter(fits).length;
      for (const [shows, lie, fits = isPaid] of list.toSorted((a, b) => choices(a) - choices(b))) {
        const subject = [...free].find(fits);
        if (!subject) continue;
        free.delete(subject);
        await (typeof lie === 'string' ? tx.unsafe(lie, [subject.payment.id]) : lie(subject));
        planted.push(...[shows].flat());
      }
    }
    return planted;
  });
