import { ListMovements, movementCursors } from '../../contract/list-movements.ts';
import { MovementListResponse } from '../../contract/movement-responses.ts';
import { type Movement, presentMovement } from '../../contract/movement.ts';
import type { Movements } from '../../postgres/accounts/movements.ts';
import type { Payments } from '../../postgres/payments/payments.ts';
import { checkPayment, cursorAfter, listHandler, perPageExample } from '../http/list-handler.ts';
import type { Handler, RouteSpec } from '../http/route.ts';
import { movementExamples } from './movement-examples.ts';

const exampleList: MovementListResponse = {
  data: [movementExamples.refund, movementExamples.payment],
  pagination: { per_page: 20, has_more: false, next_cursor: null },
};

export const listMovementsRoute = {
  tag: 'Movements',
  summary: 'List movements',
  description:
    "What moved the money of gateways' accounts for payments of the application in the token's mode, newest first by " +
    '`recorded_at`. A movement never changes; a correction is another movement. A movement must match all filters. ' +
    'Unknown or repeated parameters and values out of range are rejected.',
  query: ListMovements,
  validationExample: perPageExample,
  responses: {
    200: {
      description: 'A page of movements.',
      content: MovementListResponse,
      examples: { list: exampleList },
    },
  },
  errors: ['PAYMENT_NOT_FOUND'],
} as const satisfies RouteSpec;

export interface Deps {
  movements: Pick<Movements, 'list'>;
  payments: Pick<Payments, 'get'>;
}

export const listMovementsHandler = ({
  movements,
  payments,
}: Deps): Handler<'application', typeof listMovementsRoute> =>
  listHandler<ListMovements, Movement>({
    query: ListMovements,
    async checkNames({ paymentId, application, test }) {
      // Movements stay when a payment is purged.
      const filter = { kind: null, paymentId, from: null, to: null, application, test };
      const [any] = await movements.list(filter, { after: null, limit: 1 });
      if (!any) await checkPayment(payments)({ paymentId, application, test });
    },
    find: (filter, page) => movements.list(filter, page),
    present: presentMovement,
    nextCursor: cursorAfter(movementCursors, ({ recordedAt }) => recordedAt),
  });
