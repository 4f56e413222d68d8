import { expect, it } from 'vitest';
import type { Payment } from '../../../contract/payment.ts';
import type { GatewayStatus } from '../../../gateways/gateway.ts';
import { createAuditLog } from '../../../postgres/audit-log.ts';
import { createGateways } from '../../../postgres/gateways.ts';
import { startRecords } from '../../support/data/records.ts';
import { confirmed, inTurn, withGateway } from '../../support/service/scripted-gateway.ts';
import { forFile } from '../../support/for-file.ts';

const records = await forFile(startRecords({ gatewayKind: 'live' }));

const verifying = (...answers: GatewayStatus[]) =>
  withGateway(records, { verify: inTurn<GatewayStatus>(...answers) });

const actionsOf = async (id: string) => {
  const subject = `payment:${id}`;
  const entries = await createAuditLog(records.sql).list({ subject, limit: 9 });
  return entries.map(({ action }) => action).toSorted();
};

it('alerts admins of an order that is paid twice and of a tracking code that comes twice', async () => {
  const pay = async (orderId: string, trackingCode: string, fields: Partial<Payment> = {}) => {
    const payment = await records.sent({ orderId, ...fields });
    const gateway = verifying(confirmed({ trackingCode }));
    await gateway.verifyPayment({ id: payment.id, returned: false });
    return { alerts: gateway.alerts(), actions: await actionsOf(payment.id) };
  };
  const none = { alerts: [], actions: [] };
  expect(await pay('one', 'A')).toEqual(none);
  expect(await pay('two', 'B')).toEqual(none);
  // Each application, and each mode, has orders of its own.
  expect(await pay('one', 'C', { application: 'quiet' })).toEqual(none);
  expect(await pay('one', 'D', { test: false })).toEqual(none);
  // Failed payments of the order do not count.
  await records.ended('failed', { orderId: 'four' });
  expect(await pay('four', 'F')).toEqual(none);
  // Each gateway has tracking codes of its own.
  const account = { driver: 'sandbox', kind: 'live', credentials: null } as const;
  await createGateways(records.sql).insert({ slug: 'second', ...account });
  expect(await pay('five', 'B', { gateway: 'second' })).toEqual(none);
  expect(await pay('one', 'E')).toEqual({
    alerts: ['duplicate_payment'],
    actions: ['payment.duplicate'],
  });
  expect(await pay('three', 'B')).toEqual({
    alerts: ['duplicate_tracking_code'],
    actions: ['payment.duplicate_tracking_code'],
  });
});

it('records the further payments of a duplicate order or code once, with their count', async () => {
  const payments: string[] = [];
  for (let nth = 1; nth <= 4; nth += 1) {
    const { id } = await records.sent({ orderId: 'again' });
    const gateway = verifying(confirmed({ trackingCode: 'AGAIN' }));
    await gateway.verifyPayment({ id, returned: false });
    expect(gateway.alerts()).toHaveLength(nth === 1 ? 0 : 2);
    payments.push(id);
  }
  const log = await createAuditLog(records.sql).list({ subject: null, limit: 100 });
  const [first = '', second = ''] = payments;
  const about = log.filter(({ after }) =>
    [after?.['order_id'], after?.['tracking_code']].some((name) => /^again$/i.test(String(name))),
  );
  expect(about.toSorted((one, other) => one.id - other.id)).toMatchObject([
    {
      actor: 'service',
      action: 'payment.duplicate',
      subject: `payment:${second}`,
      after: { application: 'shop', order_id: 'again', duplicate_of: first },
      payments: 4,
    },
    {
      action: 'payment.duplicate_tracking_code',
      subject: `payment:${second}`,
      after: { gateway: 'sandbox', tracking_code: 'AGAIN', also_of: first },
      payments: 4,
    },
  ]);
});

it('a payment that was given back makes no duplicate, and a later duplicate of the order is recorded again', async () => {
  const pay = async () => {
    const { id } = await records.sent({ orderId: 'anew' });
    const gateway = verifying(confirmed({ trackingCode: id }));
    await gateway.verifyPayment({ id, returned: false });
    return { id, alerts: gateway.alerts(), actions: await actionsOf(id) };
  };
  const giveBack = ({ id }: { id: string }) => records.sql`
    update payments set amount_refunded = amount where id = ${id}`;
  const none = { alerts: [], actions: [] };
  const duplicate = { alerts: ['duplicate_payment'], actions: ['payment.duplicate'] };
  const first = await pay();
  await giveBack(first);
  const second = await pay();
  expect(second).toMatchObject(none);
  const third = await pay();
  expect(third).toMatchObject(duplicate);
  await giveBack(second);
  expect(await pay()).toMatchObject(duplicate);
});

it('alerts nobody and records nothing about payments of a sandbox account', async () => {
  const account = { driver: 'sandbox', kind: 'sandbox', credentials: null } as const;
  await createGateways(records.sql).insert({ slug: 'unreal', ...account });
  const pay = async (gateway: string, test: boolean) => {
    const payment = await records.sent({ orderId: 'unreal', gateway, test });
    const paying = verifying(confirmed({ trackingCode: `${gateway}-code` }));
    await paying.verifyPayment({ id: payment.id, returned: false });
    return { alerts: paying.alerts(), actions: await actionsOf(payment.id) };
  };
  const none = { alerts: [], actions: [] };
  for (const test of [true, true, true, false, false])
    expect(await pay('unreal', test)).toEqual(none);
  // Nor does it count against a payment of real money.
  expect(await pay('sandbox', false)).toEqual(none);
  const { id } = await records.sent({ gateway: 'unreal' });
  const other = verifying(confirmed({ amount: 1 }));
  await other.verifyPayment({ id, returned: false });
  expect(other.alerts()).toEqual([]);
  expect(other.late).toEqual([id]);
});

it('alerts admins also if the first try broke off right after the end', async () => {
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
    (gateway: typeof broken) => gateway.openPayment({ id, afterDeadline: false }),
  ]) {
    const gateway = verifying();
    await repeat(gateway);
    expect(gateway.alerts()).toEqual(['duplicate_payment', 'duplicate_tracking_code']);
    expect(await actionsOf(id)).toContain('payment.duplicate');
    expect(await actionsOf(id)).toContain('payment.duplicate_tracking_code');
  }
});
