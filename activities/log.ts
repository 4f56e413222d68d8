import type { Alert } from '../contract/alerts.ts';
import type { RecordedAccount } from '../contract/gateway-account.ts';
import type { Payment } from '../contract/payment.ts';
import type { Logger } from '../telemetry/log.ts';

/** The log of the activities. An error needs a person, so it carries the name of an alert. */
export interface Log extends Pick<Logger, 'info' | 'warn'> {
  error(facts: { alert: Alert; [fact: string]: unknown }, message: string): void;
}

type Alerting = Pick<Log, 'warn' | 'error'>;
type OfAccount = Pick<Payment, 'id' | 'application' | 'gateway'> &
  Pick<RecordedAccount, 'gatewayKind'>;

/**
 * Alerts admins about a payment. Money of a sandbox account is not real and an application can cause anything
 * there, so about its payments there is a warning in the log and no alert. Test payments use no other account.
 */
export const alertAbout = (
  logger: Alerting,
  { id, application, gateway, gatewayKind }: OfAccount,
  { alert, message, facts = {} }: { alert: Alert; message: string; facts?: object },
): void => {
  const line = { payment_id: id, application, gateway, ...facts };
  alertUnlessSandbox(logger, gatewayKind, { alert, message, facts: line });
};

/** The same about something else of an account. */
export const alertUnlessSandbox = (
  logger: Alerting,
  gatewayKind: OfAccount['gatewayKind'],
  { alert, message, facts }: { alert: Alert; message: string; facts: object },
): void => {
  if (gatewayKind === 'sandbox') logger.warn(facts, message);
  else logger.error({ ...facts, alert }, message);
};
