import { ListRefunds, ListRefundsOfPayment, refundCursors } from '../../contract/list-refunds.ts';
import { RefundListResponse } from '../../contract/refund-responses.ts';
import { presentRefund, type Refund } from '../../contract/refund.ts';
import type { Payments } from '../../postgres/payments/payments.ts';
import { everyRefund } from '../../postgres/refunds/filter.ts';
import type { Refunds } from '../../postgres/refunds/refunds.ts';
import { cursorAfter, listHandler, perPageExample } from '../http/list-handler.ts';
import { findOwnPayment } from '../http/owned-records.ts';
import type { Handler, RouteSpec } from '../http/route.ts';
import { paymentParams } from '../payments/payment-id.ts';
import { refundExamples } from './refund-examples.ts';

const exampleList: RefundListResponse = {
  data: [refundExamples.succeeded],
  pagination: { per_page: 20, has_more: false, next_cursor: null },
};
const responses = {
  200: {
    description: 'A page of refunds.',
    content: RefundListResponse,
    examples: { list: exampleList },
  },
} as const;

export const listRefundsRoute = {
  tag: 'Refunds',
  summary: 'List refunds',
  description:
    "The application's refunds of the token's mode, newest first. A refund must match all filters. Unknown or " +
    'repeated parameters and values out of range are rejected.',
  query: ListRefunds,
  validationExample: perPageExample,
  responses,
  errors: [],
} as const satisfies RouteSpec;

export const listRefundsOfPaymentRoute = {
  tag: 'Refunds',
  summary: "List a payment's refunds",
  description: 'Newest first, also those that somebody made at the gateway.',
  params: paymentParams,
  query: ListRefundsOfPayment,
  validationExample: perPageExample,
  responses,
  errors: ['PAYMENT_NOT_FOUND'],
} as const satisfies RouteSpec;

export interface Deps {
  refunds: Pick<Refunds, 'list'>;
  payments: Pick<Payments, 'get'>;
}

const rows = {
  present: presentRefund,
  nextCursor: cursorAfter(refundCursors, ({ createdAt }: Refund) => createdAt),
};

export const listRefundsHandler = ({
  refunds,
}: Pick<Deps, 'refunds'>): Handler<'application', typeof listRefundsRoute> =>
  listHandler<ListRefunds, Refund>({
    query: ListRefunds,
    find: (filter, page) => refunds.list({ ...everyRefund, ...filter }, page),
    ...rows,
  });

export const listRefundsOfPaymentHandler =
  ({ refunds, payments }: Deps): Handler<'application', typeof listRefundsOfPaymentRoute> =>
  async (request) => {
    const { id } = await findOwnPayment(payments, request);
    return listHandler<ListRefundsOfPayment, Refund>({
      query: ListRefundsOfPayment,
      find: (filter, page) => refunds.list({ ...everyRefund, ...filter, paymentId: id }, page),
      ...rows,
    })(request);
  };
