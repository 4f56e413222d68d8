import { describe, expect, it } from 'vitest';
import {
  SandboxRefundPlan,
  sandboxRefundPlanProblems,
} from '../../../contract/sandbox-refund-plan.ts';
import { GatewayUnavailable } from '../../../gateways/errors.ts';
import type { GatewayPayment, GatewayRefund, OpenedPayment } from '../../../gateways/gateway.ts';
import { createSandboxPayments } from '../../../postgres/sandbox/payments.ts';
import { createSandboxRefunds, insertPlannedRefund } from '../../../postgres/sandbox/refunds.ts';
import { aDatabase } from '../../support/data/database.ts';
import { forFile } from '../../support/for-file.ts';
import { adapterOf, aGatewayPayment, aGatewayRefund } from '../../support/gateways/fixture.ts';

const { sql } = await forFile(aDatabase());
const page = createSandboxPayments(sql);
const books = createSandboxRefunds(sql);
const tools = {
  sandboxPayments: page,
  sandboxRefunds: books,
  publicBaseUrl: 'https://pay.example',
};
const gateway = adapterOf('sandbox', { kind: 'sandbox', credentials: {} }, { tools });

const aPayment = (): GatewayPayment => aGatewayPayment({ amount: 1250, currency: 'EUR' });
const open = async (): Promise<OpenedPayment> => {
  const payment = aPayment();
  const opening = await gateway.open(payment);
  if (opening.result !== 'opened') throw new Error(`${opening.code}: ${opening.message}`);
  return { ...payment, reference: opening.reference };
};
const choose = async (payment: GatewayPayment, state: 'paid' | 'refused' | 'cancelled') => {
  const refusal = state === 'refused' ? 'invalid_card' : null;
  return (await page.choose(payment.id, { state, refusal }))?.isFirstChoice;
};
const expire = (payment: OpenedPayment) => gateway.expire?.(payment);
/** A payment that is paid and verified. */
const aPaid = async (): Promise<OpenedPayment> => {
  const payment = await open();
  await choose(payment, 'paid');
  await gateway.verify(payment);
  return payment;
};
const planned = async (payment: OpenedPayment, plan: object, amount = 500) => {
  const refund = aGatewayRefund(amount);
  await sql`
    with refund as (select ${refund.id} as id, ${payment.id} as payment_id, ${amount}::bigint as amount)
    ${insertPlannedRefund(sql, SandboxRefundPlan.parse(plan))}`;
  return refund;
};
const tell = async (payment: OpenedPayment, refund: GatewayRefund) =>
  gateway.refund?.(payment, refund);
const list = (payment: OpenedPayment) => gateway.refunds?.(payment, []);
/** As if the gateway had taken the refund on this much earlier. */
const wait = ({ id }: GatewayRefund, time: string) =>
  sql`update sandbox_refunds set accepted_at = accepted_at - ${time}::interval where refund_id = ${id}`;

const paid = {
  state: 'paid',
  amount: 1250,
  currency: 'EUR',
  trackingCode: expect.stringMatching(/^\d{12,}$/),
  cardPanMasked: '502229******1234',
};

describe('the sandbox gateway', () => {
  it('opens a payment once, with one reference and one page', async () => {
    const payment = aPayment();
    const [first, second] = [await gateway.open(payment), await gateway.open(payment)];
    expect(second).toEqual(first);
    expect(first).toMatchObject({
      redirect: { method: 'GET', url: `https://pay.example/api/v1/sandbox/${payment.id}` },
    });
    const openings = await Promise.all(Array.from({ length: 10 }, () => gateway.open(payment)));
    expect(new Set(openings.map((opening) => JSON.stringify(opening))).size).toBe(1);
    expect(await gateway.open(aPayment())).not.toMatchObject({
      reference: Reflect.get(first, 'reference'),
    });
  });

  it('confirms the amount of the opening, not that of the verification', async () => {
    const payment = await open();
    await choose(payment, 'paid');
    expect(await gateway.verify({ ...payment, amount: 1, currency: 'USD' })).toEqual(paid);
  });

  it('expires an open payment, which cannot be paid after it', async () => {
    const payment = await open();
    expect(await expire(payment)).toBe(true);
    expect(await choose(payment, 'paid')).toBe(false);
    expect(await gateway.verify(payment)).toEqual({ state: 'expired' });
    expect(await gateway.inquire(payment)).toEqual({ state: 'expired' });
  });

  it('does not expire a payment that is paid, verified, refused, cancelled or expired', async () => {
    const verified = await aPaid();
    const expired = await open();
    await expire(expired);
    const others = ['paid', 'refused', 'cancelled'] as const;
    const chosen = await Promise.all(
      others.map(async (state) => {
        const payment = await open();
        await choose(payment, state);
        return payment;
      }),
    );
    for (const payment of [verified, expired, ...chosen]) {
      const before = await gateway.inquire(payment);
      expect(await expire(payment)).toBe(false);
      expect(await gateway.inquire(payment)).toEqual(before);
    }
    expect(await expire({ ...expired, reference: 'SBXunknown' })).toBe(false);
  });

  it('either expires or is paid when both happen at once', async () => {
    for (let count = 0; count < 10; count += 1) {
      const payment = await open();
      const [expired, chosen] = await Promise.all([expire(payment), choose(payment, 'paid')]);
      expect(expired).toBe(!chosen);
      expect((await gateway.verify(payment)).state).toBe(chosen ? 'paid' : 'expired');
    }
  });
});

