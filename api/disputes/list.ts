import { DisputeListResponse } from '../../contract/dispute-responses.ts';
import { type Dispute, presentDispute } from '../../contract/dispute.ts';
import {
  disputeCursors,
  ListDisputes,
  ListDisputesOfPayment,
} from '../../contract/list-disputes.ts';
import type { Disputes } from '../../postgres/payments/disputes.ts';
import type { Payments } from '../../postgres/payments/payments.ts';
import { checkPayment, cursorAfter, listHandler, perPageExample } from '../http/list-handler.ts';
import { findOwnPayment } from '../http/owned-records.ts';
import type { Handler, RouteSpec } from '../http/route.ts';
import { paymentParams } from '../payments/payment-id.ts';
import { disputeExamples } from './dispute-examples.ts';

const exampleList: DisputeListResponse = {
  data: [disputeExamples.chargeback],
  pagination: { per_page: 20, has_more: false, next_cursor: null },
};
const responses = {
  200: {
    description: 'A page of disputes.',
    content: DisputeListResponse,
    examples: { list: exampleList },
  },
} as const;

export const listDisputesRoute = {
  tag: 'Disputes',
  summary: 'List disputes',
  description:
    "The disputes of the application's payments of the token's mode, newest first by `opened_at`. A dispute must match " +
    'all filters. Unknown or repeated parameters and values out of range are rejected.',
  query: ListDisputes,
  validationExample: perPageExample,
  responses,
  errors: ['PAYMENT_NOT_FOUND'],
} as const satisfies RouteSpec;

export const listDisputesOfPaymentRoute = {
  tag: 'Disputes',
  summary: "List a payment's disputes",
  description: 'Newest first. A payment may have several: a bank can take the money a second time.',
  params: paymentParams,
  query: ListDisputesOfPayment,
  validationExample: perPageExample,
  responses,
  errors: ['PAYMENT_NOT_FOUND'],
} as const satisfies RouteSpec;

export interface Deps {
  disputes: Pick<Disputes, 'list'>;
  payments: Pick<Payments, 'get'>;
}

const rows = {
  present: presentDispute,
  nextCursor: cursorAfter(disputeCursors, ({ openedAt }: Dispute) => openedAt),
};

export const listDisputesHandler = ({
  disputes,
  payments,
}: Deps): Handler<'application', typeof listDisputesRoute> =>
  listHandler<ListDisputes, Dispute>({
    query: ListDisputes,
    checkNames: checkPayment(payments),
    find: (filter, page) => disputes.list(filter, page),
    ...rows,
  });

export const listDisputesOfPaymentHandler =
  ({ disputes, payments }: Deps): Handler<'application', typeof listDisputesOfPaymentRoute> =>
  async (request) => {
    const { id: paymentId } = await findOwnPayment(payments, request);
    const every = { paymentId, status: null, stage: null, from: null, to: null };
    return listHandler<ListDisputesOfPayment, Dispute>({
      query: ListDisputesOfPayment,
      find: (owner, page) => disputes.list({ ...every, ...owner }, page),
      ...rows,
    })(request);
  };
