import { describe, expect, it } from 'vitest';
import { notifyOfPaymentHandler, type Deps } from '../../../../api/gateways/notifications.ts';
import type { AnyRequest } from '../../../../api/http/route.ts';
import type { GatewayKind } from '../../../../contract/gateway-account.ts';
import { newPaymentId, refundId } from '../../../../contract/ids.ts';
import type { Notification } from '../../../../gateways/gateway.ts';
import type { PaymentRef } from '../../../../postgres/payments/payments.ts';
import { createApiMetrics, createRegistry } from '../../../../telemetry/metrics.ts';
import { aPayment } from '../../../support/data/payments.ts';

interface Options {
  kind?: GatewayKind;
  /** The payment with the notification's reference. */
  known?: Partial<PaymentRef>;
  /** The payment of the refund that it names. */
  refundOf?: string;
}

/** A signed notification. @returns what the handler did */
const notified = async (
  notification: Notification,
  { kind = 'live', known, refundOf }: Options = {},
) => {
  const calls: string[] = [];
  const registry = createRegistry();
  const deps: Deps = {
    gateways: {
      getNotificationAccount: async (gateway) => ({
        gateway,
        driver: 'stripe',
        gatewayKind: kind,
        notificationSecrets: null,
      }),
    },
    payments: {
      getByReference: async () => known && { ...aPayment(), payerSent: true, ...known },
      getByTrackingCode: async () => known && { ...aPayment(), payerSent: true, ...known },
      recordLostCheckout: async () => void calls.push('record the checkout'),
    },
    refunds: { getPaymentId: async () => refundOf },
    disputes: { requestLook: async (id) => void calls.push(`look at ${id}`) },
    workflows: {
      recheck: async ({ refundId: refund }, { unlessEnded = false } = {}) =>
        void calls.push(
          refund ? `recheck ${refund}` : unlessEnded ? 'recheck unless ended' : 'recheck',
        ),
      recheckLatePayment: async () => void calls.push('search'),
    },
    readNotification: () => notification,
    unverified: { hit: () => undefined, isAtLimit: () => false },
    metrics: createApiMetrics(registry),
    now: () => new Date(),
    logger: {
      info() {},
      warn: () => void calls.push('warn'),
      error: ({ alert }: { alert: string }) => void calls.push(alert),
    },
  };
  const request: Pick<AnyRequest, 'params' | 'address' | 'header' | 'readBytes'> = {
    params: { gateway: 'stripe' },
    address: '192.0.2.1',
    header: () => undefined,
    readBytes: async () => Buffer.alloc(0),
  };
  // The fields that the handler reads.
  const { status } = await notifyOfPaymentHandler(deps)(request as AnyRequest);
  expect(status).toBe(200);
  const { values } = await registry.getSingleMetric('payments_alerts_total')!.get();
  return {
    calls,
    alerts: values.filter(({ value }) => value > 0).map(({ labels }) => labels.alert),
  };
};

const about = (result: 'changed' | 'closed', paymentId: string | null = null): Notification => ({
  result,
  reference: 'cs_live_1',
  paymentId,
});

describe('a notification', () => {
  it.each<[string, Notification, Partial<PaymentRef>, string[]]>([
    ['news of an open payment', about('changed'), {}, ['recheck']],
    ['that an open payment is closed', about('closed'), {}, ['recheck unless ended']],
    ['news of an ended payment', about('changed'), { status: 'expired' }, ['search']],
    ['that an ended payment is closed', about('closed'), { status: 'expired' }, []],
    ['news of a paid payment', about('changed'), { status: 'paid' }, []],
    [
      'news of an open payment without a recorded checkout',
      about('changed'),
      { payerSent: false },
      ['record the checkout', 'recheck'],
    ],
    [
      'news of an ended payment without a recorded checkout',
      about('changed'),
      { payerSent: false, status: 'expired' },
      ['record the checkout', 'search'],
    ],
  ])('a notification with %s has this effect: %j %j', async (_, notification, known, expected) => {
    expect((await notified(notification, { known })).calls).toEqual(expected);
  });

  it.each([
    ['of ours', 'REFUND_1ABCDEFGHJKMNPQRSTVWXYZ012', 'REFUND_1ABCDEFGHJKMNPQRSTVWXYZ012'],
    ['that was made in the dashboard', null, refundId(['sandbox', 're_1'])],
    ['that names something else', 'order-1', refundId(['sandbox', 're_1'])],
  ])('news of a refund %s reaches its workflow', async (_, named, expected) => {
    const notification = {
      result: 'refund_changed',
      trackingCode: 'pi_1',
      refundId: named,
      reference: 're_1',
    } as const;
    const known = { id: newPaymentId(), status: 'paid' } as const;
    const { calls } = await notified(notification, { known, refundOf: known.id });
    expect(calls).toEqual([`recheck ${expected}`]);
    expect((await notified(notification, { known })).calls).toEqual(calls);
    expect((await notified(notification)).calls).toEqual([]);
    const ofAnother = await notified(notification, { known, refundOf: newPaymentId() });
    expect(ofAnother.calls).toEqual([`recheck ${refundId(['sandbox', 're_1'])}`]);
  });

  it('news of a dispute has the sweeper look at it, and starts nothing', async () => {
    const notification = { result: 'dispute_changed', trackingCode: 'pi_1' } as const;
    const known = { id: newPaymentId(), status: 'paid' } as const;
    expect((await notified(notification, { known })).calls).toEqual([`look at ${known.id}`]);
  });

  it('alerts when a dispute is of money that no payment has', async () => {
    const notification = { result: 'dispute_changed', trackingCode: 'pi_1' } as const;
    const alerted = { calls: ['dispute_unknown'], alerts: ['dispute_unknown'] };
    expect(await notified(notification)).toEqual(alerted);
    expect((await notified(notification, { kind: 'sandbox' })).calls).toEqual(['warn']);
  });

  it('alerts when a notification names one of our payments under an unknown reference', async () => {
    const notification = about('changed', newPaymentId());
    const alerted = { calls: ['unknown_reference'], alerts: ['unknown_reference'] };
    expect(await notified(notification)).toEqual(alerted);
    const inSandbox = await notified(notification, { kind: 'sandbox' });
    expect(inSandbox).toEqual({ calls: ['warn'], alerts: [] });
  });

  it.each<[string, Notification]>([
    ['names something else', about('changed', 'order-1')],
    ['names nothing', about('changed')],
    ['says that a repeated opening is closed', about('closed', newPaymentId())],
  ])('does not alert when a notification %s', async (_, notification) => {
    expect(await notified(notification)).toEqual({ calls: [], alerts: [] });
  });
});