describe('a refund of the sandbox', () => {
  it.each([
    ['succeeded', 'succeeded', 'succeeded', null],
    ['pending', 'pending', 'succeeded', null],
    ['waiting_for_balance', 'waiting_for_balance', 'succeeded', null],
    ['failed', 'pending', 'failed', 'gateway_refused'],
    ['returned', 'succeeded', 'failed', 'returned_by_bank'],
  ])('carries out the plan %s: %s, then %s', async (outcome, first, then, failureCode) => {
    const payment = await aPaid();
    const refund = await planned(payment, { outcome, after_seconds: 60 });
    expect(await list(payment)).toEqual([]);
    const answer = await tell(payment, refund);
    const known = { refundId: refund.id, amount: 500, currency: 'EUR', state: first };
    expect(answer).toMatchObject({ result: 'accepted', refund: { ...known, failureCode: null } });
    expect(await list(payment)).toMatchObject([known]);
    await wait(refund, '61 seconds');
    expect(await list(payment)).toMatchObject([{ ...known, state: then, failureCode }]);
  });

  it.each([
    [{ outcome: 'refused' }, 'insufficient_balance'],
    [{ outcome: 'refused', failure_code: 'refund_window_over' }, 'refund_window_over'],
    [{ outcome: 'whole_only' }, 'not_refundable'],
  ])('refuses by the plan %j: %s', async (plan, failureCode) => {
    const payment = await aPaid();
    expect(await tell(payment, await planned(payment, plan))).toMatchObject({
      result: 'refused',
      failureCode,
    });
    expect(await list(payment)).toEqual([]);
  });

  it('gives back the whole amount where the plan allows nothing else', async () => {
    const payment = await aPaid();
    const refund = await planned(payment, { outcome: 'whole_only' }, 1_250);
    expect(await tell(payment, refund)).toMatchObject({ result: 'accepted' });
  });

  it.each([
    ['answer_lost', 1],
    ['request_lost', 0],
  ])('loses by the plan %s, and knows %i refund', async (outcome, count) => {
    const payment = await aPaid();
    const refund = await planned(payment, { outcome });
    await expect(tell(payment, refund)).rejects.toThrow(GatewayUnavailable);
    expect(await list(payment)).toHaveLength(count);
    expect(await tell(payment, refund)).toMatchObject({ result: 'accepted' });
    expect(await list(payment)).toHaveLength(1);
  });

  it('never gives back more than was paid, also with refunds of the dashboard', async () => {
    const payment = await aPaid();
    expect(await books.makeAtDashboard(payment.reference, 750)).toBe(true);
    const all = await Promise.all([1, 2, 3].map(() => tell(payment, aGatewayRefund(500))));
    const accepted = all.filter((answer) => answer?.result === 'accepted');
    expect([all.length, accepted.length]).toEqual([3, 1]);
    expect(await list(payment)).toMatchObject([
      { refundId: null, amount: 750 },
      { amount: 500, state: 'succeeded' },
    ]);
  });

  it('can give back again what failed', async () => {
    const payment = await aPaid();
    const refund = await planned(payment, { outcome: 'failed', after_seconds: 60 }, 1_250);
    await tell(payment, refund);
    expect(await tell(payment, aGatewayRefund(1))).toMatchObject({
      failureCode: 'already_refunded',
    });
    await wait(refund, '61 seconds');
    expect(await tell(payment, aGatewayRefund(1_250))).toMatchObject({ result: 'accepted' });
  });

  it('gives nothing back of a payment that is not paid', async () => {
    const payment = { ...(await aPaid()), reference: 'SBXunknown' };
    expect(await tell(payment, aGatewayRefund(1))).toMatchObject({ failureCode: 'not_refundable' });
    expect(await books.makeAtDashboard('SBXunknown', 1)).toBe(false);
  });

  it.each([
    [{ outcome: 'failed', failure_code: 'disputed' }, 'sandbox', []],
    [{ outcome: 'succeeded' }, 'stripe', ['sandbox_only']],
    [{ outcome: 'pending', failure_code: 'disputed' }, 'sandbox', ['exclusive']],
  ])('checks the plan %j at %s: %j', (plan, driver, rules) => {
    const problems = sandboxRefundPlanProblems(SandboxRefundPlan.parse(plan), { driver });
    expect(problems.map(({ rule }) => rule)).toEqual(rules);
  });
});
