import DataLoader from 'dataloader';
import { formatObject } from '../../contract/json-text.ts';
import type { ListPayments } from '../../contract/list-payments.ts';
import { formatCursor } from '../../contract/list-payments.ts';
import { presentPayment } from '../../contract/payment.ts';
import type { Owner, Payments } from '../../postgres/payments.ts';
import { ownerOf } from '../auth/authentication.ts';
import type { Handler } from '../http/route.ts';
import type { Routes } from '../routes.ts';

export interface Deps {
  payments: Pick<Payments, 'list'>;
  publicBaseUrl: string;
}

interface Wanted {
  owner: Owner;
  query: ListPayments;
}

export const createPaymentList = (deps: Deps): Handler<Routes['listPayments']> => {
  /**
   * Those that are asked for alike in one turn of the event loop are read and written once: who polls
   * from many places is let in together, since his requests count in one row.
   */
  const lists = new DataLoader<Wanted, Buffer, string>(
    (wanted) => {
      // Who comes from now on must see what was written meanwhile.
      lists.clearAll();
      return Promise.all(wanted.map((one) => read(deps, one).catch((error: Error) => error)));
    },
    { cacheKeyFn: (wanted) => JSON.stringify(wanted) },
  );
  return async ({ caller, query }) => {
    return { status: 200, body: await lists.load({ owner: ownerOf(caller), query }) };
  };
};

const read = async ({ payments, publicBaseUrl }: Deps, { owner, query }: Wanted) => {
  const { order_id, status, from, to, per_page, page = 1, cursor } = query;
  const found = await payments.list(owner, {
    orderId: order_id,
    status,
    from,
    to,
    after: cursor,
    offset: cursor ? 0 : (page - 1) * per_page,
    // One more than is shown says whether there is more.
    limit: per_page + 1,
  });
  const shown = found.slice(0, per_page);
  const last = shown.at(-1);
  const hasMore = found.length > per_page;
  const data = shown.map((payment) => presentPayment(payment, publicBaseUrl)).join();
  const pagination = formatObject({
    page: cursor ? null : page,
    per_page,
    has_more: hasMore,
    next_cursor: hasMore && last ? formatCursor(last) : null,
  });
  return Buffer.from(`{"data":[${data}],"pagination":${pagination}}`);
};
