import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { createOrders } from '../../../demo/orders.ts';
import { aPayment } from '../../support/demo/shop.ts';

it('keeps its orders through a restart', () => {
  const path = join(mkdtempSync(join(tmpdir(), 'shop-')), 'shop.sqlite');
  const before = createOrders(path);
  before.add(aPayment({ payment_id: 'PAY_1', order_id: 'C-1' }));
  before.add(aPayment({ payment_id: 'PAY_2', order_id: 'C-2' }));
  const after = createOrders(path);
  expect(after.list()).toEqual(before.list());
  expect(after.list().map(({ orderId }) => orderId)).toEqual(['C-2', 'C-1']);
});

it('lists the last 200 orders, and finds the others', () => {
  const orders = createOrders(':memory:');
  for (let number = 1; number <= 250; number += 1)
    orders.add(aPayment({ payment_id: `PAY_${number}`, order_id: `C-${number}` }));
  expect(orders.list()).toHaveLength(200);
  expect(orders.list()[0]?.orderId).toBe('C-250');
  expect(orders.find('C-50')?.paymentId).toBe('PAY_50');
});
