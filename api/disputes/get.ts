import { z } from 'zod';
import { DisputeId, DisputeResponse } from '../../contract/dispute-responses.ts';
import { presentDispute } from '../../contract/dispute.ts';
import type { Disputes } from '../../postgres/payments/disputes.ts';
import { findOwnDispute } from '../http/owned-records.ts';
import type { Handler, RouteSpec } from '../http/route.ts';
import { disputeExamples } from './dispute-examples.ts';

export const getDisputeRoute = {
  tag: 'Disputes',
  summary: 'Get one dispute',
  description:
    'A dispute of another application, or of the other token mode, responds `404` like one that does not exist.',
  params: z.object({ dispute_id: DisputeId }),
  responses: {
    200: {
      description: 'The dispute as the gateway last told it.',
      content: DisputeResponse,
      examples: disputeExamples,
    },
  },
  errors: ['DISPUTE_NOT_FOUND'],
} as const satisfies RouteSpec;

export interface Deps {
  disputes: Pick<Disputes, 'get'>;
}

export const getDisputeHandler =
  ({ disputes }: Deps): Handler<'application', typeof getDisputeRoute> =>
  async (request) => ({
    status: 200,
    body: presentDispute(await findOwnDispute(disputes, request)),
  });
