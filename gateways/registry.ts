import type { FieldError } from '../contract/errors.ts';
import type { RecordedAccount } from '../contract/gateway-account.ts';
import { credentialsOwner } from '../contract/ids.ts';
import type { Money } from './amount.ts';
import { findProblems } from './amount.ts';
import { GatewayUnavailable } from './errors.ts';
import type { Driver, Notification, NotificationRequest, ReturnHint } from './gateway.ts';
import { payping } from './payping.ts';
import type { SandboxTools } from './sandbox.ts';
import { sandbox } from './sandbox.ts';
import { stripe } from './stripe.ts';
import { zarinpal } from './zarinpal.ts';
import { zibal } from './zibal.ts';

/** All providers. Never rename a driver: the accounts in the database hold its name. */
const drivers: Readonly<Record<string, Driver<SandboxTools>>> = {
  sandbox,
  zarinpal,
  zibal,
  payping,
  stripe,
};

/** @returns undefined for a driver that this version does not have */
export const findDriver = (name: string): Driver<SandboxTools> | undefined =>
  Object.hasOwn(drivers, name) ? drivers[name] : undefined;

/** `nothing` for a driver that this version does not have or that reads no return. */
export const parseReturn = (driver: string, query: URLSearchParams): ReturnHint =>
  findDriver(driver)?.parseReturn?.(query) ?? 'nothing';

/** The `fields` of VALIDATION_FAILED for a payment that the gateway does not take. */
export const findPaymentProblems = (
  driver: string,
  payment: Money & { expiresInSeconds: number },
): FieldError[] => {
  const found = findDriver(driver);
  return found ? findProblems(found.capabilities, payment) : [];
};

export interface SecretBox {
  open(sealed: string, owner: string): string;
}

/**
 * @throws GatewayUnavailable if they cannot be decrypted. Not an AccountProblem: the key may be missing
 * in this process only
 */
export const openCredentials = (
  secretBox: SecretBox,
  { gateway, credentials }: RecordedAccount,
): unknown => {
  if (credentials === null) return {};
  try {
    return JSON.parse(secretBox.open(credentials, credentialsOwner(gateway)));
  } catch (error) {
    // Not the message of a SyntaxError: it quotes the text.
    const why =
      error instanceof Error && !(error instanceof SyntaxError) ? error.message : 'not JSON';
    throw new GatewayUnavailable(`The credentials of ${gateway} cannot be read: ${why}`);
  }
};

/**
 * Parses a request that claims to come from a gateway; undefined for a gateway without notifications.
 * @throws GatewayUnavailable if the account cannot be used
 */
export const createNotificationReader =
  ({ secretBox, now }: { secretBox: SecretBox; now: () => Date }) =>
  (request: NotificationRequest, account: RecordedAccount): Notification | undefined => {
    const { gateway: slug, gatewayKind: kind } = account;
    const driver = findDriver(account.driver);
    if (!driver?.parseNotification) return undefined;
    const credentials = openCredentials(secretBox, account);
    return driver.parseNotification(request, { slug, kind, credentials }, now());
  };
export type NotificationReader = ReturnType<typeof createNotificationReader>;
