import { describe, expect, it, onTestFinished } from 'vitest';
import { createLatePaymentActivities } from '../../../activities/late-payments.ts';
import { createBulkhead } from '../../../activities/bulkhead.ts';
import type { GatewayStatus, Reversal } from '../../../gateways/gateway.ts';
import { createGatewayExchanges } from '../../../postgres/gateway-exchanges.ts';
import { createLatePayments } from '../../../postgres/late-payments.ts';
import {
  lateCase,
  startLateRecords,
  type LateCase,
} from '../../support/data/late-payment-cases.ts';
import {
  aGateway,
  confirmed,
  publicBaseUrl,
  readableLogger,
  silence,
} from '../../support/service/scripted-gateway.ts';
import { until } from '../../support/until.ts';
import { forFile } from '../../support/for-file.ts';

const records = await forFile(startLateRecords());

const aLateCase = (given: LateCase) => lateCase(records, given);

const reversed: Reversal = { result: 'reversed' };
const refused: Reversal = { result: 'refused', code: '-62', message: 'The address is not known' };
const gone: GatewayStatus = {
  state: 'failed',
  failureCode: 'payment_reversed',
  code: null,
  message: null,
};
const settling: GatewayStatus = { state: 'processing' };

describe('resolveLatePayment', () => {
  it('records nothing and alerts nobody if no money came', async () => {
    for (const state of ['waiting', 'cancelled', 'expired'] as const) {
      const { resolve, audited, alerts } = await aLateCase({ inquire: [{ state }] });
      expect(await resolve()).toBe('done');
      expect([await audited(), alerts()]).toEqual([[], []]);
    }
  });

  it('alerts nobody and grows no audit log for money of a sandbox account', async () => {
    const { resolve, payment, audited, alerts } = await aLateCase({
      inquire: [silence],
    });
    const setKind = (kind: string) => records.sql`
      update gateways set kind = ${kind} where slug = ${payment.gateway}`;
    await setKind('sandbox');
    onTestFinished(async () => {
      await setKind('live');
    });
    expect(await resolve({ last: true })).toBe('done');
    expect([await audited(), alerts()]).toEqual([[], []]);
    const [row] = await records.sql`
      select result from late_payments where payment_id = ${payment.id}`;
    expect(row).toEqual({ result: 'by_hand' });
  });

  it('alerts also if the answer to storing the record is lost', async () => {
    for (const inquire of [confirmed(), silence]) {
      const { resolve, alerts } = await aLateCase({ inquire: [inquire], answerIsLost: true });
      await expect(resolve({ last: inquire === silence })).rejects.toThrow(
        'The connection is lost',
      );
      expect(alerts()).toEqual(['late_payment']);
    }
  });

  it('does not verify at a two-step gateway, which returns the money by itself', async () => {
    const { resolve, calls, audited, alerts, isUnchanged } = await aLateCase({
      driver: 'zarinpal',
      inquire: [settling],
      reverse: [],
    });
    expect([await resolve(), await resolve()]).toEqual(['done', 'done']);
    expect(calls()).toEqual(['inquire']);
    expect([await audited(), alerts()]).toEqual([['returns'], ['late_payment']]);
    await isUnchanged();
  });

  it('counts money as reversed only when the gateway has carried the reversal out', async () => {
    const late = await aLateCase({
      driver: 'stripe',
      inquire: [confirmed(), settling, settling, gone],
      reverse: [{ result: 'pending' }],
    });
    expect([await late.resolve(), await late.resolve()]).toEqual(['retry', 'retry']);
    expect(await late.audited()).toEqual(['found']);
    expect(await late.resolve()).toBe('done');
    expect(await late.audited()).toEqual(['found', 'reversed']);
    expect(late.calls()).toEqual(['inquire', 'reverse', 'inquire', 'inquire', 'inquire']);
  });

  it('reverses money that was captured after the gateway had said that it returns it', async () => {
    const late = await aLateCase({
      driver: 'payping',
      inquire: [settling, confirmed(), gone],
      reverse: [reversed],
    });
    expect(await late.resolve()).toBe('done');
    expect([await late.audited(), late.alerts()]).toEqual([['returns'], ['late_payment']]);
    await late.verifiedAs('paid');
    expect([await late.resolve(), await late.resolve()]).toEqual(['done', 'done']);
    expect(late.calls()).toEqual(['inquire', 'inquire', 'reverse', 'inquire']);
    expect(await late.audited()).toEqual(['returns', 'found', 'reversed']);
    expect(late.alerts()).toEqual(['late_payment', 'late_payment']);
  });

  it('asks for a day while a verification of a two-step gateway may still capture the money', async () => {
    const scene = { driver: 'payping', verified: 'processing' } as const;
    const came = await aLateCase({
      ...scene,
      inquire: [settling, confirmed(), gone],
      reverse: [reversed],
    });
    expect(await came.resolve()).toBe('retry');
    expect([await came.audited(), came.alerts()]).toEqual([[], []]);
    expect(await came.resolve()).toBe('done');
    expect(await came.audited()).toEqual(['found', 'reversed']);

    const never = await aLateCase({ ...scene, inquire: [settling, settling] });
    expect(await never.resolve()).toBe('retry');
    expect(await never.resolve({ last: true })).toBe('done');
    expect([await never.audited(), never.alerts()]).toEqual([['by_hand'], ['late_payment']]);
  });

  it('keeps that verification however many inquiries follow', async () => {
    const { resolve, payment } = await aLateCase({
      driver: 'payping',
      verified: 'processing',
      inquire: Array.from({ length: 60 }, () => settling),
    });
    for (let times = 0; times < 60; times += 1) expect(await resolve()).toBe('retry');
    expect(await createGatewayExchanges(records.sql).list(payment.id)).toMatchObject([
      { operation: 'verify', result: 'processing' },
      { operation: 'inquire', result: 'processing' },
    ]);
  });

  it('reverses captured money once, then inquires', async () => {
    const { resolve, calls, audited, alerts, isUnchanged } = await aLateCase({
      inquire: [confirmed({ amount: 9 }), gone],
      reverse: [reversed],
    });
    expect(await resolve()).toBe('done');
    expect(await resolve()).toBe('done');
    expect(calls()).toEqual(['inquire', 'reverse', 'inquire']);
    expect([await audited(), alerts()]).toEqual([['found', 'reversed'], ['late_payment']]);
    await isUnchanged();
  });

  it('leaves captured money to people if the gateway cannot reverse it or refuses to', async () => {
    const cannot = await aLateCase({ inquire: [confirmed()] });
    expect(await cannot.resolve()).toBe('done');
    const refusing = [
      await aLateCase({ inquire: [confirmed({ amount: 9 }), confirmed()], reverse: [refused] }),
      await aLateCase({ inquire: [confirmed(), silence], reverse: [refused] }),
      // A driver that does not show reversals.
      await aLateCase({
        driver: 'payping',
        inquire: [confirmed(), confirmed()],
        reverse: [refused],
      }),
    ];
    for (const { resolve } of refusing) expect(await resolve()).toBe('done');
    for (const { audited, alerts } of [cannot, ...refusing]) {
      expect(await audited()).toEqual(['found', 'by_hand']);
      expect(alerts()).toEqual(['late_payment', 'late_payment']);
    }
    const facts = { gateway: 'stripe', status: 'expired', amount: 1250, currency: 'EUR' };
    expect(await refusing[0]?.auditedFacts()).toEqual([
      { ...facts, taken_amount: 9, taken_currency: 'EUR' },
      { ...facts, gateway_code: '-62', gateway_message: 'The address is not known' },
    ]);
  });

  it('asks for a day while the money is on its way at a gateway that captures by itself', async () => {
    const { resolve, audited } = await aLateCase({ inquire: [settling, settling] });
    expect(await resolve()).toBe('retry');
    expect(await resolve({ last: true })).toBe('done');
    expect(await audited()).toEqual([]);
  });

  it('asks for a day if the gateway does not answer, and then leaves it to people', async () => {
    const { resolve, audited, alerts } = await aLateCase({ inquire: [silence, silence] });
    expect(await resolve()).toBe('retry');
    expect([await audited(), alerts()]).toEqual([[], []]);
    expect(await resolve({ last: true })).toBe('done');
    expect([await audited(), alerts()]).toEqual([['by_hand'], ['late_payment']]);
  });

  it('does not reverse at the last try, since nobody would inquire what became of it', async () => {
    const { resolve, calls, audited, alerts } = await aLateCase({
      inquire: [confirmed()],
      reverse: [],
    });
    expect(await resolve({ last: true })).toBe('done');
    expect(calls()).toEqual(['inquire']);
    expect([await audited(), alerts()]).toEqual([
      ['found', 'by_hand'],
      ['late_payment', 'late_payment'],
    ]);
  });

  it('leaves found money to people if it is on its way again after a day', async () => {
    const { resolve, audited } = await aLateCase({
      inquire: [confirmed(), settling, settling],
      reverse: [silence],
    });
    expect(await resolve()).toBe('retry');
    expect(await resolve({ last: true })).toBe('done');
    expect(await audited()).toEqual(['found', 'by_hand']);
  });

  it('keeps the number by which disputes of the money are found, also once it has gone back', async () => {
    const { resolve, payment } = await aLateCase({ inquire: [{ ...gone, trackingCode: 'pi_9' }] });
    await resolve();
    const found = await records.paymentOutcomes.get(payment.id);
    expect(found?.trackingCode).toBe('pi_9');
  });

  it('holds one slot of the gateway from the first inquiry to the last', async () => {
    const { promise, resolve: answer } = Promise.withResolvers<Reversal>();
    const { resolve, acquireSlot, calls, audited } = await aLateCase({
      inquire: [confirmed(), gone],
      reverse: () => promise,
    });
    const held = acquireSlot();
    const busy = { type: 'GatewayBusy', nextRetryDelay: expect.any(Number), nonRetryable: false };
    await expect(resolve()).rejects.toMatchObject(busy);
    expect([calls(), await audited()]).toEqual([[], []]);

    if (held.acquired) held.release();
    const resolving = resolve();
    await until('the reversal is sent', () => calls().length === 2);
    expect(acquireSlot().acquired).toBe(false);
    answer(reversed);
    expect(await resolving).toBe('done');
    expect(acquireSlot().acquired).toBe(true);
  });

  it('does nothing for a payment that is paid or open', async () => {
    const { resolveLatePayment } = createLatePaymentActivities({
      paymentOutcomes: records.paymentOutcomes,
      latePayments: createLatePayments(records.sql),
      gatewayExchanges: createGatewayExchanges(records.sql),
      gatewayOf: aGateway({}).gatewayOf,
      gatewayBulkhead: createBulkhead({ perOwner: 0 }),
      publicBaseUrl,
      now: () => new Date(),
      logger: readableLogger().logger,
    });
    for (const { id } of [await records.ended('paid'), await records.sent()])
      expect(await resolveLatePayment({ id, last: false })).toBe('done');
  });
});

