import { getApplicationRoute } from './auth/me.ts';
import { getEventRoute } from './events/get.ts';
import { listEventsRoute } from './events/list.ts';
import { replayEventRoute } from './events/replay.ts';
import { notifyOfPaymentRoute } from './gateways/notifications.ts';
import type { Handler, Route } from './http/route.ts';
import { getDocsAssetRoute, showDocsRoute } from './openapi/docs-page.ts';
import { getOpenApiRoute } from './openapi/serve-document.ts';
import { checkoutRoute } from './payer/checkout.ts';
import { returnFromGatewayByPostRoute, returnFromGatewayRoute } from './payer/return.ts';
import { chooseInSandboxRoute, showSandboxRoute } from './payer/sandbox.ts';
import { createPaymentRoute } from './payments/create.ts';
import { getPaymentRoute } from './payments/get.ts';
import { listPaymentsRoute } from './payments/list.ts';
import { verifyPaymentRoute } from './payments/verify.ts';
import { createReplayRoute } from './replays/create.ts';
import { getReplayRoute } from './replays/get.ts';
import { stopReplayRoute } from './replays/stop.ts';
import { testWebhookRoute } from './webhook/test.ts';

/**
 * The table of all routes. A key is the name of its route everywhere: `operationId`, links, handlers.
 * The file of a row holds its handler and its examples, too.
 */
export const routes = {
  // Applications, with a bearer token
  getApplication: getApplicationRoute,
  createPayment: createPaymentRoute,
  listPayments: listPaymentsRoute,
  getPayment: getPaymentRoute,
  verifyPayment: verifyPaymentRoute,
  listEvents: listEventsRoute,
  getEvent: getEventRoute,
  replayEvent: replayEventRoute,
  createReplay: createReplayRoute,
  getReplay: getReplayRoute,
  stopReplay: stopReplayRoute,
  testWebhook: testWebhookRoute,

  // Payers' browsers, with the link of a payment
  checkout: checkoutRoute,
  returnFromGateway: returnFromGatewayRoute,
  returnFromGatewayByPost: returnFromGatewayByPostRoute,
  showSandbox: showSandboxRoute,
  chooseInSandbox: chooseInSandboxRoute,

  // Payment providers' servers, with a signature
  notifyOfPayment: notifyOfPaymentRoute,

  // Anyone
  getOpenApi: getOpenApiRoute,
  showDocs: showDocsRoute,
  getDocsAsset: getDocsAssetRoute,
} as const satisfies Record<string, Route>;

export type Routes = typeof routes;

/** One handler for each route. A missing handler, or one that responds as its row does not declare, does not compile. */
export type Handlers = { [Name in keyof Routes]: Handler<Routes[Name]> };
