import { describe, expect, it } from 'vitest';
import type { KnownRefund, RefundAnswer } from '../../../gateways/gateway.ts';
import {
  accepted,
  known,
  refundCase,
  type RefundCase,
  startRefundRecords,
} from '../../support/data/refund-cases.ts';
import { forFile } from '../../support/for-file.ts';
import { silence } from '../../support/service/scripted-gateway.ts';
import { dayMs, hourMs } from '../../../contract/time.ts';

const records = await forFile(startRefundRecords());
const aCase = (given: RefundCase) => refundCase(records, given);

const ours = known({ refundId: 'ours' });
const refused: RefundAnswer = {
  result: 'refused',
  failureCode: 'already_refunded',
  code: 'charge_already_refunded',
  message: 'It has already been refunded.',
};

/**
 * The tries in turn: what each returns, how the refund is then, and the alerts of it. A number is the time in
 * milliseconds until the next one, an object what a chargeback holds from now on, or whether the refund can be called off now.
 */
type Tries = (string | number | { disputed: number } | { cancels: boolean })[];
const sent = 'RefundPending: pending sent';
const byHand = 'ended: pending by_hand, refund_by_hand';
const noKeys = { driver: 'zarinpal' } as const;
const acceptance = [accepted({ refundId: 'ours' })];
const state = (name: KnownRefund['state']) => known({ refundId: 'ours', state: name });
let foreigners = 0;
const foreigner = (fields: Partial<KnownRefund>) =>
  known({ reference: `re_foreign_${(foreigners += 1)}`, ...fields });

/** The last one: what somebody has refunded at the gateway. */
const cases: [string, RefundCase, Tries, number?][] = [
  [
    'finds its own refund after a lost answer, and does not tell again',
    { refunds: [[], [ours]], refund: [silence] },
    [sent, 'ended: succeeded'],
  ],
  [
    'tells a gateway with keys again if its list lacks the refund, three times in all',
    { refunds: [[], [], [], []], refund: [silence, silence, silence] },
    [sent, sent, sent, sent],
  ],
  [
    'tells a gateway without keys once, and leaves the refund to an admin after a day',
    { ...noKeys, refunds: [[], [], []], refund: [silence] },
    [sent, hourMs, `${sent}, refund_unknown`, dayMs, byHand],
  ],
  [
    'recognises its refund at a gateway without keys by amount and time',
    { ...noKeys, refunds: [[], [known({ createdAt: new Date() })]], refund: [silence] },
    [sent, 'ended: succeeded'],
  ],
  [
    'leaves a refund to an admin if a gateway without keys has one like it that it was never told',
    { ...noKeys, refunds: [[known()]] },
    [byHand],
  ],
  [
    'fails on a refusal, and frees the amount',
    { refunds: [[]], refund: [refused] },
    ['ended: failed already_refunded'],
  ],
  [
    'takes no refusal after silence for an outcome',
    { refunds: [[], [], [ours]], refund: [silence, refused] },
    [sent, sent, 'ended: succeeded'],
  ],
  [
    'waits while the gateway works on it, and says where it is',
    {
      refunds: [[], [state('waiting_for_balance')], [ours]],
      refund: [accepted({ refundId: 'ours', state: 'pending' })],
    },
    [
      'RefundPending: pending accepted',
      'RefundPending: pending waiting_for_balance',
      'ended: succeeded',
    ],
  ],
  [
    'alerts admins while the gateway works on it for a week, and leaves it to them after 60 days',
    {
      refunds: [[], [state('pending')], [state('pending')]],
      refund: [accepted({ refundId: 'ours', state: 'pending' })],
    },
    [
      'RefundPending: pending accepted',
      8 * dayMs,
      'RefundPending: pending accepted, refund_pending_long',
      53 * dayMs,
      byHand,
    ],
  ],
  [
    'fails a refund that had succeeded when the bank sends the money back',
    { refunds: [[], [ours], [state('failed')], []], refund: acceptance },
    [
      'ended: succeeded',
      'ended: succeeded',
      'ended: failed returned_by_bank, refund_returned',
      'ended: failed returned_by_bank',
    ],
  ],
  [
    'that has failed stays so when the gateway gives its money back, with an alert',
    {
      refunds: [[], [state('failed')], [ours]],
      refund: [accepted({ refundId: 'ours', state: 'failed' })],
    },
    [
      'ended: failed unknown',
      'ended: failed unknown',
      'ended: failed unknown, refund_contradicted',
    ],
  ],
  [
    'waits for a person when the gateway names another amount',
    { refunds: [[known({ refundId: 'ours', amount: 1 })]] },
    [byHand],
  ],
  [
    'waits for a person when the gateway names another currency',
    { refunds: [[known({ refundId: 'ours', currency: 'USD' })]] },
    [byHand],
  ],
  [
    'that has succeeded stays so when the gateway names another amount, with an alert',
    { refunds: [[], [known({ refundId: 'ours', amount: 1 })]], refund: acceptance },
    ['ended: succeeded', 'ended: succeeded, refund_contradicted'],
  ],
  [
    'fails when a chargeback takes its money before the gateway was told',
    { refunds: [] },
    [{ disputed: 751 }, 'ended: failed disputed'],
  ],
  [
    'is told although a chargeback holds the rest of the payment',
    { refunds: [[]], refund: acceptance },
    [{ disputed: 750 }, 'ended: succeeded'],
  ],
  [
    'is not told again once a chargeback has taken its money',
    { refunds: [[], []], refund: [silence] },
    [sent, { disputed: 1250 }, sent],
  ],
  [
    'is never told after it was called off, and ends',
    { refunds: [] },
    [{ cancels: true }, 'ended: failed cancelled', { cancels: true }],
  ],
  [
    'cannot be called off once the gateway was told',
    { refunds: [[]], refund: [silence] },
    [sent, { cancels: false }],
  ],
  [
    'changes nothing while the gateway is silent',
    { refunds: [silence] },
    ['RefundPending: pending reserved'],
  ],
  [
    'ends, in one transaction, where one that somebody made at the gateway leaves too little',
    { refunds: [[foreigner({ amount: 1250 })]] },
    ['ended: failed not_refundable, refund_outside'],
    1250,
  ],
  [
    'succeeds beside one that somebody made, even where their sum exceeds the payment',
    { refunds: [[ours, foreigner({ amount: 1250 })]] },
    ['ended: succeeded, refund_outside'],
    1250,
  ],
  [
    'counts none of another currency, with an alert',
    { refunds: [[foreigner({ amount: 300, currency: 'USD' })]], refund: acceptance },
    ['ended: succeeded, refund_contradicted'],
  ],
  [
    'counts none of a part of a minor unit, with an alert',
    { refunds: [[foreigner({ amount: 12.5 })]], refund: acceptance },
    ['ended: succeeded, refund_contradicted'],
  ],
];

