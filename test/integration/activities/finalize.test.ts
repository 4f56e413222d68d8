import { expect, it } from 'vitest';
import type { Payment } from '../../../contract/payment.ts';
import type { GatewayStatus } from '../../../gateways/gateway.ts';
import { createAuditLog } from '../../../postgres/audit-log.ts';
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

/** A payment that the gateway confirms. By default its tracking code is its own. */
const pay = async (fields: Partial<Payment>, trackingCode?: string) => {
  const { id } = await records.sent(fields);
  const gateway = verifying(confirmed({ trackingCode: trackingCode ?? id }));
  await gateway.verifyPayment({ id, returned: false });
  return { id, alerts: gateway.alerts(), actions: await actionsOf(id) };
};
const none = { alerts: [], actions: [] };
const duplicate = { alerts: ['duplicate_payment'], actions: ['payment.duplicate'] };

it('alerts admins of an order that is paid twice and of a tracking code that comes twice', async () => {
  await records.addGateway('sandbox', { slug: 'second' });
  // Failed payments of the order do not count.
  await records.ended('failed', { orderId: 'four' });
  const cases: [Partial<Payment>, string, object][] = [
    [{ orderId: 'one' }, 'A', none],
    [{ orderId: 'two' }, 'B', none],
    // Each application, and each mode, has orders of its own.
    [{ orderId: 'one', application: 'quiet' }, 'C', none],
    [{ orderId: 'one', test: false }, 'D', none],
    [{ orderId: 'four' }, 'F', none],
    // Each gateway has tracking codes of its own.
    [{ orderId: 'five', gateway: 'second' }, 'B', none],
    [{ orderId: 'one' }, 'E', duplicate],
    [
      { orderId: 'three' },
      'B',
      { alerts: ['duplicate_tracking_code'], actions: ['payment.duplicate_tracking_code'] },
    ],
  ];
  for (const [fields, code, expected] of cases)
    expect(await pay(fields, code), code).toMatchObject(expected);
});

it('records the further payments of a duplicate order or code once, with their count', async () => {
  const payments: string[] = [];
  for (let nth = 1; nth <= 4; nth += 1) {
    const { id, alerts } = await pay({ orderId: 'again' }, 'AGAIN');
    expect(alerts).toHaveLength(nth === 1 ? 0 : 2);
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
  const order = { orderId: 'anew' };
  const giveBack = ({ id }: { id: string }) => records.sql`
    update payments set amount_refunded = amount where id = ${id}`;
  await giveBack(await pay(order));
  const second = await pay(order);
  expect(second).toMatchObject(none);
  expect(await pay(order)).toMatchObject(duplicate);
  await giveBack(second);
  expect(await pay(order)).toMatchObject(duplicate);
});

it('alerts nobody and records nothing about payments of a sandbox account', async () => {
  await records.addGateway('sandbox', { slug: 'unreal', kind: 'sandbox' });
  for (const test of [true, true, true, false, false]) {
    const fields = { orderId: 'unreal', gateway: 'unreal', test };
    expect(await pay(fields, 'unreal-code')).toMatchObject(none);
  }
  // Nor does it count against a payment of real money.
  expect(await pay({ orderId: 'unreal', test: false })).toMatchObject(none);
  // The console shows both orders to a person: each payment after the first one is marked.
  const marks = await records.sql`
    select test, count(*)::int as payments, count(paid_twice_at)::int as marked
    from payments where order_id = 'unreal' group by test order by test`;
  expect(marks).toEqual([
    { test: false, payments: 3, marked: 2 },
    { test: true, payments: 3, marked: 2 },
  ]);
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
  // A later round of the delivery is no reason to alert again.
  await records.sql`update deliveries set round = 2 where payment_id = ${id}`;
  const { openPayment, alerts } = verifying();
  await openPayment({ id, afterDeadline: true });
  expect(alerts()).toEqual([]);
});
