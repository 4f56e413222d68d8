import { describe, expect, it } from 'vitest';
import { checkAll, type Evidence } from '../../../chaos/checks.ts';
import { noDisruptions } from '../../../chaos/disruptions.ts';
import { createJournal } from '../../../chaos/journal.ts';
import type { Post } from '../../../chaos/receiver.ts';
import type { RefundRow, ShownPayment } from '../../../chaos/service-records.ts';
import { aVisit, receipt } from '../../support/chaos/support.ts';

/** The evidence of a paid payment; the arguments change its event and what the API shows. */
const aRun = async (inEvent: object = {}, inApi: Partial<ShownPayment> = {}) => {
  const { payment, gateway, reference, entry } = await aVisit();
  gateway.decide(reference, 'paid');
  entry.verified = 1;
  const { id, order, amount, currency, behaviour } = payment;
  const shown: ShownPayment = {
    payment_id: id,
    application: 'shop',
    order_id: order,
    status: 'paid',
    amount,
    currency,
    tracking_code: receipt.trackingCode,
    card_pan_masked: receipt.card,
    test: true,
    paid_at: new Date().toISOString().replace('Z', '+00:00'),
    failure_code: null,
    failure_reason: null,
    metadata: { order, behaviour },
    ...inApi,
  };
  const [eventId, kind] = ['event-1', `payment.${shown.status}`];
  const event = { event: kind, event_id: eventId, ...shown, ...inEvent };
  const body = Buffer.from(JSON.stringify(event));
  const post: Post = {
    at: 0,
    endedAt: 50,
    status: 204,
    number: 1,
    isSigned: true,
    body,
    paymentId: id,
    eventId,
    kind,
  };
  const evidence = {
    payments: [payment],
    records: {
      shown: new Map([[id, shown]]),
      events: new Map([[id, [{ id: eventId, body }]]]),
      attempts: new Map([[id, [{ number: 1, completed: true, status: 204 as number | null }]]]),
      deliveries: new Map([[id, 'delivered']]),
      latePayments: new Map<string, string>(),
      orders: new Map([[order, 1]]),
      refunds: new Map<string, RefundRow[]>(),
      sums: new Map([[id, { refunded: 0, pending: 0 }]]),
    },
    posts: [post],
    disruptions: noDisruptions,
    journal: createJournal(),
  } satisfies Evidence;
  return { evidence, id, order, shown, post };
};
type Run = Awaited<ReturnType<typeof aRun>>;

const findTexts = ({ evidence }: { evidence: Evidence }) =>
  checkAll(evidence).map(({ text }) => text);

describe('checkAll', () => {
  it('finds nothing wrong with a payment that is the same everywhere', async () => {
    expect(findTexts(await aRun())).toEqual([]);
  });

  it.each<[text: string, lie: (run: Run) => unknown]>([
    ['the API does not know it any more', ({ evidence, id }) => evidence.records.shown.delete(id)],
    ['it has not ended: processing', ({ shown }) => (shown.status = 'processing')],
    [
      '2 payments were made with one idempotency key',
      ({ evidence, order }) => evidence.records.orders.set(order, 2),
    ],
    [
      'a webhook arrived about a payment that does not exist',
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
    ['the signature of a POST is wrong', ({ post }) => (post.isSigned = false)],
    [
      'its delivery is pending',
      ({ evidence, id }) => evidence.records.deliveries.set(id, 'pending'),
    ],
    ['its delivery is missing', ({ evidence, id }) => evidence.records.deliveries.delete(id)],
    [
      'it ended paid, and verify reported expired',
      ({ evidence, order }) => evidence.journal.recordStatus(order, 'expired', 'verify'),
    ],
    [
      'read was answered 500: why',
      ({ evidence, order }) => evidence.journal.addProblem(order, 'read was answered 500: why'),
    ],
    // One problem each of the other files.
    ['reference was verified 2 times', ({ evidence }) => entryOf(evidence).verified++],
    ['attempt 1 is not in the ledger', ({ evidence, id }) => evidence.records.attempts.delete(id)],
    [
      'a late payment is recorded (returns): there is none',
      ({ evidence, id }) => evidence.records.latePayments.set(id, 'returns'),
    ],
  ])('finds: %s', async (text, lie) => {
    const run = await aRun();
    lie(run);
    expect(findTexts(run)).toContain(text);
  });

  it.each([
    ['amount', 49_990],
    ['currency', 'EUR'],
    ['order_id', 'order-2'],
    ['metadata', { order: 'order-1', behaviour: 'late' }],
  ] as const)('compares the payment with the request: %s', async (name, value) => {
    const run = await aRun({ [name]: value });
    Object.assign(run.shown, { [name]: value });
    expect(findTexts(run)).toEqual([expect.stringMatching(/^it is \d+ \w+ for order-\d, with \{/)]);
  });

  it.each([
    'payment_id',
    'application',
    'order_id',
    'status',
    'amount',
    'currency',
    'tracking_code',
    'card_pan_masked',
    'paid_at',
    'failure_code',
    'failure_reason',
    'test',
    'metadata',
    'event',
    'event_id',
  ])('compares the event with the payment: %s', async (name) => {
    const run = await aRun({ [name]: 'another' });
    expect(findTexts(run)).toEqual([expect.stringMatching(`^its event has ${name} "another", `)]);
  });

  it('names the payment of a problem that only a caller has seen', async () => {
    const run = await aRun();
    run.shown.status = 'pending';
    run.evidence.journal.addProblem(run.order, 'read was answered 500');
    run.evidence.journal.addProblem('order-9', 'create was answered 500');
    const [payment] = run.evidence.payments;
    expect(checkAll(run.evidence)).toEqual([
      { order: run.order, payment, text: 'it has not ended: pending' },
      { order: run.order, payment, text: 'read was answered 500' },
      { order: 'order-9', text: 'create was answered 500' },
    ]);
  });

  it('excuses a repeated POST only when Postgres was down', async () => {
    const { evidence, post } = await aRun();
    evidence.posts.push({ ...post, at: 20_000, endedAt: 20_050 });
    const texts = (disruptions = noDisruptions) =>
      findTexts({ evidence: { ...evidence, disruptions } });
    expect(texts()).toEqual(['attempt 1 was sent 2 times, 1 without a reason']);
    expect(texts({ ...noDisruptions, postgres: [{ from: 0, to: 1_000 }] })).toEqual([]);
  });

  it('requires the search for a late payment when the payer came back', async () => {
    const without = { tracking_code: null, card_pan_masked: null, paid_at: null };
    const { evidence } = await aRun({}, { status: 'expired', ...without });
    evidence.payments[0]!.expiresAt = 0; // It has one.
    entryOf(evidence).verified = 0;
    const back = { at: Date.now() + 1_000, status: 'expired', where: 'return' };
    const journal = { ...evidence.journal, statusesFor: () => [back] };
    const texts = (disruptions = noDisruptions) =>
      findTexts({ evidence: { ...evidence, journal, disruptions } });
    expect(findTexts({ evidence })).toEqual([]);
    expect(texts()).toEqual(['its late payment is recorded as nothing, and must be returns']);
    expect(texts({ ...noDisruptions, temporal: [{ from: 0, to: Infinity }] })).toEqual([]);
  });
});

const entryOf = ({ payments }: Run['evidence']) => {
  const { gateway, id } = payments[0]!; // It has one.
  return gateway.entriesFor(id)[0]![1];
};
