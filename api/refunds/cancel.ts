import { RefundResponse } from '../../contract/refund-responses.ts';
import { presentRefund, refundStart } from '../../contract/refund.ts';
import type { Refunds } from '../../postgres/refunds/refunds.ts';
import type { WorkflowCalls } from '../../temporal/workflow-calls.ts';
import { findOwnRefund } from '../http/owned-records.ts';
import type { Handler, RouteSpec } from '../http/route.ts';
import { unavailableIfTemporalIsDown } from '../http/temporal-needed.ts';
import { refundParams } from './get.ts';
import { refundExamples } from './refund-examples.ts';

export const cancelRefundRoute = {
  tag: 'Refunds',
  summary: 'Call a refund off',
  description:
    'Possible while nothing was sent to the gateway (`stage` is `reserved`). The refund ends `failed` with ' +
    '`failure_code` `cancelled`. Safe to repeat. After `503` it is called off, and ends as soon as a worker is there.',
  params: refundParams,
  responses: {
    200: {
      description: 'The refund, `failed`.',
      content: RefundResponse,
      examples: { cancelled: refundExamples.cancelled },
    },
  },
  errors: ['REFUND_NOT_FOUND', 'REFUND_NOT_CANCELLABLE'],
} as const satisfies RouteSpec;

export interface Deps {
  refunds: Pick<Refunds, 'get' | 'requestCancel'>;
  workflows: Pick<WorkflowCalls, 'finishRefund'>;
}

export const cancelRefundHandler =
  ({ refunds, workflows }: Deps): Handler<'application', typeof cancelRefundRoute> =>
  async (request) => {
    const refund = await findOwnRefund(refunds, request);
    if (!(await refunds.requestCancel(refund.id))) throw request.refuse('REFUND_NOT_CANCELLABLE');
    if (refund.status === 'pending')
      await unavailableIfTemporalIsDown(
        workflows.finishRefund(refundStart(refund)),
        'The refund is called off, and Temporal is not available now.',
      );
    return { status: 200, body: presentRefund(await findOwnRefund(refunds, request)) };
  };
