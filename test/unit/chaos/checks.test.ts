import { describe, expect, it } from 'vitest';
import { checkAll } from '../../../chaos/checks.ts';
import { type Disruptions, noDisruptions } from '../../../chaos/disruptions.ts';
import { findGatewayProblems, owesMoney } from '../../../chaos/gateway-records.ts';
import { answeredAt, aRun, endedAs, type Run, sender } from '../../support/chaos/a-run.ts';
import { aVisit, receipt } from '../../support/chaos/support.ts';

const other = 102;

/** The first attempt was refused, and the second one came so much later. */
const secondAfter = ({ post, attempts, evidence }: Run, ms: number) => {
  evidence.posts.push({ ...post, number: 2, at: answeredAt + ms, endedAt: answeredAt + ms });
  attempts.push({ number: 2, completed: true, status: 204 });
  Object.assign(post, { status: 500 });
  Object.assign(attempts[0]!, { status: 500 });
};

describe('checkAll', () => {
  it.each(['zarinpal', 'zibal', 'payping', 'stripe'])(
    'finds nothing wrong with a payment at %s that is the same everywhere',
    async (slug) => {
      expect((await aRun(slug)).find()).toEqual([]);
    },
  );

  it('finds nothing wrong with a second attempt after a minute, or a first one whose answer is unknown', async () => {
    const run = await aRun();
    secondAfter(run, 60_000);
    expect(run.find()).toEqual([]);
    run.attempts[0]!.status = null;
    expect(run.find()).toEqual([]);
  });

  it.each<[text: string, lie: (run: Run) => unknown]>([
    ['the API does not know it any more', ({ records, id }) => records.shown.delete(id)],
    ['it has not ended: processing', ({ shown }) => (shown.status = 'processing')],
    [
      '2 payments were made with one idempotency key',
      ({ records, order }) => records.orders.set(order, 2),
    ],
    [
      'a webhook arrived about a payment that does not exist',
      ({ posts, post }) => posts.push({ ...post, paymentId: 'PAY_other' }),
    ],
    ['it has no event', ({ records, id }) => records.events.delete(id)],
    [
      'it has 2 events',
      ({ records, id }) => {
        const events = records.events.get(id)!; // It has one.
        events.push(events[0]!);
      },
    ],
    [
      'other bytes than those of its event arrived',
      ({ post }) => (post.body = Buffer.concat([post.body, Buffer.from(' ')])),
    ],
    ['a POST of another event arrived', ({ post }) => (post.eventId = 'event-3')],
    ['a POST of another event arrived', ({ post }) => (post.kind = 'payment.failed')],
    ['the signature of a POST is wrong', ({ post }) => (post.isSigned = false)],
    ['its delivery is pending', ({ records, id }) => records.deliveries.set(id, 'pending')],
    ['its delivery is missing', ({ records, id }) => records.deliveries.delete(id)],
    [
      'it ended paid, and verify reported expired',
      ({ journal, order }) => journal.recordStatus(order, 'expired', 'verify'),
    ],
    [
      'read was answered 500: why',
      ({ journal, order }) => journal.addProblem(order, 'read was answered 500: why'),
    ],
    // The gateway's records.
    ['reference was charged 2 times', ({ entry }) => (entry.charged = 2)],
    ['reference was verified 2 times', ({ entry }) => (entry.verified = 2)],
    ['reference was reversed 2 times', ({ entry }) => (entry.reversed = 2)],
    [
      'the payer was charged 2 times',
      ({ gateway, entry }) => gateway.provider.book.set('another', { ...entry }),
    ],
    ['reference is about 500000, and must be about 50000', ({ entry }) => (entry.amount = 500_000)],
    ['reference is in usd, and must be in IRR', ({ entry }) => (entry.currency = 'usd')],
    [
      'its failure code is unknown, and must be null: it was paid in time',
      ({ shown }) => (shown.failure_code = 'unknown'),
    ],
    [
      `its tracking_code is null, and the gateway's ${receipt.trackingCode}`,
      ({ shown }) => (shown.tracking_code = null),
    ],
    [
      `its card_pan_masked is null, and the gateway's ${receipt.card}`,
      ({ shown }) => (shown.card_pan_masked = null),
    ],
    ['it is paid, and its paid_at null', ({ shown }) => (shown.paid_at = null)],
    [
      'its paid_at, 2020-01-01, is before the payer paid',
      ({ shown }) => (shown.paid_at = '2020-01-01'),
    ],
    [
      'it is paid, but the gateway did not keep the money (OK, charged 1, verified 0, reversed 0)',
      ({ entry }) => Object.assign(entry, { state: 'OK', verified: 0 }),
    ],
    [
      'it is paid, but the gateway did not keep the money (OK, charged 1, verified 1, reversed 1)',
      ({ entry }) => Object.assign(entry, { state: 'OK', reversed: 1 }),
    ],
    [
      'a late payment is recorded (returns): there is none',
      ({ records, id }) => records.latePayments.set(id, 'returns'),
    ],
    // The ledger.
    [
      'no POST of it was accepted',
      ({ post, attempts }) => {
        Object.assign(post, { status: 500 });
        attempts[0]!.status = 500;
      },
    ],
    ['its ledger has the numbers 1, 1', ({ attempts }) => attempts.push(attempts[0]!)],
    ['its ledger has the numbers 2', ({ attempts }) => (attempts[0]!.number = 2)],
    ['attempt 1 is not in the ledger', ({ records, id }) => records.attempts.delete(id)],
    ['attempt 1 was never completed', ({ attempts }) => (attempts[0]!.completed = false)],
    [
      'attempt 1 is recorded as 500, which was never answered',
      ({ attempts }) => (attempts[0]!.status = 500),
    ],
    [
      'attempt 2 came after an accepted one',
      (run) => {
        secondAfter(run, 60_000);
        Object.assign(run.post, { status: 204 });
      },
    ],
    ['attempt 2 came 40000 ms after the one before, not 60000', (run) => secondAfter(run, 40_000)],
  ])('finds: %s', async (text, lie) => {
    const run = await aRun();
    lie(run);
    expect(run.find()).toContain(text);
  });

  it.each<[text: string, lie: (run: Run) => unknown]>([
    [
      'REFUND_2 was accepted, and is lost',
      ({ journal, order }) => journal.recordRefund(order, 'REFUND_2'),
    ],
    ['500 of it is still reserved', ({ sums }) => (sums.pending = 500)],
    [
      'it says that 29999 went back, and its refunds say 30000',
      ({ sums }) => (sums.refunded = 29_999),
    ],
    [
      'the gateway gave 60000 back, and its refunds say 30000',
      ({ gateway, reference }) => gateway.refundAtDashboard?.(reference, 30_000),
    ],
    ['60000 of 50000 went back', ({ refunds, refund }) => refunds.push(refund)],
    [
      'REFUND_1 has not ended: sent',
      ({ refund }) => Object.assign(refund, { status: 'pending', stage: 'sent' }),
    ],
    [
      'REFUND_1 is failed, and has the events refund.succeeded',
      ({ refund }) => (refund.status = 'failed'),
    ],
    ['REFUND_1 is succeeded, and has the events none', ({ refund }) => (refund.events = [])],
    [
      'the delivery of refund.succeeded of REFUND_1 is exhausted',
      ({ refund }) => (refund.events[0]!.delivery = 'exhausted'),
    ],
    ['the delivery of refund.succeeded of REFUND_1 is delivered', ({ posts }) => posts.splice(1)],
    ['the signature of a POST is wrong', ({ refundPost }) => (refundPost.isSigned = false)],
    [
      'refund.succeeded of REFUND_1 arrived with different bytes',
      ({ posts, refundPost }) => posts.push({ ...refundPost, body: Buffer.from('{ }') }),
    ],
  ])('finds of a refund: %s', async (text, lie) => {
    const run = await aRun('stripe');
    lie(run);
    expect(run.find()).toContain(text);
  });

  it.each([
    ['amount', 49_990],
    ['currency', 'EUR'],
    ['order_id', 'order-2'],
    ['metadata', { order: 'order-1', behaviour: 'late' }],
  ] as const)('compares the payment with the request: %s', async (name, value) => {
    const run = await aRun('zarinpal', { [name]: value });
    Object.assign(run.shown, { [name]: value });
    expect(run.find()).toEqual([expect.stringMatching(/^it is \d+ \w+ for order-\d, with \{/)]);
  });

  it.each([
    ...['payment_id', 'application', 'order_id', 'status', 'amount', 'currency', 'tracking_code'],
    ...['card_pan_masked', 'paid_at', 'failure_code', 'failure_reason', 'test', 'metadata'],
    ...['event', 'event_id'],
  ])('compares the event with the payment: %s', async (name) => {
    const run = await aRun('zarinpal', { [name]: 'another' });
    expect(run.find()).toEqual([expect.stringMatching(`^its event has ${name} "another", `)]);
  });

  it('names the payment of a problem that only a caller has seen', async () => {
    const { evidence, order, shown, payment } = await aRun();
    shown.status = 'pending';
    evidence.journal.addProblem(order, 'read was answered 500');
    evidence.journal.addProblem('order-9', 'create was answered 500');
    expect(checkAll(evidence)).toEqual([
      { order, payment, text: 'it has not ended: pending' },
      { order, payment, text: 'read was answered 500' },
      { order: 'order-9', text: 'create was answered 500' },
    ]);
  });

  const unknown = { sender: undefined };
  const hanging = { endedAt: 10_000 };
  it.each<[isExcused: boolean, Partial<Disruptions>, first?: object]>([
    [false, {}],
    [false, { workers: [{ pid: other, at: answeredAt }] }],
    // The sender died before the result can have been recorded.
    [true, { workers: [{ pid: sender, at: answeredAt + 4_900 }] }],
    [false, { workers: [{ pid: sender, at: answeredAt + 5_100 }] }],
    [false, { workers: [{ pid: sender, at: -1_100 }] }],
    [true, { workers: [{ pid: sender, at: 9_000 }] }, hanging],
    [true, { workers: [{ pid: other, at: 20 }] }, unknown],
    [false, { workers: [{ pid: other, at: answeredAt + 5_100 }] }, unknown],
    // Postgres was down as it had to be recorded.
    [true, { postgres: [{ from: answeredAt + 4_900, to: 7_000 }] }],
    [true, { postgres: [{ from: -2_000, to: 10 }] }],
    [false, { postgres: [{ from: -2_000, to: -1_100 }] }],
    [false, { postgres: [{ from: answeredAt + 5_100, to: 7_000 }] }],
    [false, { postgres: [{ from: 1_000, to: 3_000 }] }, hanging],
    [true, { postgres: [{ from: 8_000, to: 9_500 }] }, hanging],
  ])('excuses an attempt that is sent again: %s, %j %j', async (isExcused, disruptions, first) => {
    const { evidence, post, find } = await aRun();
    evidence.posts.push({ ...post, at: 20_000, endedAt: 20_050 });
    Object.assign(post, first);
    evidence.disruptions = { ...noDisruptions, ...disruptions };
    expect(find()).toEqual(isExcused ? [] : ['attempt 1 was sent 2 times, 1 without a reason']);
  });
});

describe('a late payment', () => {
  const missing = 'its late payment is recorded as nothing, and must be returns';

  /** It expired, and its payer paid late. */
  const aLate = async (slug = 'zarinpal') => {
    const run = await aRun(slug, {}, endedAs('expired'));
    run.payment.expiresAt = 0;
    run.entry.verified = 0;
    return { ...run, paidAt: run.gateway.findDecision(run.reference)!.at };
  };

  type Outage = [part: 'temporal' | 'postgres', from: number, to: number];
  it.each<[isFound: boolean, back: object, outage?: Outage]>([
    [true, {}],
    [false, { status: 'processing' }],
    [false, { where: 'verify' }],
    [false, { at: -1_000 }],
    // It may be missed only while Temporal or Postgres is down.
    [false, {}, ['temporal', -2_000, -1_000]],
    [false, {}, ['postgres', -100, 1_000]],
    [true, {}, ['temporal', -40_000, -30_000]],
    [true, {}, ['temporal', 100, 1_000]],
  ])('must be found: %s, after a return %j, with an outage %j', async (isFound, back, outage) => {
    const { evidence, find, paidAt } = await aLate();
    expect(find()).toEqual([]);
    const seen = { status: 'expired', where: 'return', at: 1_000, ...back };
    seen.at += paidAt;
    evidence.journal.statusesFor = () => [seen];
    if (outage) {
      const [part, from, to] = outage;
      const during = [{ from: seen.at + from, to: seen.at + to }];
      evidence.disruptions = { ...noDisruptions, [part]: during };
    }
    expect(find()).toEqual(isFound ? [missing] : []);
  });

  it('must be found when another amount was paid, and be recorded with where the money went', async () => {
    const run = await aRun('stripe', {}, endedAs('failed', 'amount_mismatch'));
    run.entry.reversed = 1;
    const count = (recorded?: string) => {
      const { latePayments } = run.evidence.records;
      if (recorded) latePayments.set(run.id, recorded);
      return run.find().filter((text) => text.startsWith('its late payment is recorded as')).length;
    };
    const all = [undefined, 'found', 'by_hand', 'returns', 'reversed'];
    expect(all.map(count)).toEqual([1, 1, 1, 1, 0]);
  });
});

describe('the decision of the payer', () => {
  const all = ['paid', 'failed', 'cancelled', 'expired'];
  type Decided = 'nothing' | 'paid' | 'refused' | 'cancelled';

  it.each<[slug: string, Decided, when: 'in time' | 'late', allowed: string[]]>([
    ['zarinpal', 'nothing', 'in time', ['expired']],
    ['zarinpal', 'paid', 'in time', ['paid']],
    ['zarinpal', 'paid', 'late', ['paid', 'expired']],
    ['zarinpal', 'refused', 'in time', ['failed']],
    ['zarinpal', 'refused', 'late', ['failed', 'expired']],
    ['zarinpal', 'cancelled', 'in time', ['failed']],
    ['zibal', 'cancelled', 'in time', ['cancelled']],
    ['zibal', 'cancelled', 'late', ['cancelled', 'expired']],
    ['stripe', 'cancelled', 'in time', ['cancelled', 'expired']],
  ])('allows at %s after %s %s the statuses %j', async (slug, decided, when, allowed) => {
    const { payment, gateway, reference } = await aVisit({ slug });
    if (when === 'late') payment.expiresAt = Date.now() - 1_000;
    if (decided !== 'nothing') gateway.decide(reference, decided);
    const isFound = (status: string) =>
      findGatewayProblems(payment, endedAs(status)).some((text) =>
        text.startsWith(`it ended ${status}, `),
      );
    expect(all.filter((status) => !isFound(status))).toEqual(allowed);
  });

  it.each([
    ['zarinpal', 'payment_not_completed'],
    ['zibal', 'insufficient_funds'],
    ['payping', 'gateway_error'],
    ['stripe', 'payment_not_completed'],
  ])('requires for a refusal by %s the failure code %s, and no receipt', async (slug, code) => {
    const { payment, gateway, reference } = await aVisit({ slug, behaviour: 'refuse' });
    gateway.decide(reference, 'refused');
    const found = (failure?: string, shown: object = {}) =>
      findGatewayProblems(payment, { ...endedAs('failed', failure), ...shown });
    expect([found(code), found('card_declined').length, found().length]).toEqual([[], 1, 1]);
    const paid = {
      tracking_code: '1',
      card_pan_masked: receipt.card,
      paid_at: new Date().toISOString(),
    };
    expect(found(code, paid)).toHaveLength(3);
  });

  it('requires a mismatch and the money back when another amount was paid', async () => {
    const visit = await aVisit({ slug: 'stripe', behaviour: 'wrongAmount' });
    const { payment, gateway, reference, entry } = visit;
    gateway.decide(reference, 'paid', 25_000);
    const mismatch = endedAs('failed', 'amount_mismatch');
    const found = (shown: typeof mismatch) => findGatewayProblems(payment, shown).length;
    expect([owesMoney(payment, mismatch), found(mismatch)]).toEqual([true, 1]);
    entry.reversed = 1;
    expect([owesMoney(payment, mismatch), found(mismatch)]).toEqual([false, 0]);
    expect(found(endedAs('failed', 'unknown'))).toBe(1);
    payment.expiresAt = 0;
    expect(['expired', 'cancelled'].map((status) => found(endedAs(status)))).toEqual([0, 1]);
  });

  it('requires the return of money that came late when the payment expired', async () => {
    const { payment, gateway, reference, entry } = await aVisit();
    payment.expiresAt = Date.now() - 1_000;
    gateway.decide(reference, 'paid');
    const expired = endedAs('expired');
    const found = () => [findGatewayProblems(payment, expired).length, owesMoney(payment, expired)];
    expect(found()).toEqual([0, false]);
    entry.verified = 1;
    expect(found()).toEqual([1, true]);
    expect(owesMoney(payment, endedAs('paid'))).toBe(false);
    entry.reversed = 1;
    expect(found()).toEqual([0, false]);
  });

  it('requires gateway_error for a payment that was never opened', async () => {
    const { payment, gateway } = await aVisit();
    gateway.provider.book.clear();
    const { reference: _, ...unsent } = payment;
    expect(findGatewayProblems(unsent, endedAs('failed', 'gateway_error'))).toEqual([]);
    expect(findGatewayProblems(unsent, endedAs('failed', 'unknown'))).not.toEqual([]);
    expect(findGatewayProblems(payment, endedAs('failed', 'gateway_error'))).not.toEqual([]);
  });

  it('allows a card to be missing only after a repeated verification', async () => {
    const { payment, gateway, shown } = await aRun('payping');
    shown.card_pan_masked = null;
    const body = JSON.stringify({ paymentCode: payment.reference });
    const url = `${gateway.provider.url}/v3/pay/verify`;
    const found: number[] = [];
    for (let times = 0; times < 2; times += 1) {
      await fetch(url, { method: 'POST', body });
      found.push(findGatewayProblems(payment, shown).filter((text) => /card/.test(text)).length);
    }
    expect(found).toEqual([1, 0]);
  });
});
