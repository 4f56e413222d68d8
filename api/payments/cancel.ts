import { CancelPayment } from '../../contract/cancel-payment.ts';
import { PaymentResponse } from '../../contract/payment-responses.ts';
import { isTerminal } from '../../contract/status.ts';
import type { Payments } from '../../postgres/payments/payments.ts';
import type { WorkflowCalls } from '../../temporal/workflow-calls.ts';
import { findOwnPayment } from '../http/owned-records.ts';
import type { Handler, RouteSpec } from '../http/route.ts';
import { unavailableIfTemporalIsDown } from '../http/temporal-needed.ts';
import { parseBody } from '../http/validation.ts';
import { paymentExamples } from './payment-examples.ts';
import { paymentParams } from './payment-id.ts';
import { presentOwnPayment } from './present.ts';

export const cancelPaymentRoute = {
  summary: 'Call a payment off',
  description:
    'Ends a payment that nobody has paid as `cancelled`, and closes it at its gateway. Safe to repeat. The body is ' +
    'optional.\n\n' +
    'A payment that is paid, or whose money is on its way, stays as it is: `409`, with its `status` in the details. So ' +
    'does one that its gateway cannot close. After `502` nothing has changed.\n\n' +
    '`cancelled` promises that the payment never becomes `paid`: money that still comes goes back to the payer.',
  params: paymentParams,
  body: {
    json: CancelPayment,
    examples: { without: {}, reason: { reason: 'Out of stock' } },
    optional: true,
  },
  // To a number.
  validationExample: { path: 'reason', rule: 'invalid_type', message: 'must be a string' },
  responses: {
    200: {
      description: 'The payment, `cancelled`.',
      content: PaymentResponse,
      examples: { cancelled: paymentExamples.cancelled },
    },
  },
  errors: ['PAYMENT_NOT_FOUND', 'PAYMENT_NOT_CANCELLABLE', 'GATEWAY_UNAVAILABLE'],
} as const satisfies RouteSpec;

export interface Deps {
  payments: Pick<Payments, 'get' | 'recordCancelReason'>;
  workflows: Pick<WorkflowCalls, 'cancel'>;
  publicBaseUrl: string;
}

export const cancelPaymentHandler =
  ({
    payments,
    workflows,
    publicBaseUrl,
  }: Deps): Handler<'application', typeof cancelPaymentRoute> =>
  async (request) => {
    const { refuse } = request;
    const { reason = null } = parseBody(CancelPayment, await request.readJson(), refuse);

    const payment = await findOwnPayment(payments, request);
    const cancel = async () => {
      await payments.recordCancelReason(payment.id, reason);
      return unavailableIfTemporalIsDown(
        workflows.cancel(payment, { by: 'application' }),
        'The payment cannot be cancelled now.',
      );
    };
    const result = isTerminal(payment.status) ? undefined : await cancel();
    const current = result ? await findOwnPayment(payments, request) : payment;
    const { status } = current;
    if (status === 'cancelled')
      return { status: 200, body: presentOwnPayment(current, publicBaseUrl) };
    if (result?.kind === 'unknown' && !isTerminal(status)) throw refuse('GATEWAY_UNAVAILABLE');
    throw refuse('PAYMENT_NOT_CANCELLABLE', `The payment is ${status}.`, { details: { status } });
  };
