import { describe, expect, it, onTestFinished } from 'vitest';
import { createBulkhead } from '../../../activities/bulkhead.ts';
import type { GatewayStatus, Reversal } from '../../../gateways/gateway.ts';
import { createGatewayExchanges } from '../../../postgres/gateways/exchanges.ts';
import {
  lateActivities,
  lateCase,
  startLateRecords,
  type LateCase,
} from '../../support/data/late-payment-cases.ts';
import { aGateway, confirmed, silence } from '../../support/service/scripted-gateway.ts';
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

/**
 * The tries in turn: what each returns, and what it adds to the audit log. `last` begins the try that nobody repeats; a
 * number is the minutes until the next one.
 */
type Tries = (string | number)[];
/** It does not show reversals. */
const blind = { driver: 'payping' } as const;
/** Its verification may still capture the money. */
const uncertain = { driver: 'payping', verified: 'processing' } as const;
const paid = confirmed();
const rows: [string, LateCase, Tries][] = [
  ['records nothing where nobody pays', { inquire: [{ state: 'waiting' }] }, ['done']],
  ['records nothing where it was cancelled', { inquire: [{ state: 'cancelled' }] }, ['done']],
  ['records nothing where it expired', { inquire: [{ state: 'expired' }] }, ['done']],
  [
    'verifies nothing at a two-step gateway, which returns the money by itself',
    { driver: 'zarinpal', inquire: [settling], reverse: [] },
    ['done: returns', 'done'],
  ],
  [
    'counts money as reversed only when the gateway has carried the reversal out',
    { inquire: [paid, settling, settling, gone], reverse: [{ result: 'pending' }] },
    ['retry: found', 'retry', 'done: reversed'],
  ],
  [
    'asks on while a verification of a two-step gateway may capture the money, which then comes',
    { ...uncertain, inquire: [settling, paid, gone], reverse: [reversed] },
    ['retry', 'done: found, reversed'],
  ],
  [
    'asks on while such a verification may, and leaves it to people after a day',
    { ...uncertain, inquire: [settling, settling] },
    ['retry', 'last done: by_hand'],
  ],
  [
    'reverses captured money once, then inquires',
    { inquire: [confirmed({ amount: 9 }), gone], reverse: [reversed] },
    ['done: found, reversed', 'done'],
  ],
  ['leaves money to people that it cannot reverse', { inquire: [paid] }, ['done: found, by_hand']],
  [
    'leaves money to people that the gateway refuses to reverse',
    { inquire: [paid, paid], reverse: [refused] },
    ['done: found, by_hand'],
  ],
  [
    'leaves it to people also if the gateway is silent after the refusal',
    { inquire: [paid, silence], reverse: [refused] },
    ['done: found, by_hand'],
  ],
  [
    'leaves it to people also if the gateway does not show reversals',
    { ...blind, inquire: [paid, paid], reverse: [refused] },
    ['done: found, by_hand'],
  ],
  [
    'asks for a day while money is on its way at a gateway that captures by itself',
    { inquire: [settling, settling] },
    ['retry', 'last done'],
  ],
  [
    'asks a silent gateway for a day, and then leaves it to people',
    { inquire: [silence, silence] },
    ['retry', 'last done: by_hand'],
  ],
  [
    'does not reverse at the last try, since nobody would inquire what became of it',
    { inquire: [paid], reverse: [] },
    ['last done: found, by_hand'],
  ],
  [
    'leaves found money to people if it is on its way again after a day',
    { inquire: [paid, settling, settling], reverse: [silence] },
    ['retry: found', 'last done: by_hand'],
  ],
  [
    'does not repeat a reversal whose answer was lost, if an inquiry shows that it worked',
    { inquire: [paid, gone], reverse: [silence] },
    ['done: found, reversed'],
  ],
  [
    'does not repeat it if a later inquiry shows that',
    { inquire: [paid, silence, gone], reverse: [silence] },
    ['retry: found', 'done: reversed'],
  ],
  [
    // The first call may still be running after a crash, so the second try only inquires.
    'repeats it only if an inquiry a minute later shows that it did not arrive',
    { inquire: [paid, paid, paid, paid, gone], reverse: [silence, reversed] },
    ['retry: found', 0.75, 'retry', 0.25, 'done: reversed'],
  ],
  [
    'never repeats it if inquiries do not show reversals, and leaves it to people',
    { ...blind, inquire: [paid, paid, paid], reverse: [silence] },
    ['retry: found', 10, 'done: by_hand'],
  ],
  [
    'counts it as done if the gateway confirmed it and cannot show it',
    { ...blind, inquire: [paid, paid], reverse: [reversed] },
    ['done: found, reversed'],
  ],
  [
    'counts it as done if the gateway confirmed it and is silent then',
    { inquire: [paid, silence], reverse: [reversed] },
    ['done: found, reversed'],
  ],
  [
    'does not count it as done if the gateway confirmed it and shows otherwise',
    { inquire: [paid, paid], reverse: [reversed] },
    ['done: found, by_hand'],
  ],
  [
    'leaves it to people after three reversals that did not arrive',
    { inquire: [paid, paid, paid, paid, paid, paid, paid], reverse: [silence, silence, silence] },
    ['retry: found', 1, 'retry', 1, 'retry', 1, 'done: by_hand'],
  ],
];

