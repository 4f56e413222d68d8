import { ListPayments, paymentCursors, sameWithCursor } from '../../contract/list-payments.ts';
import { PaymentListResponse } from '../../contract/payment-responses.ts';
import type { OwnPayment, Payments } from '../../postgres/payments/payments.ts';
import { cursorAfter, listHandler, perPageExample } from '../http/list-handler.ts';
import type { Handler, RouteSpec } from '../http/route.ts';
import { paymentExamples } from './payment-examples.ts';
import { presentOwnPayment } from './present.ts';

const exampleList: PaymentListResponse = {
  data: [paymentExamples.paid],
  pagination: {
    page: 1,
    per_page: 1,
    has_more: true,
    next_cursor: 'MToxNzk1MTcxMjk3MTIzOlBBWV8wMUs5WjVXNlg3WThaQUJDREVGR0hKS01OUA',
  },
};

export const listPaymentsRoute = {
  summary: 'List payments',
  description:
    "The application's payments of the token's mode, newest first. A payment must match all filters. " +
    'With `page`, a payment created between two requests shifts the pages; with `cursor`, none is ' +
    `repeated or missed. ${sameWithCursor} Unknown or repeated parameters and values out of range are ` +
    'rejected.',
  query: ListPayments,
  validationExample: perPageExample,
  responses: {
    200: {
      description: 'A page of payments.',
      content: PaymentListResponse,
      examples: { list: exampleList },
    },
  },
  errors: [],
} as const satisfies RouteSpec;

export interface Deps {
  payments: Pick<Payments, 'list'>;
  publicBaseUrl: string;
}

export const listPaymentsHandler = ({
  payments,
  publicBaseUrl,
}: Deps): Handler<'application', typeof listPaymentsRoute> =>
  listHandler<ListPayments, OwnPayment>({
    query: ListPayments,
    find: (filter, at, { cursor, page = 1, per_page }) =>
      payments.list(filter, { ...at, offset: cursor ? 0 : (page - 1) * per_page }),
    present: (payment) => presentOwnPayment(payment, publicBaseUrl),
    nextCursor: cursorAfter(paymentCursors, ({ createdAt }) => createdAt),
    pageNumber: ({ page = 1, cursor }) => ({ page: cursor ? null : page }),
  });