describe('refundPayment', () => {
  it('asks the gateway before it tells it, and records the end', async () => {
    const { tryOnce, calls, get } = await aCase({
      refunds: [[], [ours]],
      refund: [accepted({ refundId: 'ours', bankReference: 'ARN-1' })],
    });
    expect(await tryOnce()).toBe('ended');
    expect(calls()).toEqual(['refunds', 'refund']);
    const end = { status: 'succeeded', stage: null, timesTold: 1, bankReference: 'ARN-1' };
    expect(await get()).toMatchObject(end);
    expect(await tryOnce()).toBe('ended');
  });

  it.each(cases)('%s', async (_, given, tries, others = 0) => {
    const refund = await aCase(given);
    const played: Tries = [];
    const ends: string[] = [];
    for (const expected of tries) {
      if (typeof expected === 'number') refund.later(expected);
      if (typeof expected === 'object' && 'cancels' in expected) {
        played.push({ cancels: await refund.refunds.requestCancel(refund.id) });
        continue;
      }
      if (typeof expected === 'object')
        await records.sql`
          update payments set amount_disputed = ${expected.disputed} where id = ${refund.payment.id}`;
      if (typeof expected !== 'string') {
        played.push(expected);
        continue;
      }
      const before = refund.alerts().length;
      const result = await refund.tryOnce();
      const { status, stage, failureCode } = await refund.get();
      const is = [status, stage ?? failureCode ?? ''].join(' ').trimEnd();
      played.push([`${result}: ${is}`, ...refund.alerts().slice(before).map(String)].join(', '));
      if (status !== 'pending' && ends.at(-1) !== status) ends.push(status);
    }
    expect(played).toEqual(tries);
    const { status, timesTold } = await refund.get();
    expect(await refund.sums()).toEqual({
      refunded: (status === 'succeeded' ? 500 : 0) + others,
      pending: status === 'pending' ? 500 : 0,
    });
    if (others === 0) expect(await refund.events()).toEqual(ends.map((end) => `refund.${end}`));
    // It asks as often as the script answers, and before it tells.
    const told = given.refund?.length ?? 0;
    const calls = refund.calls();
    expect([timesTold, calls.length - told]).toEqual([told, given.refunds.length]);
    expect(calls.join()).toMatch(/^(refunds(,refund)?(,|$))*$/);
  });
});

