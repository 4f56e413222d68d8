import { cursorOf } from '../contract/list-payments.ts';
import { objectText } from '../contract/json.ts';
import { presentPayment } from '../contract/payment.ts';
import type { Payments } from '../postgres/payments.ts';
import type { Handler } from './route.ts';
import type { Routes } from './routes/table.ts';

export interface Deps {
  payments: Pick<Payments, 'list'>;
  publicBaseUrl: string;
}

export const createPaymentList =
  ({ payments, publicBaseUrl }: Deps): Handler<Routes['listPayments']> =>
  async ({ caller, query }) => {
    const { order_id, status, from, to, per_page, page = 1, cursor } = query;
    const found = await payments.list(
      { application: caller.application, test: caller.mode === 'test' },
      {
        ...{ orderId: order_id, status, from, to, after: cursor },
        offset: cursor ? 0 : (page - 1) * per_page,
        // One more than is shown says whether there is more.
        limit: per_page + 1,
      },
    );
    const shown = found.slice(0, per_page);
    const last = shown.at(-1);
    const hasMore = found.length > per_page;
    const data = shown.map((payment) => presentPayment(payment, publicBaseUrl)).join();
    const pagination = objectText({
      page: cursor ? null : page,
      per_page,
      has_more: hasMore,
      next_cursor: hasMore && last ? cursorOf(last) : null,
    });
    return { status: 200, body: `{"data":[${data}],"pagination":${pagination}}` };
  };
