import { describe, expect, it } from 'vitest';
import type { Evidence } from '../../../chaos/checks.ts';
import { checkAll } from '../../../chaos/checks.ts';
import { createJournal } from '../../../chaos/journal.ts';
import type { Post } from '../../../chaos/receiver.ts';
import type { Shown } from '../../../chaos/records.ts';
import { noAbsences } from '../../../chaos/recovery.ts';
import { aVisit, receipt } from '../../support/chaos/support.ts';

/**
 * Paid, and told as it is everywhere. `shows`: how else it ended; `tells`: what its event says that it
 * should not.
 */
const aRun = async (tells: object = {}, shows: Partial<Shown> = {}) => {
  const { payment, gateway, reference, entry } = await aVisit();
  gateway.decide(reference, 'paid');
  entry.verified = 1;
  const { id, order, amount, currency, story } = payment;
  const shown: Shown = {
    ...{ payment_id: id, application: 'shop', order_id: order, status: 'paid', amount, currency },
    ...{ tracking_code: receipt.trackingCode, card_pan_masked: receipt.card, test: true },
    paid_at: new Date().toISOString().replace('Z', '+00:00'),
    ...{ failure_code: null, failure_reason: null, metadata: { order, story } },
    ...shows,
  };
  const [eventId, kind] = ['event-1', `payment.${shown.status}`];
  const told = { event: kind, event_id: eventId, ...shown, ...tells };
  const body = Buffer.from(JSON.stringify(told));
  const post: Post = {
    ...{ at: 0, endedAt: 50, status: 204, number: 1, isSigned: true, body, paymentId: id },
    ...{ eventId, kind },
  };
  const evidence = {
    payments: [payment],
    records: {
      shown: new Map([[id, shown]]),
      events: new Map([[id, [{ id: eventId, body }]]]),
      ledger: new Map([[id, [{ number: 1, completed: true, status: 204 as number | null }]]]),
      deliveries: new Map([[id, 'delivered']]),
      late: new Map<string, string[]>(),
      orders: new Map([[order, 1]]),
    },
    posts: [post],
    absences: noAbsences,
    journal: createJournal(),
  } satisfies Evidence;
  return { evidence, id, order, shown, post };
};
type Run = Awaited<ReturnType<typeof aRun>>;

const textsOf = ({ evidence }: { evidence: Evidence }) =>
  checkAll(evidence).map(({ text }) => text);

