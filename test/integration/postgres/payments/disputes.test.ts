import { describe, expect, it, onTestFinished } from 'vitest';
import type { KnownDispute } from '../../../../contract/dispute.ts';
import { createDisputes } from '../../../../postgres/payments/disputes.ts';
import { createRefundOutcomes } from '../../../../postgres/refunds/outcomes.ts';
import { createRefunds } from '../../../../postgres/refunds/refunds.ts';
import { aDispute } from '../../../support/data/disputes.ts';
import { aRefund, startRefundRecords } from '../../../support/data/refund-cases.ts';
import { forFile } from '../../../support/for-file.ts';

const records = await forFile(startRefundRecords());
const { sql } = records;
const disputes = createDisputes(sql);
const refunds = createRefunds(sql);
const outcomes = createRefundOutcomes(sql);

const paidPayment = async () => {
  const payment = await records.ended('paid', { gateway: 'stripe' });
  const look = async (...found: KnownDispute[]) => {
    await disputes.requestLook(payment.id);
    const [claimed] = await disputes.claimLooks(1);
    return claimed && disputes.recordLook(claimed, found, new Date());
  };
  const held = async () => (await records.paymentOutcomes.get(payment.id))?.amountDisputed;
  return { payment, look, held };
};

describe('a chargeback', () => {
  it.each([
    [{ stage: 'inquiry' }, 0],
    [{ status: 'needs_response' }, 1000],
    [{ status: 'under_review' }, 1000],
    [{ status: 'lost' }, 1000],
    [{ status: 'won' }, 0],
    [{ status: 'closed' }, 0],
    // A part of our unit is the whole one, since none can be recorded.
    [{ amount: 999.5 }, 1000],
    // Nobody knows how much of the payment that is.
    [{ currency: 'USD' }, 1250],
  ] as const)('of %o holds %i', async (changes, amount) => {
    const { payment, look, held } = await paidPayment();
    expect(await look(aDispute({ gatewayReference: `dp_${payment.id}`, ...changes }))).toEqual([]);
    expect(await held()).toBe(amount);
  });

  it('leaves to refunds what it does not hold, and holds nothing once it is won', async () => {
    const { payment, look } = await paidPayment();
    const gatewayReference = `dp_${payment.id}`;
    await look(aDispute({ gatewayReference }));
    expect(await refunds.insert(aRefund(payment, { amount: 251 }))).toBeUndefined();
    expect(await refunds.insert(aRefund(payment, { amount: 250 }))).toMatchObject({
      status: 'pending',
    });
    await look(aDispute({ gatewayReference, status: 'won' }));
    expect(await refunds.insert(aRefund(payment, { amount: 1000 }))).toMatchObject({
      status: 'pending',
    });
  });

  it('keeps a gateway from being told of a refund that waits', async () => {
    const { payment, look } = await paidPayment();
    const refund = aRefund(payment, { amount: 500 });
    await refunds.insert(refund);
    expect((await outcomes.get(refund.id))?.isDisputed).toBe(false);
    await look(aDispute({ gatewayReference: `dp_${payment.id}` }));
    expect((await outcomes.get(refund.id))?.isDisputed).toBe(true);
    expect(await outcomes.markTold(refund.id, { timesTold: 0, now: new Date() })).toBe(false);
  });

  it('is kept with the time of its end, which a second chargeback takes away', async () => {
    const { payment, look } = await paidPayment();
    const gatewayReference = `dp_${payment.id}`;
    const row = async () => {
      const [found] = await sql<{ status: string; closed: boolean; due: boolean }[]>`
        select d.status, d.closed_at is not null as closed, l.due_at is not null as due
        from disputes d join dispute_looks l using (payment_id) where d.payment_id = ${payment.id}`;
      return found;
    };
    await look(aDispute({ gatewayReference, status: 'won' }));
    expect(await row()).toEqual({ status: 'won', closed: true, due: false });
    await look(aDispute({ gatewayReference }));
    expect(await row()).toEqual({ status: 'needs_response', closed: false, due: true });
  });
});

describe('the events of a dispute', () => {
  const withEvents = async () => {
    const { payment, look } = await paidPayment();
    await sql`update applications set dispute_events = true where slug = ${payment.application}`;
    onTestFinished(async () => {
      await sql`update applications set dispute_events = false where slug = ${payment.application}`;
    });
    const gatewayReference = `dp_${payment.id}`;
    const kinds = async () => {
      const rows = await sql<{ kind: string }[]>`
        select kind from deliveries where payment_id = ${payment.id} and kind like 'dispute.%' order by recorded_at`;
      return rows.map(({ kind }) => kind.replace('dispute.', ''));
    };
    return {
      kinds,
      look: (changes: Partial<KnownDispute>) => look(aDispute({ gatewayReference, ...changes })),
    };
  };

  it.each([
    ['the first look', [{}], ['opened']],
    ['a first look after the end', [{ status: 'won' }], ['closed']],
    ['a look that changes nothing', [{}, {}], ['opened']],
    ['a reason that comes later', [{ reason: null }, {}], ['opened']],
    ['an inquiry that becomes a chargeback', [{ stage: 'inquiry' }, {}], ['opened', 'updated']],
    ['another amount', [{}, { amount: 900 }], ['opened', 'updated']],
    ['another deadline', [{}, { respondBy: null }], ['opened', 'updated']],
    ['an answer', [{}, { status: 'under_review' }], ['opened', 'updated']],
    ['an end', [{}, { status: 'lost' }], ['opened', 'closed']],
    [
      'an amount after the end',
      [{ status: 'won' }, { status: 'won', amount: 9 }],
      ['closed', 'updated'],
    ],
    [
      'a second chargeback',
      [{ status: 'won' }, {}, { status: 'won' }],
      ['closed', 'updated', 'closed'],
    ],
    [
      'a second chargeback that nobody saw',
      [{ status: 'won' }, { status: 'lost' }],
      ['closed', 'closed'],
    ],
  ] as const)('tell of %s', async (_, looks, expected) => {
    const { look, kinds } = await withEvents();
    for (const changes of looks) await look(changes);
    expect(await kinds()).toEqual(expected);
  });
});

it('a claimed look is due again only later', async () => {
  const { payment } = await paidPayment();
  await disputes.requestLook(payment.id);
  expect(await disputes.claimLooks(10)).toEqual([{ paymentId: payment.id, number: 1 }]);
  expect(await disputes.claimLooks(10)).toEqual([]);
});
