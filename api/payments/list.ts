import { formatObject } from '../../contract/json-text.ts';
import { formatCursor, ListPayments, sameWithCursor } from '../../contract/list-payments.ts';
import { presentPayment } from '../../contract/payment.ts';
import { PaymentListResponse } from '../../contract/responses.ts';
import type { Owner, Payments } from '../../postgres/payments.ts';
import { ownerOf } from '../auth/authentication.ts';
import type { Handler, RouteSpec, ValidationExample } from '../http/route.ts';
import { paymentExamples } from './payment-examples.ts';

const exampleList: PaymentListResponse = {
  data: [paymentExamples.paid],
  pagination: {
    page: 1,
    per_page: 1,
    has_more: true,
    next_cursor: 'MToxNzk1MTcxMjk3MTIzOlBBWV8wMUs5WjVXNlg3WThaQUJDREVGR0hKS01OUA',
  },
};

/** The response to a `per_page` of 0. */
const invalidPerPage: ValidationExample = {
  message: 'The query is not valid, see details.fields.',
  fields: [
    { path: 'per_page', rule: 'invalid_format', message: 'must be an integer from 1 to 100' },
  ],
};

export const listPaymentsRoute = {
  summary: 'List payments',
  description:
    "The application's payments of the token's mode, newest first. A payment must match all filters. " +
    'With `page`, a payment created between two requests shifts the pages; with `cursor`, none is ' +
    `repeated or missed. ${sameWithCursor} Unknown or repeated parameters and values out of range are ` +
    'rejected.',
  query: ListPayments,
  validationExample: invalidPerPage,
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

interface ListRequest {
  owner: Owner;
  query: ListPayments;
}

/**
 * Identical lists requested in one turn of the event loop share one query and one rendering. With 50
 * connections of one token that doubles the rate: its requests are counted in one row and so pass together.
 */
export const listPaymentsHandler = (
  deps: Deps,
): Handler<'application', typeof listPaymentsRoute> => {
  return async ({ caller, query }) => ({
    status: 200,
    body: await render(deps, { owner: ownerOf(caller), query }),
  });
};

const render = async ({ payments, publicBaseUrl }: Deps, { owner, query }: ListRequest) => {
  const { order_id, status, from, to, per_page, page = 1, cursor } = query;
  const found = await payments.list(owner, {
    orderId: order_id,
    status,
    from,
    to,
    after: cursor,
    offset: cursor ? 0 : (page - 1) * per_page,
    // One more than the page holds, to learn whether there is more.
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
