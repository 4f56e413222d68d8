import { expect, it } from 'vitest';
import { type Handler, type HandlerResult, routesFor } from '../../../../api/http/route.ts';
import { listEventsRoute } from '../../../../api/events/list.ts';
import { getPaymentHandler, getPaymentRoute } from '../../../../api/payments/get.ts';
import type { Routes } from '../../../../api/routes.ts';

it('does not compile a handler that does more than its row declares', () => {
  // The compiler checks this: an expected error that does not come is an error.
  const code: Handler<'application', Routes['getPayment']> = async ({ refuse }) => {
    // @ts-expect-error A route without a body cannot reject one.
    throw refuse('MALFORMED_JSON', '');
  };
  const body: Handler<'application', Routes['getPayment']> = async (request) => {
    // @ts-expect-error A route without a body cannot read one.
    await request.readJson();
    return { status: 200 };
  };
  const caller: Handler<'payer', Routes['showSandbox']> = async (request) => {
    // @ts-expect-error A payer is not an application.
    return { status: 200, body: String(request.caller) };
  };
  const accepted = async (): Promise<HandlerResult<202>> => ({ status: 202 });
  // @ts-expect-error The row does not declare this status.
  const status: Handler<'application', Routes['createPayment']> = accepted;
  expect([code, body, caller, status]).toHaveLength(4);
});

it('does not compile a row whose handler is for other callers or another route', () => {
  const { get } = routesFor('payer');
  // @ts-expect-error The handler reads the caller, which only an application's token gives.
  const access = get('/payments/:payment_id', getPaymentRoute, getPaymentHandler);
  // @ts-expect-error The handler fails with PAYMENT_NOT_FOUND, which the spec of the events does not declare.
  const other = routesFor('application').get('/events', listEventsRoute, getPaymentHandler);
  expect([access, other]).toHaveLength(2);
});
