import { getApplicationHandler, getApplicationRoute } from './auth/me.ts';
import { getDisputeHandler, getDisputeRoute } from './disputes/get.ts';
import {
  listDisputesHandler,
  listDisputesOfPaymentHandler,
  listDisputesOfPaymentRoute,
  listDisputesRoute,
} from './disputes/list.ts';
import { getEventHandler, getEventRoute } from './events/get.ts';
import { listEventsHandler, listEventsRoute } from './events/list.ts';
import { replayEventHandler, replayEventRoute } from './events/replay.ts';
import { listGatewaysHandler, listGatewaysRoute } from './gateways/list.ts';
import { notifyOfPaymentHandler, notifyOfPaymentRoute } from './gateways/notifications.ts';
import { reportOnPaymentHandler, reportOnPaymentRoute } from './gateways/reports.ts';
import { type AnyRequest, type HandlerResult, type Route, routesFor } from './http/route.ts';
import { createLinkHandler, createLinkRoute } from './links/create.ts';
import { disableLinkHandler, disableLinkRoute } from './links/disable.ts';
import { getLinkHandler, getLinkRoute } from './links/get.ts';
import { listLinksHandler, listLinksRoute } from './links/list.ts';
import { listMovementsHandler, listMovementsRoute } from './movements/list.ts';
import {
  confirmNoticesHandler,
  confirmNoticesRoute,
  showConfirmationHandler,
  showConfirmationRoute,
  showUnsubscriptionHandler,
  showUnsubscriptionRoute,
  unsubscribeHandler,
  unsubscribeRoute,
} from './notices/pages.ts';
import { showDocsHandler, showDocsRoute } from './openapi/docs-page.ts';
import { getOpenApiHandler, getOpenApiRoute } from './openapi/serve-document.ts';
import { checkoutHandler, checkoutRoute } from './payer/checkout.ts';
import { payLinkHandler, payLinkRoute, showLinkHandler, showLinkRoute } from './links/page.ts';
import { showOutcomeHandler, showOutcomeRoute } from './payer/outcome.ts';
import {
  returnByPostHandler,
  returnFromGatewayByPostRoute,
  returnFromGatewayRoute,
  returnHandler,
} from './payer/return.ts';
import {
  chooseInSandboxHandler,
  chooseInSandboxRoute,
  showSandboxHandler,
  showSandboxRoute,
} from './payer/sandbox.ts';
import { cancelPaymentHandler, cancelPaymentRoute } from './payments/cancel.ts';
import { createPaymentHandler, createPaymentRoute } from './payments/create.ts';
import { getPaymentHandler, getPaymentRoute } from './payments/get.ts';
import { listPaymentsHandler, listPaymentsRoute } from './payments/list.ts';
import { verifyPaymentHandler, verifyPaymentRoute } from './payments/verify.ts';
import { cancelRefundHandler, cancelRefundRoute } from './refunds/cancel.ts';
import { createRefundHandler, createRefundRoute } from './refunds/create.ts';
import { getRefundHandler, getRefundRoute } from './refunds/get.ts';
import {
  listRefundsHandler,
  listRefundsOfPaymentHandler,
  listRefundsOfPaymentRoute,
  listRefundsRoute,
} from './refunds/list.ts';
import { createReplayHandler, createReplayRoute } from './replays/create.ts';
import { getReplayHandler, getReplayRoute } from './replays/get.ts';
import { stopReplayHandler, stopReplayRoute } from './replays/stop.ts';
import { getWebhookHandler, getWebhookRoute } from './webhook/get.ts';
import { testWebhookHandler, testWebhookRoute } from './webhook/test.ts';

/** With a bearer token: any, or one with this scope. */
const application = routesFor('application');
const read = routesFor('application', 'read');
const mayCreate = routesFor('application', 'create');
const replay = routesFor('application', 'replay');
const refund = routesFor('application', 'refund');
const link = routesFor('application', 'link');
/** A browser with the link of a payment, or of a mail. */
const payer = routesFor('payer');
/** A payment provider's server, with a signature or a secret address. */
const gateway = routesFor('gateway');
const anyone = routesFor('anyone');

/**
 * The table of all routes: who may call it, with which scope, method, path below /api/v1, what its file declares, and its
 * handler. A key is the name of its route everywhere: `operationId`, links, handlers.
 */
