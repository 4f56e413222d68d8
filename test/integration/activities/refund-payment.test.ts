import { describe, expect, it } from 'vitest';
import type { RefundAnswer } from '../../../gateways/gateway.ts';
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

describe('refundPayment', () => {
  it('asks the gateway before it tells it, and records the end', async () => {
    const { tryOnce, calls, get, sums, events } = await aCase({
      refunds: [[], [ours]],
      refund: [accepted({ refundId: 'ours', bankReference: 'ARN-1' })],
    });
    expect(await tryOnce()).toBe('ended');
    expect(calls()).toEqual(['refunds', 'refund']);
    expect(await get()).toMatchObject({
      status: 'succeeded',
      stage: null,
      timesTold: 1,
      bankReference: 'ARN-1',
    });
    expect(await sums()).toEqual({ refunded: 500, pending: 0 });
    expect(await events()).toEqual(['refund.succeeded']);
    expect(await tryOnce()).toBe('ended');
  });

  it('finds its own refund after a lost answer, and does not tell again', async () => {
    const { tryOnce, calls, get } = await aCase({ refunds: [[], [ours]], refund: [silence] });
    expect(await tryOnce()).toBe('RefundPending');
    expect(await get()).toMatchObject({ status: 'pending', stage: 'sent' });
    expect(await tryOnce()).toBe('ended');
    expect(calls()).toEqual(['refunds', 'refund', 'refunds']);
    expect(await get()).toMatchObject({ status: 'succeeded', timesTold: 1 });
  });

  it('tells a gateway with keys again if its list lacks the refund, three times in all', async () => {
    const { tryOnce, calls, get } = await aCase({
      refunds: [[], [], [], []],
      refund: [silence, silence, silence],
    });
    for (let timesTold = 1; timesTold <= 3; timesTold += 1) {
      expect(await tryOnce()).toBe('RefundPending');
      expect(await get()).toMatchObject({ timesTold });
    }
    expect(await tryOnce()).toBe('RefundPending');
    expect(calls().filter((call) => call === 'refund')).toHaveLength(3);
  });

  it('tells a gateway without keys once, and leaves the refund to an admin after a day', async () => {
    const refund = await aCase({
      driver: 'zarinpal',
      refunds: [[], [], []],
      refund: [silence],
    });
    expect(await refund.tryOnce()).toBe('RefundPending');
    refund.later(hourMs);
    expect(await refund.tryOnce()).toBe('RefundPending');
    refund.later(dayMs);
    expect(await refund.tryOnce()).toBe('ended');
    expect(await refund.get()).toMatchObject({ status: 'pending', stage: 'by_hand', timesTold: 1 });
    expect(refund.alerts()).toEqual(['refund_unknown', 'refund_by_hand']);
    expect(await refund.sums()).toEqual({ refunded: 0, pending: 500 });
  });

  it('recognises its refund at a gateway without keys by amount and time', async () => {
    const { tryOnce, get, calls } = await aCase({
      driver: 'zarinpal',
      refunds: [[], [known({ createdAt: new Date() })]],
      refund: [silence],
    });
    await tryOnce();
    expect(await tryOnce()).toBe('ended');
    expect(await get()).toMatchObject({ status: 'succeeded' });
    expect(calls()).toEqual(['refunds', 'refund', 'refunds']);
  });

  it('leaves a refund to an admin if a gateway without keys has one like it that it was never told', async () => {
    const { tryOnce, get, sums, alerts } = await aCase({
      driver: 'zarinpal',
      refunds: [[known()]],
    });
    expect(await tryOnce()).toBe('ended');
    expect(await get()).toMatchObject({ stage: 'by_hand', timesTold: 0 });
    expect([await sums(), alerts()]).toEqual([{ refunded: 0, pending: 500 }, ['refund_by_hand']]);
  });

  it('fails on a refusal, and frees the amount', async () => {
    const { tryOnce, get, sums, events } = await aCase({ refunds: [[]], refund: [refused] });
    expect(await tryOnce()).toBe('ended');
    expect(await get()).toMatchObject({ status: 'failed', failureCode: 'already_refunded' });
    expect(await sums()).toEqual({ refunded: 0, pending: 0 });
    expect(await events()).toEqual(['refund.failed']);
  });

  it('takes no refusal after silence for an outcome', async () => {
    const { tryOnce, get } = await aCase({
      refunds: [[], [], [ours]],
      refund: [silence, refused],
    });
    await tryOnce();
    expect(await tryOnce()).toBe('RefundPending');
    expect(await get()).toMatchObject({ status: 'pending', timesTold: 2 });
    expect(await tryOnce()).toBe('ended');
    expect(await get()).toMatchObject({ status: 'succeeded' });
  });

  it('waits while the gateway works on it, and says where it is', async () => {
    const { tryOnce, get, events } = await aCase({
      refunds: [[], [known({ refundId: 'ours', state: 'waiting_for_balance' })], [ours]],
      refund: [accepted({ refundId: 'ours', state: 'pending' })],
    });
    expect(await tryOnce()).toBe('RefundPending');
    expect(await get()).toMatchObject({ status: 'pending', stage: 'accepted' });
    expect(await tryOnce()).toBe('RefundPending');
    expect(await get()).toMatchObject({ status: 'pending', stage: 'waiting_for_balance' });
    expect(await tryOnce()).toBe('ended');
    expect(await events()).toEqual(['refund.succeeded']);
  });

  it('fails a refund that had succeeded when the bank sends the money back', async () => {
    const returned = known({ refundId: 'ours', state: 'failed' });
    const { tryOnce, get, sums, events, alerts } = await aCase({
      refunds: [[], [ours], [returned], []],
      refund: [accepted({ refundId: 'ours' })],
    });
    await tryOnce();
    expect(await tryOnce()).toBe('ended');
    expect(await get()).toMatchObject({ status: 'succeeded' });
    expect(await tryOnce()).toBe('ended');
    expect(await get()).toMatchObject({ status: 'failed', failureCode: 'returned_by_bank' });
    expect(await sums()).toEqual({ refunded: 0, pending: 0 });
    expect(await events()).toEqual(['refund.succeeded', 'refund.failed']);
    expect(alerts()).toEqual(['refund_returned']);
    expect(await tryOnce()).toBe('ended');
  });

  it('that has failed stays so when the gateway gives its money back, with an alert', async () => {
    const { tryOnce, get, sums, events, alerts } = await aCase({
      refunds: [[], [known({ refundId: 'ours', state: 'failed' })], [ours]],
      refund: [accepted({ refundId: 'ours', state: 'failed' })],
    });
    expect(await tryOnce()).toBe('ended');
    expect(await tryOnce()).toBe('ended');
    expect(alerts()).toEqual([]);
    expect(await tryOnce()).toBe('ended');
    expect(alerts()).toEqual(['refund_contradicted']);
    expect(await get()).toMatchObject({ status: 'failed' });
    expect([await sums(), await events()]).toEqual([
      { refunded: 0, pending: 0 },
      ['refund.failed'],
    ]);
  });

  it.each([{ amount: 1 }, { currency: 'USD' }])(
    'waits for a person when the gateway names another amount or currency: %o',
    async (other) => {
      const strange = known({ refundId: 'ours', ...other });
      const { tryOnce, get, sums, alerts } = await aCase({ refunds: [[strange]] });
      expect(await tryOnce()).toBe('ended');
      expect(await get()).toMatchObject({ status: 'pending', stage: 'by_hand' });
      expect([await sums(), alerts()]).toEqual([{ refunded: 0, pending: 500 }, ['refund_by_hand']]);
    },
  );

  it('that has succeeded stays so when the gateway names another amount, with an alert', async () => {
    const { tryOnce, get, alerts } = await aCase({
      refunds: [[], [known({ refundId: 'ours', amount: 1 })]],
      refund: [accepted({ refundId: 'ours' })],
    });
    await tryOnce();
    expect(await tryOnce()).toBe('ended');
    expect(await get()).toMatchObject({ status: 'succeeded' });
    expect(alerts()).toEqual(['refund_contradicted']);
  });

  it('is never told after it was called off, and ends', async () => {
    const { tryOnce, id, refunds, calls, get } = await aCase({ refunds: [] });
    expect(await refunds.requestCancel(id)).toBe(true);
    expect(await tryOnce()).toBe('ended');
    expect(calls()).toEqual([]);
    expect(await get()).toMatchObject({ status: 'failed', failureCode: 'cancelled' });
    expect(await refunds.requestCancel(id)).toBe(true);
  });

  it('fails when a chargeback takes its money before the gateway was told', async () => {
    const { tryOnce, payment, calls, get, sums } = await aCase({ refunds: [] });
    await records.sql`update payments set amount_disputed = 751 where id = ${payment.id}`;
    expect(await tryOnce()).toBe('ended');
    expect(calls()).toEqual([]);
    expect(await get()).toMatchObject({ status: 'failed', failureCode: 'disputed' });
    expect(await sums()).toEqual({ refunded: 0, pending: 0 });
  });

  it('is told although a chargeback holds the rest of the payment', async () => {
    const { tryOnce, payment, get } = await aCase({
      refunds: [[]],
      refund: [accepted({ refundId: 'ours' })],
    });
    await records.sql`update payments set amount_disputed = 750 where id = ${payment.id}`;
    expect(await tryOnce()).toBe('ended');
    expect(await get()).toMatchObject({ status: 'succeeded' });
  });

  it('is not told again once a chargeback has taken its money', async () => {
    const { tryOnce, payment, calls, get } = await aCase({
      refunds: [[], []],
      refund: [silence],
    });
    expect(await tryOnce()).toBe('RefundPending');
    await records.sql`update payments set amount_disputed = 1250 where id = ${payment.id}`;
    expect(await tryOnce()).toBe('RefundPending');
    expect(calls()).toEqual(['refunds', 'refund', 'refunds']);
    expect(await get()).toMatchObject({ status: 'pending', timesTold: 1 });
  });

  it('cannot be called off once the gateway was told', async () => {
    const { tryOnce, id, refunds } = await aCase({ refunds: [[]], refund: [silence] });
    await tryOnce();
    expect(await refunds.requestCancel(id)).toBe(false);
  });

  it('changes nothing while the gateway is silent', async () => {
    const { tryOnce, get, calls } = await aCase({ refunds: [silence] });
    expect(await tryOnce()).toBe('RefundPending');
    expect(await get()).toMatchObject({ status: 'pending', stage: 'reserved', timesTold: 0 });
    expect(calls()).toEqual(['refunds']);
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

  it('ends ours where the two no longer fit, in one transaction', async () => {
    const { tryOnce, get, sums, calls } = await aCase({
      refunds: [[known({ reference: 're_all', amount: 1250 })]],
    });
    expect(await tryOnce()).toBe('ended');
    expect(await get()).toMatchObject({ status: 'failed', failureCode: 'not_refundable' });
    expect([await sums(), calls()]).toEqual([{ refunded: 1250, pending: 0 }, ['refunds']]);
  });

  it('is recorded even where the sum exceeds the payment', async () => {
    const { tryOnce, get, sums } = await aCase({
      refunds: [[ours, known({ reference: 're_more', amount: 1250 })]],
    });
    expect(await tryOnce()).toBe('ended');
    expect(await sums()).toEqual({ refunded: 1750, pending: 0 });
    expect(await get()).toMatchObject({ status: 'succeeded' });
  });

  it.each([{ currency: 'USD' }, { amount: 12.5 }])(
    'is an alert, and no money of the payment, where it has %o',
    async (other) => {
      const { tryOnce, get, sums, alerts } = await aCase({
        refunds: [[known({ reference: 're_other', amount: 300, ...other })]],
        refund: [accepted({ refundId: 'ours' })],
      });
      expect(await tryOnce()).toBe('ended');
      expect(await get()).toMatchObject({ status: 'succeeded' });
      expect([await sums(), alerts()]).toEqual([
        { refunded: 500, pending: 0 },
        ['refund_contradicted'],
      ]);
    },
  );

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