describe('a reversal whose answer was lost', () => {
  it('is not repeated if an inquiry shows that it worked', async () => {
    const { resolve, calls, audited } = await aLateCase({
      inquire: [confirmed(), gone],
      reverse: [silence],
    });
    expect(await resolve()).toBe('done');
    expect(calls()).toEqual(['inquire', 'reverse', 'inquire']);
    expect(await audited()).toEqual(['found', 'reversed']);
  });

  it('is not repeated if a later inquiry shows that it worked', async () => {
    const { resolve, calls, audited } = await aLateCase({
      inquire: [confirmed(), silence, gone],
      reverse: [silence],
    });
    expect([await resolve(), await resolve()]).toEqual(['retry', 'done']);
    expect(calls()).toEqual(['inquire', 'reverse', 'inquire', 'inquire']);
    expect(await audited()).toEqual(['found', 'reversed']);
  });

  it('is repeated only if an inquiry a minute later shows that it did not arrive', async () => {
    const { resolve, calls, audited, minutesLater } = await aLateCase({
      inquire: [confirmed(), confirmed(), confirmed(), confirmed(), gone],
      reverse: [silence, reversed],
    });
    expect(await resolve()).toBe('retry');
    // The first call may still be running after a crash, so this try only inquires.
    minutesLater(0.75);
    expect(await resolve()).toBe('retry');
    minutesLater(0.25);
    expect(await resolve()).toBe('done');
    expect(calls().filter((call) => call === 'reverse')).toHaveLength(2);
    expect(calls().slice(-3)).toEqual(['inquire', 'reverse', 'inquire']);
    expect(await audited()).toEqual(['found', 'reversed']);
  });

  it('is never repeated if inquiries do not show reversals, and is left to people', async () => {
    const { resolve, calls, audited, minutesLater } = await aLateCase({
      driver: 'payping',
      inquire: [confirmed(), confirmed(), confirmed()],
      reverse: [silence],
    });
    expect(await resolve()).toBe('retry');
    minutesLater(10);
    expect(await resolve()).toBe('done');
    expect(calls().filter((call) => call === 'reverse')).toHaveLength(1);
    expect(await audited()).toEqual(['found', 'by_hand']);
  });

  it('is sent by the next try if the worker was lost before it', async () => {
    const { payment, resolve, audited, alerts } = await aLateCase({
      driver: 'payping',
      inquire: [confirmed(), confirmed()],
      reverse: [reversed],
    });
    const found = { result: null, facts: {}, now: new Date() };
    await createLatePayments(records.sql).record(payment.id, found);
    expect(await resolve()).toBe('done');
    expect([await audited(), alerts()]).toEqual([['found', 'reversed'], []]);
  });

  it('counts as done if the gateway confirmed it and cannot show it', async () => {
    const { resolve, audited } = await aLateCase({
      driver: 'payping',
      inquire: [confirmed(), confirmed()],
      reverse: [reversed],
    });
    expect(await resolve()).toBe('done');
    expect(await audited()).toEqual(['found', 'reversed']);
  });

  it('counts as done if the gateway confirmed it and then does not answer, but not if it shows otherwise', async () => {
    const silent = await aLateCase({ inquire: [confirmed(), silence], reverse: [reversed] });
    expect(await silent.resolve()).toBe('done');
    expect(await silent.audited()).toEqual(['found', 'reversed']);
    const other = await aLateCase({ inquire: [confirmed(), confirmed()], reverse: [reversed] });
    expect(await other.resolve()).toBe('done');
    expect(await other.audited()).toEqual(['found', 'by_hand']);
  });

  it('is left to people after three reversals that did not arrive', async () => {
    const { resolve, audited, minutesLater } = await aLateCase({
      inquire: Array.from({ length: 7 }, () => confirmed()),
      reverse: [silence, silence, silence],
    });
    for (let sent = 0; sent < 3; sent += 1) {
      expect(await resolve()).toBe('retry');
      minutesLater(1);
    }
    expect(await resolve()).toBe('done');
    expect(await audited()).toEqual(['found', 'by_hand']);
  });
});
