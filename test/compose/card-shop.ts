import { randomUUID } from 'node:crypto';
import type { Shape } from '../../tools/compose/shape.ts';
import { until } from '../support/until.ts';

/** A payment that was opened at Stripe. */
interface Purchase {
  id: string;
  /** Stripe's. */
  reference: string;
}

interface Payment {
  status: string;
  amount_refunded: number;
}

/** An application whose payers pay by card, over the proxy. */
export const createCardShop = ({ call, stripe }: Shape, token: string) => {
  const ask = (path: string, body?: object, key?: string) =>
    call(`/api/v1${path}`, {
      ...(body && { method: 'POST', body: JSON.stringify(body) }),
      headers: {
        authorization: `Bearer ${token}`,
        ...(body && { 'content-type': 'application/json' }),
        ...(key !== undefined && { 'idempotency-key': key }),
      },
    });

  const open = async (): Promise<Purchase> => {
    const order = { order_id: randomUUID(), amount: 900, currency: 'EUR', expires_in: 3600 };
    const { payment_id: id } = JSON.parse((await ask('/payments', order)).body);
    const location = await until(
      `${id} is open`,
      async () => (await call(`/api/v1/payments/${id}/checkout`)).location,
    );
    return { id, reference: location.slice(location.lastIndexOf('/') + 1) };
  };
  const pay = async ({ reference }: Purchase): Promise<void> => {
    stripe.pay(reference);
    const { pathname, search } = new URL(stripe.back(reference).url);
    await call(pathname + search);
  };
  const waitUntilPaid = ({ id }: Purchase) =>
    until(`${id} is paid`, async () => {
      const { status } = JSON.parse((await ask(`/payments/${id}/verify`, {})).body) as Payment;
      return status === 'paid';
    });

  return {
    open,
    pay,
    waitUntilPaid,
    async buy(): Promise<Purchase> {
      const purchase = await open();
      await pay(purchase);
      await waitUntilPaid(purchase);
      return purchase;
    },
    /** The same request each time. @returns the status of the response */
    refund: async ({ id }: Purchase): Promise<number> =>
      (await ask(`/payments/${id}/refunds`, { amount: 300 }, `refund-${id}`)).status,
    waitUntilRefunded: ({ id }: Purchase) =>
      until(`${id} is refunded`, async () => {
        const { amount_refunded: refunded } = JSON.parse(
          (await ask(`/payments/${id}`)).body,
        ) as Payment;
        return refunded === 300;
      }),
  };
};