describe('everything that must be true of a payment', () => {
  it('is true of one that is told as it is everywhere', async () => {
    expect(textsOf(await aRun())).toEqual([]);
  });

  it.each<[text: string, lie: (run: Run) => unknown]>([
    ['the API does not know it any more', ({ evidence, id }) => evidence.records.shown.delete(id)],
    ['it still waits: processing', ({ shown }) => (shown.status = 'processing')],
    [
      '2 payments were made with one idempotency key',
      ({ evidence, order }) => evidence.records.orders.set(order, 2),
    ],
    [
      'a webhook arrived of a payment that nobody made',
      ({ evidence, post }) => evidence.posts.push({ ...post, paymentId: 'PAY_other' }),
    ],
    ['it has no event', ({ evidence, id }) => evidence.records.events.delete(id)],
    [
      'it has 2 events',
      ({ evidence, id }) => {
        const events = evidence.records.events.get(id)!; // It has one.
        events.push(events[0]!);
      },
    ],
    [
      'other bytes than those of its event arrived',
      ({ post }) => (post.body = Buffer.concat([post.body, Buffer.from(' ')])),
    ],
    ['a POST of another event arrived', ({ post }) => (post.eventId = 'event-2')],
    ['a POST of another event arrived', ({ post }) => (post.kind = 'payment.failed')],
    ['a POST was not signed rightly', ({ post }) => (post.isSigned = false)],
    [
      'its delivery is pending',
      ({ evidence, id }) => evidence.records.deliveries.set(id, 'pending'),
    ],
    ['its delivery is missing', ({ evidence, id }) => evidence.records.deliveries.delete(id)],
    [
      'it ended paid, and verify said expired',
      ({ evidence, order }) => evidence.journal.show(order, 'expired', 'verify'),
    ],
    [
      'read was answered 500: why',
      ({ evidence, order }) => evidence.journal.problem(order, 'read was answered 500: why'),
    ],
    // The books, the ledger and the late money, each checked by a file of its own.
    ['reference was verified 2 times', ({ evidence }) => entryOf(evidence).verified++],
    ['attempt 1 is not in the ledger', ({ evidence, id }) => evidence.records.ledger.delete(id)],
    [
      'the audit log has its late money (returns): there is none',
      ({ evidence, id }) => evidence.records.late.set(id, ['returns']),
    ],
  ])('or it is found: %s', async (text, lie) => {
    const run = await aRun();
    lie(run);
    expect(textsOf(run)).toContain(text);
  });

  it.each([
    ['amount', 49_990],
    ['currency', 'EUR'],
    ['order_id', 'order-2'],
    ['metadata', { order: 'order-1', story: 'late' }],
  ] as const)('of what was asked for nothing is another: %s', async (name, value) => {
    const run = await aRun({ [name]: value });
    Object.assign(run.shown, { [name]: value });
    expect(textsOf(run)).toEqual([expect.stringMatching(/^it is \d+ \w+ for order-\d, with \{/)]);
  });

  it.each([
    ...['payment_id', 'application', 'order_id', 'status', 'amount', 'currency', 'tracking_code'],
    ...['card_pan_masked', 'paid_at', 'failure_code', 'failure_reason', 'test', 'metadata'],
    ...['event', 'event_id'],
  ])('its event says the same: %s', async (name) => {
    const run = await aRun({ [name]: 'another' });
    expect(textsOf(run)).toEqual([expect.stringMatching(`^its event says ${name} "another", `)]);
  });

  it('its timeline is found by its order, also where only a caller has seen it', async () => {
    const run = await aRun();
    run.shown.status = 'pending';
    run.evidence.journal.problem(run.order, 'read was answered 500');
    run.evidence.journal.problem('order-9', 'create was answered 500');
    const [payment] = run.evidence.payments;
    expect(checkAll(run.evidence)).toEqual([
      { order: run.order, payment, text: 'it still waits: pending' },
      { order: run.order, payment, text: 'read was answered 500' },
      { order: 'order-9', text: 'create was answered 500' },
    ]);
  });

  it('FS-22: is sent again where Postgres was away, and not else', async () => {
    const { evidence, post } = await aRun();
    evidence.posts.push({ ...post, at: 20_000, endedAt: 20_050 });
    const texts = (absences = noAbsences) => textsOf({ evidence: { ...evidence, absences } });
    expect(texts()).toEqual(['attempt 1 was sent 2 times, and 1 not cut']);
    expect(texts({ ...noAbsences, postgres: [{ from: 0, to: 1_000 }] })).toEqual([]);
  });

  it('FS-16: has its late money looked for where its payer came back', async () => {
    const without = { tracking_code: null, card_pan_masked: null, paid_at: null };
    const { evidence } = await aRun({}, { status: 'expired', ...without });
    evidence.payments[0]!.expiresAt = 0; // It has one.
    entryOf(evidence).verified = 0;
    const back = { at: Date.now() + 1_000, status: 'expired', where: 'return' };
    const journal = { ...evidence.journal, shownOf: () => [back] };
    const texts = (absences = noAbsences) =>
      textsOf({ evidence: { ...evidence, journal, absences } });
    expect(textsOf({ evidence })).toEqual([]);
    expect(texts()).toEqual([
      'the audit log has its late money as nothing, and must have it as returns',
    ]);
    expect(texts({ ...noAbsences, temporal: [{ from: 0, to: Infinity }] })).toEqual([]);
  });
});

const entryOf = ({ payments }: Run['evidence']) => {
  const { gateway, id } = payments[0]!; // It has one.
  return gateway.entriesOf(id)[0]![1];
};
