import type { Handler, Route } from '../route.ts';
import { applicationRoutes } from './application.ts';
import { documentRoutes } from './documents.ts';
import { gatewayRoutes } from './gateways.ts';
import { payerRoutes } from './payer.ts';
import { paymentRoutes } from './payments.ts';
import { sandboxRoutes } from './sandbox.ts';

/** The one table of routes. A row's key is its name everywhere: `operationId`, links, handlers. */
export const routes = {
  ...applicationRoutes,
  ...paymentRoutes,
  ...payerRoutes,
  ...sandboxRoutes,
  ...gatewayRoutes,
  ...documentRoutes,
} as const satisfies Record<string, Route>;

export type Routes = typeof routes;

/** One handler for each row; a missing one, or one that answers what its row does not say, does not compile. */
export type Handlers = { [Name in keyof Routes]: Handler<Routes[Name]> };
