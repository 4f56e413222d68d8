import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createLateActivities } from '../../../activities/late-payments.ts';
import { createBulkhead } from '../../../activities/bulkhead.ts';
import type { GatewayStatus, Reversal } from '../../../gateways/gateway.ts';
import { createGatewayExchanges } from '../../../postgres/gateway-exchanges.ts';
import { createLatePayments } from '../../../postgres/late-payments.ts';
import type { Scene } from '../../support/late-case.ts';
import { lateCase, startLateRecords } from '../../support/late-case.ts';
import type { Records } from '../../support/records.ts';
import {
  aGateway,
  confirmed,
  publicBaseUrl,
  readableLogger,
  silence,
} from '../../support/scripted-gateway.ts';
import { until } from '../../support/until.ts';

let records: Records;
beforeAll(async () => {
  records = await startLateRecords();
});
afterAll(() => records.drop());

const aLateCase = (scene: Scene) => lateCase(records, scene);

const reversed: Reversal = { result: 'reversed' };
const refused: Reversal = { result: 'refused', code: '-62', message: 'The address is not known' };
const gone: GatewayStatus = {
  state: 'failed',
  failureCode: 'payment_reversed',
  code: null,
  message: null,
};
const settling: GatewayStatus = { state: 'processing' };

describe('FS-16: money that came after the end of a payment', () => {
  it('is not there: nothing is written and nobody is alerted', async () => {
    for (const state of ['waiting', 'cancelled', 'expired'] as const) {
      const { look, audited, alerts } = await aLateCase({ inquire: [{ state }] });
      expect(await look()).toBe('over');
      expect([await audited(), alerts()]).toEqual([[], []]);
    }
  });

  it('alerts also where it is written down and that is never heard: who tries again finds it written', async () => {
    for (const inquire of [confirmed(), silence]) {
      const { look, alerts } = await aLateCase({ inquire: [inquire], answerIsLost: true });
      await expect(look({ last: inquire === silence })).rejects.toThrow('The connection is lost');
      expect(alerts()).toEqual(['late_payment']);
    }
  });

  it('is not verified at a two-step gateway, and goes back by itself', async () => {
    const { look, calls, audited, alerts, isUntouched } = await aLateCase({
      driver: 'zarinpal',
      inquire: [settling],
      reverse: [],
    });
    expect([await look(), await look()]).toEqual(['over', 'over']);
    expect(calls()).toEqual(['inquire']);
    expect([await audited(), alerts()]).toEqual([['returns'], ['late_payment']]);
    await isUntouched();
  });

  it('may be taken by a verification that was under way at the end: asked about for a day', async () => {
    const scene = { driver: 'payping', verified: 'processing' } as const;
    const came = await aLateCase({
      ...scene,
      inquire: [settling, confirmed(), gone],
      reverse: [reversed],
    });
    expect(await came.look()).toBe('again');
    expect([await came.audited(), came.alerts()]).toEqual([[], []]);
    expect(await came.look()).toBe('over');
    expect(await came.audited()).toEqual(['found', 'reversed']);

    const never = await aLateCase({ ...scene, inquire: [settling, settling] });
    expect(await never.look()).toBe('again');
    expect(await never.look({ last: true })).toBe('over');
    expect([await never.audited(), never.alerts()]).toEqual([['by_hand'], ['late_payment']]);
  });

  it('may be taken by it however often it was asked about since', async () => {
    const { look, payment } = await aLateCase({
      ...{ driver: 'payping', verified: 'processing' },
      inquire: Array.from({ length: 60 }, () => settling),
    });
    for (let times = 0; times < 60; times += 1) expect(await look()).toBe('again');
    expect(await createGatewayExchanges(records.sql).list(payment.id)).toMatchObject([
      { operation: 'verify', result: 'processing' },
      { operation: 'inquire', result: 'processing' },
    ]);
  });

  it('is reversed once where it was taken, then inquired, whoever asks again', async () => {
    const { look, calls, audited, alerts, isUntouched } = await aLateCase({
      inquire: [confirmed({ amount: 9 }), gone],
      reverse: [reversed],
    });
    expect(await look()).toBe('over');
    expect(await look()).toBe('over');
    expect(calls()).toEqual(['inquire', 'reverse', 'inquire']);
    expect([await audited(), alerts()]).toEqual([['found', 'reversed'], ['late_payment']]);
    await isUntouched();
  });

  it('is for people where the adapter cannot reverse, or is refused', async () => {
    const cannot = await aLateCase({ inquire: [confirmed()] });
    expect(await cannot.look()).toBe('over');
    const told = [
      await aLateCase({ inquire: [confirmed({ amount: 9 }), confirmed()], reverse: [refused] }),
      await aLateCase({ inquire: [confirmed(), silence], reverse: [refused] }),
      // One that does not show what became of it.
      await aLateCase({
        driver: 'payping',
        ...{ inquire: [confirmed(), confirmed()], reverse: [refused] },
      }),
    ];
    for (const { look } of told) expect(await look()).toBe('over');
    for (const { audited, alerts } of [cannot, ...told]) {
      expect(await audited()).toEqual(['found', 'by_hand']);
      expect(alerts()).toEqual(['late_payment', 'late_payment']);
    }
    const facts = { gateway: 'stripe', status: 'expired', amount: 1250, currency: 'EUR' };
    expect(await told[0]?.written()).toEqual([
      { ...facts, taken_amount: 9, taken_currency: 'EUR' },
      { ...facts, gateway_code: '-62', gateway_message: 'The address is not known' },
    ]);
  });

  it('is on its way at a gateway that captures by itself: asked again, for a day', async () => {
    const { look, audited } = await aLateCase({ inquire: [settling, settling] });
    expect(await look()).toBe('again');
    expect(await look({ last: true })).toBe('over');
    expect(await audited()).toEqual([]);
  });

  it('is asked about until the gateway answers; after a day people are', async () => {
    const { look, audited, alerts } = await aLateCase({ inquire: [silence, silence] });
    expect(await look()).toBe('again');
    expect([await audited(), alerts()]).toEqual([[], []]);
    expect(await look({ last: true })).toBe('over');
    expect([await audited(), alerts()]).toEqual([['by_hand'], ['late_payment']]);
  });

  it('is for people where it was taken and a day is over: nobody would see what a reversal did', async () => {
    const { look, calls, audited, alerts } = await aLateCase({
      inquire: [confirmed()],
      reverse: [],
    });
    expect(await look({ last: true })).toBe('over');
    expect(calls()).toEqual(['inquire']);
    expect([await audited(), alerts()]).toEqual([
      ['found', 'by_hand'],
      ['late_payment', 'late_payment'],
    ]);
  });

  it('is for people where it was found, and after a day is on its way again', async () => {
    const { look, audited } = await aLateCase({
      inquire: [confirmed(), settling, settling],
      reverse: [silence],
    });
    expect(await look()).toBe('again');
    expect(await look({ last: true })).toBe('over');
    expect(await audited()).toEqual(['found', 'by_hand']);
  });

  it('is looked for in a place at its gateway, from the first inquiry to the last', async () => {
    const { promise, resolve: answer } = Promise.withResolvers<Reversal>();
    const { look, takePlace, calls, audited } = await aLateCase({
      inquire: [confirmed(), gone],
      reverse: () => promise,
    });
    const held = takePlace();
    const busy = { type: 'GATEWAY_BUSY', nextRetryDelay: expect.any(Number), nonRetryable: false };
    await expect(look()).rejects.toMatchObject(busy);
    expect([calls(), await audited()]).toEqual([[], []]);

    if (held.entered) held.leave();
    const looked = look();
    await until('the gateway is told', () => calls().length === 2);
    expect(takePlace().entered).toBe(false);
    answer(reversed);
    expect(await looked).toBe('over');
    expect(takePlace().entered).toBe(true);
  });

  it('is not looked for where the payment is paid or open', async () => {
    const { resolveLatePayment } = createLateActivities({
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
      expect(await resolveLatePayment({ id, last: false })).toBe('over');
  });
});

describe('FS-21: a reversal whose answer was lost', () => {
  it('is inquired first: it went back, and nothing is told twice', async () => {
    const { look, calls, audited } = await aLateCase({
      inquire: [confirmed(), gone],
      reverse: [silence],
    });
    expect(await look()).toBe('over');
    expect(calls()).toEqual(['inquire', 'reverse', 'inquire']);
    expect(await audited()).toEqual(['found', 'reversed']);
  });

  it('went back as well where that is seen only later', async () => {
    const { look, calls, audited } = await aLateCase({
      inquire: [confirmed(), silence, gone],
      reverse: [silence],
    });
    expect([await look(), await look()]).toEqual(['again', 'over']);
    expect(calls()).toEqual(['inquire', 'reverse', 'inquire', 'inquire']);
    expect(await audited()).toEqual(['found', 'reversed']);
  });

  it('is told again only when an inquiry, a minute later, shows that it never arrived', async () => {
    const { look, calls, audited, minutesLater } = await aLateCase({
      inquire: [confirmed(), confirmed(), confirmed(), confirmed(), gone],
      reverse: [silence, reversed],
    });
    expect(await look()).toBe('again');
    // A run that comes while the first call may be under way, after a crash, asks only.
    minutesLater(0.75);
    expect(await look()).toBe('again');
    minutesLater(0.25);
    expect(await look()).toBe('over');
    expect(calls().filter((call) => call === 'reverse')).toHaveLength(2);
    expect(calls().slice(-3)).toEqual(['inquire', 'reverse', 'inquire']);
    expect(await audited()).toEqual(['found', 'reversed']);
  });

  it('is never told again where an inquiry does not show it: people look after it', async () => {
    const { look, calls, audited, minutesLater } = await aLateCase({
      driver: 'payping',
      inquire: [confirmed(), confirmed(), confirmed()],
      reverse: [silence],
    });
    expect(await look()).toBe('again');
    minutesLater(10);
    expect(await look()).toBe('over');
    expect(calls().filter((call) => call === 'reverse')).toHaveLength(1);
    expect(await audited()).toEqual(['found', 'by_hand']);
  });

  it('was not told at all where a worker was lost right after it was found: it is told then', async () => {
    const { payment, look, audited, alerts } = await aLateCase({
      driver: 'payping',
      ...{ inquire: [confirmed(), confirmed()], reverse: [reversed] },
    });
    const found = { result: null, facts: {}, now: new Date() };
    await createLatePayments(records.sql).record(payment.id, found);
    expect(await look()).toBe('over');
    expect([await audited(), alerts()]).toEqual([['found', 'reversed'], []]);
  });

  it('is done where the gateway said so and cannot show it', async () => {
    const { look, audited } = await aLateCase({
      driver: 'payping',
      inquire: [confirmed(), confirmed()],
      reverse: [reversed],
    });
    expect(await look()).toBe('over');
    expect(await audited()).toEqual(['found', 'reversed']);
  });

  it('is done where the gateway said so and is silent then, and for people where it shows otherwise', async () => {
    const silent = await aLateCase({ inquire: [confirmed(), silence], reverse: [reversed] });
    expect(await silent.look()).toBe('over');
    expect(await silent.audited()).toEqual(['found', 'reversed']);
    const other = await aLateCase({ inquire: [confirmed(), confirmed()], reverse: [reversed] });
    expect(await other.look()).toBe('over');
    expect(await other.audited()).toEqual(['found', 'by_hand']);
  });

  it('is for people after three that did not arrive', async () => {
    const { look, audited, minutesLater } = await aLateCase({
      inquire: Array.from({ length: 7 }, () => confirmed()),
      reverse: [silence, silence, silence],
    });
    for (let told = 0; told < 3; told += 1) {
      expect(await look()).toBe('again');
      minutesLater(1);
    }
    expect(await look()).toBe('over');
    expect(await audited()).toEqual(['found', 'by_hand']);
  });
});
