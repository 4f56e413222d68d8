import { describe, expect, it } from 'vitest';
import type { Deps } from '../../../activities/payment.ts';
import type { GatewayAdapter, GatewayStatus } from '../../../gateways/gateway.ts';
import { createGateways } from '../../../postgres/gateways.ts';
import { startRecords } from '../../support/data/records.ts';
import { confirmed, inTurn, silence, withGateway } from '../../support/service/scripted-gateway.ts';
import { forFile } from '../../support/for-file.ts';

const records = await forFile(startRecords({ gatewayKind: 'live' }));
/** One step, with `expire`; two steps, without it. */
for (const driver of ['stripe', 'zarinpal'])
  await createGateways(records.sql).insert({
    slug: driver,
    driver,
    kind: 'live',
    credentials: null,
  });

const request = { by: 'application' } as const;
const waiting: GatewayStatus = { state: 'waiting' };
const recordOf = async (id: string) => {
  const payment = await records.paymentOutcomes.get(id);
  const events = await records.listEvents(id);
  return [payment?.status, payment?.cancelledBy, events.length];
};

interface Case {
  driver?: 'stripe' | 'zarinpal';
  verify: (GatewayStatus | typeof silence)[];
  expire?: GatewayAdapter['expire'];
  deps?: Partial<Deps>;
}
/** Cancels a payment whose payer was sent. */
const cancel = async ({ driver = 'stripe', verify, expire, deps }: Case) => {
  const { id } = await records.sent({ gateway: driver });
  const gateway = withGateway(
    records,
    { verify: inTurn<GatewayStatus>(...verify), ...(expire && { expire }) },
    deps,
  );
  const result = await gateway.cancelPayment({ id, ...request });
  return { id, result, ...gateway };
};

describe('cancelPayment', () => {
  it('ends a payment whose payer was not sent, without a question to the gateway', async () => {
    const { id } = await records.opened();
    for (const reason of ['Another reason', 'Out of stock'])
      await records.payments.recordCancelReason(id, reason);
    const { cancelPayment, calls } = withGateway(records, {});
    expect(await cancelPayment({ id, ...request })).toEqual({ kind: 'ended', status: 'cancelled' });
    expect(calls()).toEqual([]);
    const [event] = await records.listEvents(id);
    expect(JSON.parse(event?.body.toString() ?? '')).toMatchObject({
      event: 'payment.cancelled',
      cancelled_by: 'application',
    });
    expect(await records.paymentOutcomes.get(id)).toMatchObject({
      cancellationReason: 'Out of stock',
      failureCode: null,
    });
  });

  it('takes no reason of an application for the cancel of an admin, or for one without a reason', async () => {
    const { id } = await records.opened();
    await records.payments.recordCancelReason(id, 'Out of stock');
    await withGateway(records, {}).cancelPayment({ id, by: 'admin' });
    const { id: other } = await records.opened();
    for (const reason of ['Out of stock', null])
      await records.payments.recordCancelReason(other, reason);
    await withGateway(records, {}).cancelPayment({ id: other, ...request });
    for (const each of [id, other])
      expect(await records.paymentOutcomes.get(each)).toMatchObject({
        status: 'cancelled',
        cancellationReason: null,
      });
    await records.payments.recordCancelReason(id, 'Too late');
    const rows = await records.sql`select from payments where cancel_request_reason = 'Too late'`;
    expect(rows).toHaveLength(0);
  });

  it.each<[string, Case, object, (string | null | undefined | number)[], string[]]>([
    [
      'closes what nobody has paid',
      { verify: [waiting], expire: async () => true },
      { kind: 'ended', status: 'cancelled' },
      ['cancelled', 'application', 1],
      ['verify', 'expire'],
    ],
    [
      'lets paid win',
      { verify: [confirmed()], expire: async () => true },
      { kind: 'ended', status: 'paid' },
      ['paid', null, 1],
      ['verify'],
    ],
    [
      'leaves money that is on its way',
      { verify: [{ state: 'processing' }], expire: async () => true },
      { kind: 'processing' },
      ['processing', null, 0],
      ['verify'],
    ],
    [
      'changes nothing when the gateway is silent',
      { verify: [silence] },
      { kind: 'unknown' },
      ['pending', null, 0],
      ['verify'],
    ],
    [
      'finds a payment that was paid before it was closed',
      { verify: [waiting, confirmed()], expire: async () => false },
      { kind: 'ended', status: 'paid' },
      ['paid', null, 1],
      ['verify', 'expire', 'verify'],
    ],
    [
      'ends a payment whose answer to the close was lost',
      { verify: [waiting, { state: 'expired' }], expire: silence },
      { kind: 'ended', status: 'cancelled' },
      ['cancelled', 'application', 1],
      ['verify', 'expire', 'verify'],
    ],
    [
      'knows nothing while the gateway neither closes nor ends the payment',
      { verify: [waiting, waiting], expire: async () => false },
      { kind: 'unknown' },
      ['pending', null, 0],
      ['verify', 'expire', 'verify'],
    ],
    [
      'knows nothing after a close whose answer was lost',
      { verify: [waiting, silence], expire: silence },
      { kind: 'unknown' },
      ['pending', null, 0],
      ['verify', 'expire', 'verify'],
    ],
    [
      'ends a payment at a two-step gateway, which returns what is not verified',
      { driver: 'zarinpal', verify: [waiting] },
      { kind: 'ended', status: 'cancelled' },
      ['cancelled', 'application', 1],
      ['verify'],
    ],
    [
      'leaves a payment that a one-step gateway cannot close',
      { verify: [waiting] },
      { kind: 'waiting' },
      ['pending', null, 0],
      ['verify'],
    ],
    [
      'takes the outcome that the gateway gives',
      { verify: [{ state: 'failed', failureCode: 'card_declined', code: null, message: null }] },
      { kind: 'ended', status: 'failed' },
      ['failed', null, 1],
      ['verify'],
    ],
    [
      'names the payer who cancelled first',
      { verify: [{ state: 'cancelled' }] },
      { kind: 'ended', status: 'cancelled' },
      ['cancelled', 'payer', 1],
      ['verify'],
    ],
  ])('%s', async (_, given, result, record, asked) => {
    const cancelled = await cancel(given);
    expect(cancelled.result).toEqual(result);
    expect(await recordOf(cancelled.id)).toEqual(record);
    expect(cancelled.calls()).toEqual(asked);
  });

  it('asks the gateway in a retry although no checkout is recorded', async () => {
    const { id } = await records.opened();
    const { cancelPayment } = withGateway(
      records,
      { verify: async () => confirmed() },
      { isRetry: () => true },
    );
    expect(await cancelPayment({ id, ...request })).toEqual({ kind: 'ended', status: 'paid' });
  });

  it('looks for late money when a try that broke off may have captured some', async () => {
    const { id } = await records.ended('cancelled');
    const { cancelPayment, late } = withGateway(records, {}, { isRetry: () => true });
    expect(await cancelPayment({ id, ...request })).toMatchObject({ status: 'cancelled' });
    expect(late).toEqual([id]);
  });
});