export const routes = {
  getApplication: application.get('/me', getApplicationRoute, getApplicationHandler),
  listGateways: read.get('/gateways', listGatewaysRoute, listGatewaysHandler),
  createPayment: mayCreate.post('/payments', createPaymentRoute, createPaymentHandler),
  listPayments: read.get('/payments', listPaymentsRoute, listPaymentsHandler),
  getPayment: read.get('/payments/:payment_id', getPaymentRoute, getPaymentHandler),
  verifyPayment: mayCreate.post(
    '/payments/:payment_id/verify',
    verifyPaymentRoute,
    verifyPaymentHandler,
  ),
  cancelPayment: mayCreate.post(
    '/payments/:payment_id/cancel',
    cancelPaymentRoute,
    cancelPaymentHandler,
  ),
  createRefund: refund.post(
    '/payments/:payment_id/refunds',
    createRefundRoute,
    createRefundHandler,
  ),
  listRefundsOfPayment: read.get(
    '/payments/:payment_id/refunds',
    listRefundsOfPaymentRoute,
    listRefundsOfPaymentHandler,
  ),
  listRefunds: read.get('/refunds', listRefundsRoute, listRefundsHandler),
  getRefund: read.get('/refunds/:refund_id', getRefundRoute, getRefundHandler),
  cancelRefund: refund.post('/refunds/:refund_id/cancel', cancelRefundRoute, cancelRefundHandler),
  listDisputesOfPayment: read.get(
    '/payments/:payment_id/disputes',
    listDisputesOfPaymentRoute,
    listDisputesOfPaymentHandler,
  ),
  listDisputes: read.get('/disputes', listDisputesRoute, listDisputesHandler),
  getDispute: read.get('/disputes/:dispute_id', getDisputeRoute, getDisputeHandler),
  listMovements: read.get('/movements', listMovementsRoute, listMovementsHandler),
  createLink: link.post('/links', createLinkRoute, createLinkHandler),
  listLinks: read.get('/links', listLinksRoute, listLinksHandler),
  getLink: read.get('/links/:link_id', getLinkRoute, getLinkHandler),
  disableLink: link.post('/links/:link_id/disable', disableLinkRoute, disableLinkHandler),
  listEvents: read.get('/events', listEventsRoute, listEventsHandler),
  getEvent: read.get('/events/:event_id', getEventRoute, getEventHandler),
  replayEvent: replay.post('/events/:event_id/replay', replayEventRoute, replayEventHandler),
  createReplay: replay.post('/replays', createReplayRoute, createReplayHandler),
  getReplay: read.get('/replays/:replay_id', getReplayRoute, getReplayHandler),
  stopReplay: replay.post('/replays/:replay_id/stop', stopReplayRoute, stopReplayHandler),
  getWebhook: read.get('/webhook', getWebhookRoute, getWebhookHandler),
  testWebhook: replay.post('/webhook/test', testWebhookRoute, testWebhookHandler),

  checkout: payer.get('/payments/:payment_id/checkout', checkoutRoute, checkoutHandler),
  returnFromGateway: payer.get(
    '/payments/:payment_id/return',
    returnFromGatewayRoute,
    returnHandler,
  ),
  returnFromGatewayByPost: payer.post(
    '/payments/:payment_id/return',
    returnFromGatewayByPostRoute,
    returnByPostHandler,
  ),
  showLink: payer.get('/links/:link_id/pay', showLinkRoute, showLinkHandler),
  payLink: payer.post('/links/:link_id/pay', payLinkRoute, payLinkHandler),
  showOutcome: payer.get('/payments/:payment_id/outcome', showOutcomeRoute, showOutcomeHandler),
  showSandbox: payer.get('/sandbox/:payment_id', showSandboxRoute, showSandboxHandler),
  chooseInSandbox: payer.post('/sandbox/:payment_id', chooseInSandboxRoute, chooseInSandboxHandler),

  showUnsubscription: payer.get(
    '/notices/:token',
    showUnsubscriptionRoute,
    showUnsubscriptionHandler,
  ),
  unsubscribe: payer.post('/notices/:token', unsubscribeRoute, unsubscribeHandler),
  showConfirmation: payer.get(
    '/notices/:token/confirm',
    showConfirmationRoute,
    showConfirmationHandler,
  ),
  confirmNotices: payer.post('/notices/:token/confirm', confirmNoticesRoute, confirmNoticesHandler),

  notifyOfPayment: gateway.post(
    '/gateways/:gateway/notifications',
    notifyOfPaymentRoute,
    notifyOfPaymentHandler,
  ),
  reportOnPayment: gateway.post(
    '/payments/:payment_id/reports/:report_key',
    reportOnPaymentRoute,
    reportOnPaymentHandler,
  ),

  getOpenApi: anyone.get('/openapi.json', getOpenApiRoute, getOpenApiHandler),
  showDocs: anyone.get('/docs', showDocsRoute, showDocsHandler),
} as const satisfies Record<string, Route>;

export type Routes = typeof routes;

/** Everything that the handlers need together. */
export type HandlerDeps = Routes[keyof Routes]['createHandler'] extends (
  deps: infer Deps,
) => unknown
  ? Deps
  : never;

/** The handler of each route, for any request: the application passes what the route declares. */
export type Handlers = Record<keyof Routes, (request: AnyRequest) => Promise<HandlerResult>>;

export const createHandlers = (deps: HandlerDeps): Handlers =>
  Object.fromEntries(
    Object.entries(routes).map(([name, { createHandler }]) => [name, createHandler(deps)]),
  ) as unknown as Handlers; // The same keys; and the application passes what each row declares.
