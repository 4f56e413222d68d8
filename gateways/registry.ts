import type { FieldError } from '../contract/errors.ts';
import type {
  NotificationAccount,
  RecordedAccount,
  SealedCredentials,
} from '../contract/gateway-account.ts';
import {
  credentialsOwner,
  notificationSecretsOwner,
  refundCredentialsOwner,
} from '../contract/ids.ts';
import type { Money } from './amount.ts';
import { findProblems } from './amount.ts';
import { GatewayUnavailable } from './errors.ts';
import type { Driver, Notification, NotificationRequest, ReturnHint } from './gateway.ts';
import { mollie } from './mollie.ts';
import { payping } from './payping.ts';
import type { SandboxTools } from './sandbox.ts';
import { sandbox } from './sandbox.ts';
import { sep } from './sep.ts';
import { stripe } from './stripe.ts';
import { vandar } from './vandar.ts';
import { zarinpal } from './zarinpal.ts';
import { zibal } from './zibal.ts';

/** All providers. Never rename a driver: the accounts in the database hold its name. */
const drivers: Readonly<Record<string, Driver<SandboxTools>>> = {
  sandbox,
  zarinpal,
  zibal,
  payping,
  stripe,
  vandar,
  mollie,
  sep,
};

export const driverNames = Object.keys(drivers);

/** @returns undefined for a driver that this version does not have */
export const findDriver = (name: string): Driver<SandboxTools> | undefined =>
  Object.hasOwn(drivers, name) ? drivers[name] : undefined;

/** `nothing` for a driver that this version does not have or that reads no return. */
export const parseReturn = (driver: string, fields: URLSearchParams): ReturnHint =>
  findDriver(driver)?.parseReturn?.(fields) ?? 'nothing';

/** The `fields` of VALIDATION_FAILED for a payment that the gateway does not take. */
export const findPaymentProblems = (
  driver: string,
  payment: Money & { expiresInSeconds: number },
  name?: string,
): FieldError[] => {
  const found = findDriver(driver);
  return found ? findProblems(found.capabilities, payment, name) : [];
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
  { gateway, driver, credentials, refundCredentials }: RecordedAccount,
): unknown => {
  const open = (sealed: string | null, owner: string) =>
    openJson(secretBox, { name: `The credentials of ${gateway}`, sealed, owner });
  const own = open(credentials, credentialsOwner(gateway));
  const refunds =
    refundCredentials === null ? null : open(refundCredentials, refundCredentialsOwner(gateway));
  return joinCredentials(driver, own, refunds);
};

/** The field of a driver's credentials that only its refunds need. */
const refundFieldOf = (driverName: string): string | null =>
  findDriver(driverName)?.capabilities.refund?.credentials ?? null;

const openJson = (
  secretBox: SecretBox,
  { name, sealed, owner }: { name: string; sealed: string | null; owner: string },
): object => {
  if (sealed === null) return {};
  try {
    // It was sealed as an object.
    return JSON.parse(secretBox.open(sealed, owner)) as object;
  } catch (error) {
    // Not the message of a SyntaxError: it quotes the text.
    const why =
      error instanceof Error && !(error instanceof SyntaxError) ? error.message : 'not JSON';
    throw new GatewayUnavailable(`${name} cannot be read: ${why}`);
  }
};

/**
 * Splits credentials by who may open them, and what only refunds need from the rest. `notificationSecrets` is undefined
 * without any; `refunds` is what was given, null: none.
 */
export const splitCredentials = (
  driverName: string,
  credentials: object,
): { own: object; notificationSecrets: object | undefined; refunds: unknown } => {
  const secretFields = new Set(findDriver(driverName)?.notifications?.secretFields);
  const refundField = refundFieldOf(driverName);
  const all = Object.entries(credentials);
  const secrets = all.filter(([name]) => secretFields.has(name));
  return {
    own: Object.fromEntries(
      all.filter(([name]) => !secretFields.has(name) && name !== refundField),
    ),
    notificationSecrets: secrets.length > 0 ? Object.fromEntries(secrets) : undefined,
    refunds: all.find(([name]) => name === refundField)?.[1],
  };
};

/** The credentials as the driver takes them. */
export const joinCredentials = (driverName: string, own: object, refunds: unknown): object => {
  const field = refundFieldOf(driverName);
  return field === null || refunds === undefined || refunds === null
    ? own
    : { ...own, [field]: refunds };
};

export interface Seals {
  /** @throws without SECRETS_KEY */
  secretBox: () => { seal(secret: string, owner: string): string };
  /** @throws without NOTIFICATIONS_KEY; called only for an account with such secrets */
  notificationBox: () => { seal(secret: string, owner: string): string };
}

/** Seals an account's credentials for the database. */
export const sealCredentials = (
  { slug, driver, credentials }: { slug: string; driver: string; credentials: object },
  { secretBox, notificationBox }: Seals,
): SealedCredentials => {
  const { own, refunds, notificationSecrets: secrets } = splitCredentials(driver, credentials);
  const seal = (part: unknown, owner: string) => secretBox().seal(JSON.stringify(part), owner);
  return {
    credentials: seal(own, credentialsOwner(slug)),
    refundCredentials:
      refunds === undefined || refunds === null
        ? refunds
        : seal(refunds, refundCredentialsOwner(slug)),
    notificationSecrets:
      secrets && notificationBox().seal(JSON.stringify(secrets), notificationSecretsOwner(slug)),
  };
};

/**
 * Parses a request that claims to come from a gateway; undefined for a gateway without notifications.
 * @param deps.notificationBox opens notification secrets and no other credentials
 * @throws GatewayUnavailable if the account cannot be used
 */
export const createNotificationReader =
  ({ notificationBox, now }: { notificationBox: SecretBox; now: () => Date }) =>
  (request: NotificationRequest, account: NotificationAccount): Notification | undefined => {
    const { gateway: slug, gatewayKind: kind } = account;
    const notifications = findDriver(account.driver)?.notifications;
    if (!notifications) return undefined;
    const credentials = openJson(notificationBox, {
      name: `The notification secrets of ${slug}`,
      sealed: account.notificationSecrets,
      owner: notificationSecretsOwner(slug),
    });
    return notifications.parse(request, { slug, kind, credentials }, now());
  };
export type NotificationReader = ReturnType<typeof createNotificationReader>;
