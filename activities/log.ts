import type { Alert } from '../contract/alerts.ts';
import type { Logger } from '../telemetry/log.ts';

/** The log of the activities. An error is what wants a person: it has the name of an alert. */
export interface Log extends Pick<Logger, 'info' | 'warn'> {
  error(facts: { alert: Alert; [fact: string]: unknown }, message: string): void;
}
