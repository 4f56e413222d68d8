import { expect, it } from 'vitest';
import { createOrders } from '../../../demo/orders.ts';
import { aPayment } from '../../support/demo/shop.ts';

it('lists orders of before a restart below those since', () => {
  const orders = createOrders();
  orders.add(aPayment({ payment_id: 'PAY_3', order_id: 'C-3' }));
  orders.load([
    aPayment({ payment_id: 'PAY_3', order_id: 'C-3', status: 'paid' }),
    aPayment({ payment_id: 'PAY_2', order_id: 'C-2', status: 'paid' }),
    aPayment({ payment_id: 'PAY_1', order_id: 'C-1' }),
  ]);
  const seen = orders.list().map(({ orderId, status }) => `${orderId} ${status}`);
  expect(seen).toEqual(['C-3 pending', 'C-2 paid', 'C-1 pending']);
});

it('keeps the last 200 orders', () => {
  const orders = createOrders();
  for (let number = 1; number <= 250; number += 1)
    orders.add(aPayment({ payment_id: `PAY_${number}`, order_id: `C-${number}` }));
  expect(orders.list()).toHaveLength(200);
  expect(orders.list()[0]?.orderId).toBe('C-250');
  expect(orders.find('C-50')).toBeUndefined();
});
