import { describe, expect, it } from 'vitest';
import type { FailureCode } from '../../../contract/failure-codes.ts';
import type { Payment } from '../../../contract/payment.ts';
import { createApplications } from '../../../postgres/applications.ts';
import { createOrders } from '../../../postgres/orders.ts';
import { createPaymentOutcomes } from '../../../postgres/payment-outcomes.ts';
import { createRefundOutcomes } from '../../../postgres/refund-outcomes.ts';
import { holdLock } from '../../support/data/hold-lock.ts';
import { insertRefund } from '../../support/data/insert-refund.ts';
import { noAnswer, startRecords, withOutcome } from '../../support/data/records.ts';
import { forFile } from '../../support/for-file.ts';

const records = await forFile(startRecords({ gatewayKind: 'live' }));
const { sql } = records;
const orders = createOrders(sql);
await sql`update applications set orders_paid_once = true where slug = 'shop'`;

let count = 0;
/** Two payments of an order that no other test has. */
const twoOfAnOrder = async (fields: Partial<Payment> = {}) => {
  const orderId = `order-${(count += 1)}`;
  return [
    await records.sent({ orderId, ...fields }),
    await records.sent({ orderId, ...fields }),
  ] as const;
};

const finalize = (
  payment: Payment,
  to: 'paid' | 'expired' | FailureCode,
  outcomes = records.paymentOutcomes,
): Promise<boolean> => {
  if (to === 'paid' || to === 'expired') {
    const { ended, event } = withOutcome(payment, to);
    return outcomes.finalize(ended, event, noAnswer);
  }
  const { ended, event } = withOutcome(payment, 'failed');
  return outcomes.finalize({ ...ended, failureCode: to }, event, noAnswer);
};

const holds = async ({ id }: Payment): Promise<boolean> => {
  const [row] =
    await sql`select order_claimed_at is not null as held from payments where id = ${id}`;
  return row?.['held'] === true;
};
const statusOf = async ({ id }: Payment) => (await records.paymentOutcomes.get(id))?.status;

/** The change of the sums by a refund, in the transaction of its end. */
const giveBack = async (payment: Payment, amount: number) => {
  const [refund] = await insertRefund(sql, payment, {
    order_id: payment.orderId,
    amount,
    requested_by: 'application',
  });
  const ref = { id: String(refund?.id), paymentId: payment.id };
  const end = (status: 'succeeded' | 'failed') =>
    createRefundOutcomes(sql).finishRefund(
      ref,
      {
        status,
        failureCode: status === 'failed' ? 'unknown' : null,
        gatewayReference: null,
        bankReference: null,
        providerMessage: { code: null, message: null },
      },
      { now: new Date(), exchanges: [] },
    );
  expect(await end('succeeded')).toBe(true);
  return { comesBack: () => end('failed') };
};

describe('a claim', () => {
  it('is held by one payment of an order, and is repeated by it alone', async () => {
    const [one, other] = await twoOfAnOrder();
    expect(await orders.claim(one.id)).toBe(true);
    expect(await orders.claim(one.id)).toBe(true);
    expect(await orders.claim(other.id)).toBe(false);
    expect(await records.paymentOutcomes.get(other.id)).toMatchObject({
      isPaidOnce: true,
      orderIsPaid: false,
    });
  });

  it.each(['commit', 'release'] as const)(
    'of two at once waits until the first has ended its transaction: %s',
    async (end) => {
      const [one, other] = await twoOfAnOrder();
      const first = await holdLock(sql, (tx) => createOrders(tx).claim(one.id));
      const second = orders.claim(other.id);
      await first.blocked('the second claim');
      await first[end]();
      expect(await second).toBe(end === 'release');
    },
  );

  it('ends with every end but paid', async () => {
    for (const end of ['expired', 'card_declined'] as const) {
      const [one, other] = await twoOfAnOrder();
      await orders.claim(one.id);
      expect(await finalize(one, end)).toBe(true);
      expect(await holds(one)).toBe(false);
      expect(await orders.claim(other.id)).toBe(true);
    }
  });

  it('is refused to a payment that has ended', async () => {
    const [one] = await twoOfAnOrder();
    await finalize(one, 'expired');
    expect(await orders.claim(one.id)).toBe(false);
  });

  it('is taken over after a day, and not before', async () => {
    const [one, other] = await twoOfAnOrder();
    await orders.claim(one.id);
    const age = (interval: string) => sql`
      update payments set order_claimed_at = now() - ${interval}::interval where id = ${one.id}`;
    await age('23 hours 59 minutes');
    expect(await orders.claim(other.id)).toBe(false);
    await age('24 hours 1 minute');
    expect(await orders.claim(other.id)).toBe(true);
    expect(await holds(one)).toBe(false);
    // A paid payment keeps it for ever.
    expect(await finalize(other, 'paid')).toBe(true);
    await sql`update payments set order_claimed_at = now() - interval '9 days' where id = ${other.id}`;
    expect(await orders.claim(one.id)).toBe(false);
  });

  it('takes no part for other orders, applications and modes, and without the option', async () => {
    const [one] = await twoOfAnOrder();
    const { orderId } = one;
    await orders.claim(one.id);
    const others = [
      await records.sent({ orderId: `${orderId} ` }),
      await records.sent({ orderId, application: 'quiet' }),
      await records.sent({ orderId, test: false }),
    ];
    for (const { id } of others) expect(await orders.claim(id)).toBe(true);
    const [quiet] = await twoOfAnOrder({ application: 'quiet' });
    expect(await orders.claim(quiet.id)).toBe(true);
    expect(await holds(quiet)).toBe(false);
  });
});

