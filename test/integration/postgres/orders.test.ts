import { describe, expect, it } from 'vitest';
import type { FailureCode } from '../../../contract/failure-codes.ts';
import { newPaymentId } from '../../../contract/ids.ts';
import type { Payment } from '../../../contract/payment.ts';
import { dayMs } from '../../../contract/time.ts';
import type { KnownDispute } from '../../../contract/dispute.ts';
import { createAdminOrders } from '../../../postgres/admin/orders.ts';
import { createAdminPayments } from '../../../postgres/admin/payments.ts';
import { createApplications } from '../../../postgres/applications/applications.ts';
import { createOrders } from '../../../postgres/orders.ts';
import { createPaymentOutcomes, type Finalized } from '../../../postgres/payments/outcomes.ts';
import { createRefundOutcomes } from '../../../postgres/refunds/outcomes.ts';
import { aDispute, recordDisputes } from '../../support/data/disputes.ts';
import { holdLock } from '../../support/data/hold-lock.ts';
import { insertRefund } from '../../support/data/insert-refund.ts';
import { anIdempotencyRecord, aPayment } from '../../support/data/payments.ts';
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
): Promise<Finalized> => {
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

/** The change of the sums by a refund, in the transactions of its insert and its end. */
const reserve = async (payment: Payment, amount: number) => {
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
  return { succeeds: () => end('succeeded'), comesBack: () => end('failed') };
};
const giveBack = async (payment: Payment, amount: number) => {
  const refund = await reserve(payment, amount);
  expect(await refund.succeeds()).toBe(true);
  return refund;
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
      expect(await finalize(one, end)).toBe('done');
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
    expect(await finalize(other, 'paid')).toBe('done');
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
    expect(await finalize(other, 'order_already_paid')).toBe('order_not_paid');
    expect(await finalize(one, 'paid')).toBe('done');
    expect(await holds(one)).toBe(true);
    expect(await finalize(other, 'paid')).toBe('order_held');
    expect(await statusOf(other)).toBe('pending');
    expect(await records.listEvents(other.id)).toEqual([]);
    expect(await finalize(other, 'order_already_paid')).toBe('done');
    expect((await records.listEvents(other.id)).map(({ kind }) => kind)).toEqual([
      'payment.failed',
    ]);
  });

  it('as paid waits while another one only holds the order', async () => {
    const [one, other] = await twoOfAnOrder();
    await orders.claim(one.id);
    expect(await finalize(other, 'paid')).toBe('order_held');
    expect(await finalize(other, 'order_already_paid')).toBe('order_not_paid');
    await finalize(one, 'expired');
    expect(await finalize(other, 'paid')).toBe('done');
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
    expect(await second).toBe('order_held');
    expect([await holds(one), await holds(other)]).toEqual([true, false]);
  });

  it('counts payments that were paid before the option was on', async () => {
    await sql`update applications set orders_paid_once = false where slug = 'shop'`;
    const [one, other] = await twoOfAnOrder();
    expect(await finalize(one, 'paid')).toBe('done');
    expect(await holds(one)).toBe(false);
    await sql`update applications set orders_paid_once = true where slug = 'shop'`;
    expect(await records.paymentOutcomes.get(other.id)).toMatchObject({ orderIsPaid: true });
    expect(await orders.claim(other.id)).toBe(false);
    expect(await finalize(other, 'paid')).toBe('order_held');
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
    expect(await finalize(other, 'paid')).toBe('done');
    expect(await refund.comesBack()).toBe(true);
    expect([await holds(one), await holds(other)]).toEqual([false, true]);
    expect(await createAdminOrders(sql).listPaidTwice(one.test, 1)).toMatchObject([
      { orderId: one.orderId, payments: 2 },
    ]);
    const third = await records.sent({ orderId: one.orderId });
    expect(await finalize(third, 'paid')).toBe('order_held');
  });
});

