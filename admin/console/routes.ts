import { actionRoutes } from './actions.ts';
import { modeRoutes } from './mode.ts';
import { ownPageActions, ownPageRoutes } from './pages/own-page.ts';
import { accountDifferenceActions } from './pages/account-differences.ts';
import { accountsRoutes } from './pages/accounts.ts';
import { applicationActions } from './pages/application-actions.ts';
import { applicationSettings } from './pages/application-settings.ts';
import { applicationRoutes } from './pages/applications.ts';
import { attentionRoutes } from './pages/attention.ts';
import { auditRoutes } from './pages/audit.ts';
import { deliveryRoutes } from './pages/deliveries.ts';
import { disputePageRoutes } from './pages/dispute.ts';
import { disputeRoutes } from './pages/disputes.ts';
import { eventActions } from './pages/event-actions.ts';
import { eventRoutes } from './pages/events.ts';
import { gatewayActions, gatewayRoutes } from './pages/gateways.ts';
import { gatewayPageRoutes } from './pages/gateway.ts';
import { giveBackRoutes } from './pages/give-back.ts';
import { linkActions, linkRoutes } from './pages/links.ts';
import { loginRoutes } from './pages/login.ts';
import { noticeActions } from './pages/notices.ts';
import { orderActions } from './pages/order-actions.ts';
import { orderRoutes } from './pages/order.ts';
import { overviewRoutes } from './pages/overview.ts';
import { passkeyLoginRoutes } from './pages/passkey-login.ts';
import { paymentActions, skipAction } from './pages/payment-actions.ts';
import { paymentRoutes } from './pages/payment.ts';
import { paymentListRoutes } from './pages/payments.ts';
import { payoutRoutes } from './pages/payouts.ts';
import { peopleActions, peopleRoutes } from './pages/people.ts';
import { providerLoginRoutes } from './pages/provider-login.ts';
import { refundActions } from './pages/refund-actions.ts';
import { refundPageRoutes } from './pages/refund.ts';
import { refundRuleActions, refundRuleRoutes } from './pages/refund-rules.ts';
import { refundRoutes } from './pages/refunds.ts';
import { createReconcile } from './pages/reconcile.ts';
import { replayActions, replayRoutes } from './pages/replays.ts';
import { requestRoutes } from './pages/requests.ts';
import { searchRoutes } from './pages/search.ts';
import { settingsRoutes } from './pages/settings.ts';
import { viewRoutes } from './pages/views.ts';
import type { Deps, Route } from './request.ts';
import { createWaiting } from './waiting.ts';

/** Every page of the console. A test asks for each of them in every role and without a login. */
export const createRoutes = (deps: Deps): Route[] => {
  const reconcile = createReconcile(deps);
  const waiting = createWaiting(deps.waitingAfterMs);
  return [
    ...passkeyLoginRoutes(deps),
    ...providerLoginRoutes(deps),
    ...loginRoutes(deps),
    ...overviewRoutes(deps),
    ...attentionRoutes(deps),
    ...paymentListRoutes(deps),
    ...paymentRoutes(deps),
    ...orderRoutes(deps),
    ...refundRoutes(deps),
    ...refundRuleRoutes,
    ...refundPageRoutes(deps),
    ...disputeRoutes(deps),
    ...disputePageRoutes(deps),
    ...linkRoutes(deps),
    ...giveBackRoutes,
    ...payoutRoutes,
    ...accountsRoutes(deps),
    ...deliveryRoutes(deps),
    ...replayRoutes,
    ...eventRoutes(deps),
    ...applicationRoutes(deps),
    ...requestRoutes(deps),
    ...gatewayRoutes,
    ...gatewayPageRoutes(deps),
    ...reconcile.routes,
    ...auditRoutes(deps),
    ...peopleRoutes,
    ...ownPageRoutes(deps),
    ...searchRoutes(deps),
    ...settingsRoutes(),
    ...modeRoutes,
    ...viewRoutes(deps),
    waiting.route,
    ...actionRoutes(waiting, [
      ...paymentActions,
      ...orderActions,
      ...eventActions(deps),
      ...(deps.skipsTime ? [skipAction] : []),
      ...refundActions,
      ...refundRuleActions,
      ...linkActions,
      ...accountDifferenceActions,
      ...replayActions,
      ...applicationActions,
      ...applicationSettings,
      ...noticeActions,
      ...gatewayActions,
      ...reconcile.actions,
      ...peopleActions,
      ...ownPageActions(deps),
    ]),
  ];
};