describe('the end of a payment', () => {
  it('as paid claims the order; another one is refused, and loses only then', async () => {
    const [one, other] = await twoOfAnOrder();
    expect(await finalize(other, 'order_already_paid')).toBe(false);
    expect(await finalize(one, 'paid')).toBe(true);
    expect(await holds(one)).toBe(true);
    expect(await finalize(other, 'paid')).toBe(false);
    expect(await statusOf(other)).toBe('pending');
    expect(await records.listEvents(other.id)).toEqual([]);
    expect(await finalize(other, 'order_already_paid')).toBe(true);
    expect((await records.listEvents(other.id)).map(({ kind }) => kind)).toEqual([
      'payment.failed',
    ]);
  });

  it('as paid waits while another one only holds the order', async () => {
    const [one, other] = await twoOfAnOrder();
    await orders.claim(one.id);
    expect(await finalize(other, 'paid')).toBe(false);
    expect(await finalize(other, 'order_already_paid')).toBe(false);
    await finalize(one, 'expired');
    expect(await finalize(other, 'paid')).toBe(true);
  });

  it.each(['paid', 'claimed'] as const)('as paid races with one that is %s', async (first) => {
    const [one, other] = await twoOfAnOrder();
    const lock = await holdLock(sql, (tx) =>
      first === 'paid'
        ? finalize(one, 'paid', createPaymentOutcomes(tx))
        : createOrders(tx).claim(one.id),
    );
    const second = finalize(other, 'paid');
    await lock.blocked('the second end');
    await lock.commit();
    expect(await second).toBe(false);
    expect([await holds(one), await holds(other)]).toEqual([true, false]);
  });

  it('counts payments that were paid before the option was on', async () => {
    await sql`update applications set orders_paid_once = false where slug = 'shop'`;
    const [one, other] = await twoOfAnOrder();
    expect(await finalize(one, 'paid')).toBe(true);
    expect(await holds(one)).toBe(false);
    await sql`update applications set orders_paid_once = true where slug = 'shop'`;
    expect(await records.paymentOutcomes.get(other.id)).toMatchObject({ orderIsPaid: true });
    expect(await orders.claim(other.id)).toBe(false);
    expect(await finalize(other, 'paid')).toBe(false);
  });
});

describe('a refund', () => {
  it('of everything frees the order, and one of a part does not', async () => {
    const [one, other] = await twoOfAnOrder();
    await finalize(one, 'paid');
    await giveBack(one, 250);
    expect(await orders.claim(other.id)).toBe(false);
    await giveBack(one, 1_000);
    expect(await orders.claim(other.id)).toBe(true);
  });

  it('that the bank sends back claims nothing, whoever has the order then', async () => {
    const [one, other] = await twoOfAnOrder();
    await finalize(one, 'paid');
    const refund = await giveBack(one, 1_250);
    expect(await finalize(other, 'paid')).toBe(true);
    expect(await refund.comesBack()).toBe(true);
    expect([await holds(one), await holds(other)]).toEqual([false, true]);
    const third = await records.sent({ orderId: one.orderId });
    expect(await finalize(third, 'paid')).toBe(false);
  });
});

describe('a sandbox payment of a live token', () => {
  it('neither holds an order nor blocks one', async () => {
    await sql`insert into gateways (slug, driver, kind) values ('play', 'sandbox', 'sandbox') on conflict do nothing`;
    const [real] = await twoOfAnOrder({ test: false });
    const fake = await records.sent({ orderId: real.orderId, test: false, gateway: 'play' });
    expect(await finalize(fake, 'paid')).toBe(true);
    expect(await holds(fake)).toBe(false);
    expect(await orders.claim(real.id)).toBe(true);
    expect(await finalize(real, 'paid')).toBe(true);
    const another = await records.sent({ orderId: real.orderId, test: false, gateway: 'play' });
    expect(await finalize(another, 'paid')).toBe(true);
  });
});

describe('the create of a payment', () => {
  const insert = (payment: Payment, key: string | null = null) =>
    records.payments.insert(
      payment,
      key === null
        ? null
        : {
            ...{ route: 'POST', key, fingerprint: Buffer.alloc(32), status: 201, location: '/' },
            ...{ body: key, keptFor: '1 hour' },
          },
      { isPaidOnce: true },
    );

  it('of a paid order writes nothing, and takes no key', async () => {
    const [one] = await twoOfAnOrder();
    await finalize(one, 'paid');
    const again = { ...one, id: `${one.id.slice(0, -1)}Z` };
    for (const key of [null, `key of ${one.orderId}`])
      expect(await insert(again, key)).toEqual({ isInserted: false, paidBy: one.id });
    expect(await sql`select from idempotency_keys where key = ${`key of ${one.orderId}`}`).toEqual(
      [],
    );
    await giveBack(one, 1_250);
    expect(await insert(again, `key of ${one.orderId}`)).toEqual({
      isInserted: true,
      paidBy: null,
    });
  });

  it('of an order with an open payment is not refused', async () => {
    const [one] = await twoOfAnOrder();
    await orders.claim(one.id);
    expect(await insert({ ...one, id: `${one.id.slice(0, -1)}Y` })).toEqual({
      isInserted: true,
      paidBy: null,
    });
  });
});

it('is an option of an application, off until somebody turns it on', async () => {
  expect(await createApplications(sql).get('quiet')).toMatchObject({ ordersPaidOnce: false });
});