describe('a chargeback', () => {
  const paidOne = async () => {
    const [one, other] = await twoOfAnOrder();
    await finalize(one, 'paid');
    const reference = (nth: number) => `dp_${one.id}_${nth}`;
    const bankSays = (...told: Partial<KnownDispute>[]) =>
      recordDisputes(
        sql,
        one.id,
        told.map((changes, nth) => aDispute({ gatewayReference: reference(nth), ...changes })),
      );
    /** What every reader of the rule says: claim, create, opening, alert and list. */
    const isFree = async () => {
      const { orderId } = one;
      const later = await records.created({ orderId, createdAt: new Date(Date.now() + dayMs) });
      const again = aPayment({ orderId });
      return [
        await orders.claim(other.id),
        (await records.payments.insert(again, null, { isPaidOnce: true })).paidBy === null,
        (await records.paymentOutcomes.get(later.id))?.orderIsPaid === false,
        (await records.paymentOutcomes.flagDuplicates({ ...later, isPaidOnce: true }))
          .duplicateOf === null,
        (await createAdminPayments(sql).get(later.id))?.duplicateOf === null,
      ];
    };
    return { one, other, bankSays, isFree };
  };
  const all = [true, true, true, true, true];
  const none = [false, false, false, false, false];

  it.each<[string, Partial<KnownDispute>[], number, boolean[]]>([
    ['lost over all of it', [{ amount: 1250, status: 'lost' }], 0, all],
    ['lost over more than it', [{ amount: 1251, status: 'lost' }], 0, all],
    ['lost in another currency', [{ currency: 'USD', status: 'lost' }], 0, all],
    ['lost over what a refund has left', [{ status: 'lost' }], 250, all],
    ['lost after a refund of everything', [{ amount: 1250, status: 'lost' }], 1250, all],
    ['none, and a refund of everything', [], 1250, all],
    ['lost in two parts', [{ status: 'lost' }, { amount: 250, status: 'lost' }], 0, all],
    ['lost over a part', [{ status: 'lost' }], 0, none],
    ['lost over a part beside a smaller refund', [{ status: 'lost' }], 249, none],
    ['one of two lost', [{ status: 'lost' }, { amount: 250 }], 0, none],
    ['waiting for an answer', [{ amount: 1250 }], 0, none],
    ['under review', [{ amount: 1250, status: 'under_review' }], 0, none],
    ['won', [{ amount: 1250, status: 'won' }], 0, none],
    ['prevented', [{ amount: 1250, status: 'closed' }], 0, none],
    ['an inquiry', [{ amount: 1250, stage: 'inquiry', status: 'closed' }], 0, none],
  ])('frees the order if all of the money is gone for good: %s', async (_, told, back, free) => {
    const { one, bankSays, isFree } = await paidOne();
    if (back > 0) await giveBack(one, back);
    await bankSays(...told);
    expect(await holds(one)).toBe(free === none);
    expect(await isFree()).toEqual(free);
  });

  it('that is lost leaves the order held while a refund of the rest is pending', async () => {
    const { one, bankSays, isFree } = await paidOne();
    const rest = await reserve(one, 250);
    await bankSays({ status: 'lost' });
    expect(await isFree()).toEqual(none);
    await rest.succeeds();
    expect(await isFree()).toEqual(all);
  });

  it('that is won after it was lost claims nothing, whoever has the order then', async () => {
    const { one, other, bankSays } = await paidOne();
    await bankSays({ amount: 1250, status: 'lost' });
    expect(await finalize(other, 'paid')).toBe('done');
    await bankSays({ amount: 1250, status: 'won' });
    expect([await holds(one), await holds(other)]).toEqual([false, true]);
    const third = await records.sent({ orderId: one.orderId });
    expect(await finalize(third, 'paid')).toBe('order_held');
  });

  it('that is won after it was lost has paid the order, if nobody else has', async () => {
    const { bankSays, isFree } = await paidOne();
    await bankSays({ amount: 1250, status: 'lost' });
    await bankSays({ amount: 1250, status: 'won' });
    expect(await isFree()).toEqual(none);
  });
});

describe('a sandbox payment of a live token', () => {
  it('neither holds an order nor blocks one', async () => {
    await sql`insert into gateways (slug, driver, kind) values ('play', 'sandbox', 'sandbox') on conflict do nothing`;
    const [real] = await twoOfAnOrder({ test: false });
    const fake = await records.sent({ orderId: real.orderId, test: false, gateway: 'play' });
    expect(await finalize(fake, 'paid')).toBe('done');
    expect(await holds(fake)).toBe(false);
    expect(await orders.claim(real.id)).toBe(true);
    expect(await finalize(real, 'paid')).toBe('done');
    const another = await records.sent({ orderId: real.orderId, test: false, gateway: 'play' });
    expect(await finalize(another, 'paid')).toBe('done');
  });
});

describe('the create of a payment', () => {
  const insert = (payment: Payment, key: string | null = null) =>
    records.payments.insert(payment, key === null ? null : anIdempotencyRecord(key), {
      isPaidOnce: true,
    });

  it('of a paid order writes nothing, and takes no key', async () => {
    const [one] = await twoOfAnOrder();
    await finalize(one, 'paid');
    const again = { ...one, id: newPaymentId() };
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
    expect(await insert({ ...one, id: newPaymentId() })).toEqual({
      isInserted: true,
      paidBy: null,
    });
  });
});

it('is an option of an application, off until somebody turns it on', async () => {
  expect(await createApplications(sql).get('quiet')).toMatchObject({ ordersPaidOnce: false });
});
