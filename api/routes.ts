import type { Handler, Route } from './http/route.ts';
import { applicationRoutes } from './auth/routes.ts';
import { documentRoutes } from './openapi/routes.ts';
import { gatewayRoutes } from './gateways/routes.ts';
import { payerRoutes } from './payer/routes.ts';
import { paymentRoutes } from './payments/routes.ts';
import { sandboxRoutes } from './payer/sandbox-routes.ts';

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
