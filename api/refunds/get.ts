import { z } from 'zod';
import { RefundId, RefundResponse } from '../../contract/refund-responses.ts';
import { presentRefund } from '../../contract/refund.ts';
import type { Refunds } from '../../postgres/refunds/refunds.ts';
import { findOwnRefund } from '../http/owned-records.ts';
import type { Handler, RouteSpec } from '../http/route.ts';
import { refundExamples } from './refund-examples.ts';

export const refundParams = z.object({ refund_id: RefundId });

export const getRefundRoute = {
  tag: 'Refunds',
  summary: 'Get one refund',
  description:
    'A refund of another application, or of the other token mode, responds `404` like one that does not exist.',
  params: refundParams,
  responses: {
    200: {
      description: 'The refund as recorded.',
      content: RefundResponse,
      examples: refundExamples,
    },
  },
  errors: ['REFUND_NOT_FOUND'],
} as const satisfies RouteSpec;

export interface Deps {
  refunds: Pick<Refunds, 'get'>;
}

export const getRefundHandler =
  ({ refunds }: Deps): Handler<'application', typeof getRefundRoute> =>
  async (request) => ({ status: 200, body: presentRefund(await findOwnRefund(refunds, request)) });
