import { ListRefunds, ListRefundsOfPayment, refundCursors } from '../../contract/list-refunds.ts';
import { RefundListResponse } from '../../contract/refund-responses.ts';
import { presentRefund, type Refund } from '../../contract/refund.ts';
import type { Payments } from '../../postgres/payments.ts';
import type { RefundQuery, Refunds } from '../../postgres/refunds.ts';
import { listHandler } from '../http/list-handler.ts';
import { findOwnPayment } from '../http/own.ts';
import type { Handler, RouteSpec } from '../http/route.ts';
import { paymentParams } from '../payments/payment-id.ts';
import { refundExamples } from './refund-examples.ts';

const exampleList: RefundListResponse = {
  data: [refundExamples.succeeded],
  pagination: { per_page: 20, has_more: false, next_cursor: null },
};
// To a `per_page` of 0.
const validationExample = {
  path: 'per_page',
  rule: 'invalid_format',
  message: 'must be an integer from 1 to 100',
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
  validationExample,
  responses,
  errors: [],
} as const satisfies RouteSpec;

export const listRefundsOfPaymentRoute = {
  tag: 'Refunds',
  summary: "List a payment's refunds",
  description: 'Newest first, also those that somebody made at the gateway.',
  params: paymentParams,
  query: ListRefundsOfPayment,
  validationExample,
  responses,
  errors: ['PAYMENT_NOT_FOUND'],
} as const satisfies RouteSpec;

export interface Deps {
  refunds: Pick<Refunds, 'list'>;
  payments: Pick<Payments, 'get'>;
}

type Query = ListRefundsOfPayment & Partial<ListRefunds>;

const listOf = (refunds: Deps['refunds'], of: Pick<RefundQuery, 'paymentId'>) =>
  listHandler<Query, Refund>({
    find: (owner, { order_id, status, from, to, cursor }, limit) =>
      refunds.list(owner, { ...of, orderId: order_id, status, from, to, after: cursor, limit }),
    present: presentRefund,
    paginate: ({ per_page }, { hasMore, last }) => ({
      per_page,
      has_more: hasMore,
      next_cursor:
        hasMore && last ? refundCursors.format({ at: last.createdAt, id: last.id }) : null,
    }),
  });

export const listRefundsHandler = ({
  refunds,
}: Pick<Deps, 'refunds'>): Handler<'application', typeof listRefundsRoute> => listOf(refunds, {});

export const listRefundsOfPaymentHandler =
  ({ refunds, payments }: Deps): Handler<'application', typeof listRefundsOfPaymentRoute> =>
  async (request) => {
    const { id } = await findOwnPayment(payments, request);
    return listOf(refunds, { paymentId: id })(request);
  };
