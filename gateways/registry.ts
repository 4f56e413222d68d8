import type { FieldError } from '../contract/errors.ts';
import type { RecordedAccount } from '../contract/gateway-account.ts';
import { credentialsOwner } from '../contract/ids.ts';
import type { Money } from './amount.ts';
import { problemsWith } from './amount.ts';
import type { Driver, Message, Notification, ReturnHint } from './gateway.ts';
import { GatewayUnavailable } from './gateway.ts';
import { payping } from './payping.ts';
import type { SandboxTools } from './sandbox.ts';
import { sandbox } from './sandbox.ts';
import { stripe } from './stripe.ts';
import { zarinpal } from './zarinpal.ts';
import { zibal } from './zibal.ts';

/** Every provider there is. A name is for ever: accounts hold it. */
const drivers: Readonly<Record<string, Driver<SandboxTools>>> = {
  sandbox,
  zarinpal,
  zibal,
  payping,
  stripe,
};

/** @returns undefined for a driver this version does not know */
export const driverOf = (name: string): Driver<SandboxTools> | undefined =>
  Object.hasOwn(drivers, name) ? drivers[name] : undefined;

/** What a payer's return says; nothing where its driver is not known here, or reads no return. */
export const hintOf = (driver: string, query: URLSearchParams): ReturnHint =>
  driverOf(driver)?.parseReturn?.(query) ?? 'nothing';

/** What a gateway does not take of a wanted payment; nothing where its driver is not known here. */
export const amountProblems = (
  driver: string,
  wanted: Money & { expiresInSeconds: number },
): FieldError[] => {
  const known = driverOf(driver);
  return known ? problemsWith(known.capabilities, wanted) : [];
};

export interface SecretBox {
  open(sealed: string, owner: string): string;
}

/**
 * @throws GatewayUnavailable where they cannot be opened here: that is no problem of the account, e.g. a
 * key may be missing in this process alone
 */
export const credentialsOf = (
  secretBox: SecretBox,
  { gateway, credentials }: RecordedAccount,
): unknown => {
  if (credentials === null) return {};
  try {
    return JSON.parse(secretBox.open(credentials, credentialsOwner(gateway)));
  } catch (error) {
    // What is wrong with JSON is told with a piece of it.
    const why =
      error instanceof Error && !(error instanceof SyntaxError) ? error.message : 'no JSON';
    throw new GatewayUnavailable(`The credentials of ${gateway} cannot be read: ${why}`);
  }
};

/**
 * Reads what claims to come from an account's gateway; undefined where that gateway tells no news.
 * @throws GatewayUnavailable where the account cannot be used
 */
export const createNotificationReader =
  ({ secretBox, now }: { secretBox: SecretBox; now: () => Date }) =>
  (message: Message, account: RecordedAccount): Notification | undefined => {
    const { gateway: slug, gatewayKind: kind } = account;
    const driver = driverOf(account.driver);
    if (!driver?.parseNotification) return undefined;
    const credentials = credentialsOf(secretBox, account);
    return driver.parseNotification(message, { slug, kind, credentials }, now());
  };
export type NotificationReader = ReturnType<typeof createNotificationReader>;