describe('a refund that somebody made at the gateway', () => {
  it('is recorded, with its events and an alert', async () => {
    const foreign = known({ reference: 're_foreign', amount: 300 });
    const { tryOnce, get, sums, events, alerts, started } = await aCase({
      refunds: [[foreign], [foreign, ours]],
      refund: [accepted({ refundId: 'ours' })],
    });
    expect(await tryOnce()).toBe('ended');
    expect(await get()).toMatchObject({ status: 'succeeded' });
    expect(await sums()).toEqual({ refunded: 800, pending: 0 });
    expect(await events()).toEqual(['refund.created', 'refund.succeeded', 'refund.succeeded']);
    expect([alerts(), started.length]).toEqual([['refund_outside'], 1]);
    expect(await tryOnce()).toBe('ended');
    expect(alerts()).toEqual(['refund_outside']);
  });

  it.each([
    ['of the refund of another payment', async () => (await aCase({ refunds: [] })).id],
    ['that is no id of a refund', async () => 'PAY_01K9Z5W6X7Y8ZABCDEFGHJKMNP'],
  ])('is recorded under an id of its own where it carries one %s', async (_, idOf) => {
    const refundId = await idOf();
    const reference = `re_carries_${refundId}`;
    const foreign = known({ reference, refundId, amount: 300 });
    const { tryOnce, sums } = await aCase({
      refunds: [[foreign], [foreign]],
      refund: [accepted({ refundId: 'ours' })],
    });
    await tryOnce();
    expect(await sums()).toEqual({ refunded: 800, pending: 0 });
    const rows = await records.sql`select id from refunds where gateway_reference = ${reference}`;
    expect(rows).toEqual([{ id: expect.stringMatching(/^REFUND_\w{26}$/) as string }]);
    expect(rows[0]).not.toEqual({ id: refundId });
  });

  it('is recorded under our id if Postgres was restored without it', async () => {
    const id = 'REFUND_1ABCDEFGHJKMNPQRSTVWXYZ012';
    const { tryOnce } = await aCase({
      refunds: [[known({ reference: 're_2', refundId: id, amount: 300 })]],
      refund: [accepted({ refundId: 'ours' })],
    });
    await tryOnce();
    const [row] = await records.sql`select requested_by, amount from refunds where id = ${id}`;
    expect(row).toEqual({ requested_by: 'gateway', amount: 300 });
  });
});

describe('the events of a refund', () => {
  it('are delivered while the gateway still works on it, once', async () => {
    const pending = known({ refundId: 'ours', state: 'pending' });
    const { work } = await aCase({
      fields: { requestedBy: 'admin' },
      refunds: [[], [pending], [pending]],
      refund: [accepted({ refundId: 'ours', state: 'pending' })],
    });
    const { events, againInMs } = await work();
    expect(events).toHaveLength(1);
    expect(againInMs).toBeGreaterThan(0);
    const accepts = { events: [], says: expect.stringContaining('has accepted') };
    expect(await work(events)).toMatchObject(accepts);
    await records.sql`
      update deliveries set status = 'delivered', next_attempt_at = null where event_id = ${events[0] ?? ''}`;
    expect(await work()).toMatchObject(accepts);
  });

  it('are delivered again while the gateway is silent', async () => {
    const { work } = await aCase({
      refunds: [[], silence, silence, silence],
      refund: [accepted({ refundId: 'ours' })],
    });
    const { events } = await work();
    expect(events).toHaveLength(1);
    expect(await work()).toMatchObject({ events, againInMs: 60_000 });
    expect(await work(events)).toMatchObject({ events: [], againInMs: 60_000 });
    await records.sql`
      update deliveries set status = 'exhausted', next_attempt_at = null where event_id = ${events[0] ?? ''}`;
    expect(await work()).toMatchObject({ events: [], againInMs: 60_000 });
  });
});
