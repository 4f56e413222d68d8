import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Payment } from '../../../contract/payment.ts';
import type { GatewayStatus } from '../../../gateways/gateway.ts';
import { createAuditLog } from '../../../postgres/audit-log.ts';
import { createGateways } from '../../../postgres/gateways.ts';
import type { Records } from '../../support/records.ts';
import { startRecords } from '../../support/records.ts';
import { confirmed, inTurn, withGateway } from '../../support/scripted-gateway.ts';

let records: Records;
beforeAll(async () => {
  records = await startRecords();
});
afterAll(() => records.drop());

const verifying = (...answers: GatewayStatus[]) =>
  withGateway(records, { verify: inTurn<GatewayStatus>(...answers) });

const actionsOf = async (id: string) => {
  const subject = `payment:${id}`;
  const entries = await createAuditLog(records.sql).list({ subject, limit: 9 });
  return entries.map(({ action }) => action).toSorted();
};

it('FS-20, FS-08: an order paid twice, and a tracking code that comes twice, are told to admins', async () => {
  const pay = async (orderId: string, trackingCode: string, fields: Partial<Payment> = {}) => {
    const payment = await records.sent({ orderId, ...fields });
    const gateway = verifying(confirmed({ trackingCode }));
    await gateway.verifyPayment({ id: payment.id, returned: false });
    return { alerts: gateway.alerts(), actions: await actionsOf(payment.id) };
  };
  const nothing = { alerts: [], actions: [] };
  expect(await pay('one', 'A')).toEqual(nothing);
  expect(await pay('two', 'B')).toEqual(nothing);
  // Another application, and the other mode, have orders of their own.
  expect(await pay('one', 'C', { application: 'quiet' })).toEqual(nothing);
  expect(await pay('one', 'D', { test: false })).toEqual(nothing);
  // As often as it failed before, an order is paid once.
  await records.ended('failed', { orderId: 'four' });
  expect(await pay('four', 'F')).toEqual(nothing);
  // Each gateway has tracking codes of its own.
  const account = { driver: 'sandbox', kind: 'sandbox', credentials: null } as const;
  await createGateways(records.sql).insert({ slug: 'second', ...account });
  expect(await pay('five', 'B', { gateway: 'second' })).toEqual(nothing);
  expect(await pay('one', 'E')).toEqual({
    alerts: ['duplicate_payment'],
    actions: ['payment.duplicate'],
  });
  expect(await pay('three', 'B')).toEqual({
    alerts: ['duplicate_tracking_code'],
    actions: ['payment.duplicate_tracking_code'],
  });
});

it('FS-20: both are told also where the try broke off right after the end', async () => {
  const orderId = 'broken-off';
  const first = await records.sent({ orderId });
  await verifying(confirmed()).verifyPayment({ id: first.id, returned: false });
  const { id } = await records.sent({ orderId });
  const broken = withGateway(
    records,
    { verify: inTurn(confirmed()) },
    {
      paymentOutcomes: {
        ...records.paymentOutcomes,
        flagDuplicates: () => Promise.reject(new Error('the worker is gone')),
      },
    },
  );
  await expect(broken.verifyPayment({ id, returned: false })).rejects.toThrow('is gone');
  expect(broken.alerts()).toEqual([]);

  const again = { id, grace: true, unreachable: false };
  for (const repeat of [
    (gateway: typeof broken) => gateway.verifyPayment({ id, returned: true }),
    (gateway: typeof broken) => gateway.expirePayment(again),
    (gateway: typeof broken) => gateway.openPayment({ id, late: false }),
  ]) {
    const gateway = verifying();
    await repeat(gateway);
    expect(gateway.alerts()).toEqual(['duplicate_payment', 'duplicate_tracking_code']);
    expect(await actionsOf(id)).toContain('payment.duplicate');
    expect(await actionsOf(id)).toContain('payment.duplicate_tracking_code');
  }
});