describe('resolveLatePayment', () => {
  it.each(rows)('%s', async (_, given, tries) => {
    const late = await aLateCase(given);
    const played: Tries = [];
    let known = 0;
    for (const expected of tries) {
      if (typeof expected === 'number') {
        late.minutesLater(expected);
        played.push(expected);
        continue;
      }
      const last = expected.startsWith('last ');
      const result = await late.resolve({ last });
      const all = await late.audited();
      const added = all.slice(known).join(', ');
      known = all.length;
      played.push(`${last ? 'last ' : ''}${result}${added && `: ${added}`}`);
    }
    expect(played).toEqual(tries);
    // It asks as often as the script answers, before and after each reversal.
    const calls = late.calls();
    const reversals = calls.filter((call) => call === 'reverse').length;
    expect([calls.length - reversals, reversals]).toEqual([
      given.inquire.length,
      given.reverse?.length ?? 0,
    ]);
    expect(calls.join()).toMatch(/^inquire(,reverse,inquire|,inquire)*$/);
    // One for each entry but the good one.
    const alerting = (await late.audited()).filter((action) => action !== 'reversed');
    expect(late.alerts()).toEqual(alerting.map(() => 'late_payment'));
    await late.isUnchanged();
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

  it('keeps the last of equal inquiries alone, so that they never evict that verification', async () => {
    const { resolve, payment } = await aLateCase({
      driver: 'payping',
      verified: 'processing',
      inquire: [settling, settling],
    });
    for (let times = 0; times < 2; times += 1) expect(await resolve()).toBe('retry');
    expect(await createGatewayExchanges(records.sql).list(payment.id)).toMatchObject([
      { operation: 'verify', result: 'processing' },
      { operation: 'inquire', result: 'processing' },
    ]);
  });

  it('records for people what was taken, and what the gateway said', async () => {
    const late = await aLateCase({
      inquire: [confirmed({ amount: 9 }), confirmed()],
      reverse: [refused],
    });
    expect(await late.resolve()).toBe('done');
    const shared = { gateway: 'stripe', status: 'expired', amount: 1250, currency: 'EUR' };
    expect(await late.auditedFacts()).toEqual([
      { ...shared, taken_amount: 9, taken_currency: 'EUR' },
      { ...shared, gateway_code: '-62', gateway_message: 'The address is not known' },
    ]);
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

    if (held.acquired) held.free();
    const resolving = resolve();
    await until('the reversal is sent', () => calls().length === 2);
    expect(acquireSlot().acquired).toBe(false);
    answer(reversed);
    expect(await resolving).toBe('done');
    expect(acquireSlot().acquired).toBe(true);
  });

  it('does nothing for a payment that is paid or open', async () => {
    const { resolveLatePayment } = lateActivities(records, {
      gatewayOf: aGateway({}).gatewayOf,
      gatewayBulkhead: createBulkhead({ perOwner: 0 }),
    });
    for (const { id } of [await records.ended('paid'), await records.sent()])
      expect(await resolveLatePayment({ id, last: false })).toBe('done');
  });
});
