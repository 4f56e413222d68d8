import { loginRoutes } from './pages/login.ts';
import { overviewRoutes } from './pages/overview.ts';
import { paymentRoutes } from './pages/payments.ts';
import { settingsRoutes } from './pages/settings.ts';
import type { Deps, Route } from './request.ts';

/** Every page of the console. A test asks for each of them in every role and without a login. */
export const createRoutes = (deps: Deps): Route[] => [
  ...loginRoutes(deps),
  ...overviewRoutes(deps),
  ...paymentRoutes(deps),
  ...settingsRoutes(),
];
