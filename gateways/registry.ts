import type { FieldError } from '../contract/errors.ts';
import type { RecordedAccount } from '../contract/gateway-account.ts';
import { credentialsOwner } from '../contract/ids.ts';
import type { Money } from './amount.ts';
import { problemsWith } from './amount.ts';
import type {
  Account,
  Driver,
  GatewayAdapter,
  Message,
  Notification,
  ReturnHint,
} from './gateway.ts';
import { AccountProblem } from './gateway.ts';
import type { HttpOptions } from './http.ts';
import { beginTry, createGatewayDispatcher } from './http.ts';
import type { Listener } from './observed.ts';
import { observed } from './observed.ts';
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

const uncalled = () => Promise.reject(new Error('The account is only looked at'));

/** Why an account cannot work, by field and without a value; nothing is called. */
export const problemWithAccount = (
  name: string,
  account: Account,
  { allowLoopback }: Pick<HttpOptions, 'allowLoopback'>,
): string | undefined => {
  const driver = driverOf(name);
  if (!driver) return `There is no gateway driver named "${name}"`;
  try {
    driver.connect(account, {
      callsTo: beginTry({ dispatcher: createGatewayDispatcher(), allowLoopback }),
      sandboxPayments: { open: uncalled, verify: uncalled, get: uncalled, expire: uncalled },
      publicBaseUrl: '',
      now: () => new Date(),
    });
    return undefined;
  } catch (error) {
    if (error instanceof AccountProblem) return error.message;
    throw error;
  }
};

/** What a gateway does not take of a wanted payment; nothing where its driver is not known here. */
export const amountProblems = (
  driver: string,
  wanted: Money & { expiresInSeconds: number },
): FieldError[] => {
  const known = driverOf(driver);
  return known ? problemsWith(known.capabilities, wanted) : [];
};

interface SecretBox {
  open(sealed: string, owner: string): string;
}

export interface Deps extends Omit<SandboxTools, 'callsTo'>, HttpOptions {
  secretBox: SecretBox;
}

/** @throws AccountProblem */
const credentialsOf = (
  secretBox: SecretBox,
  { gateway, credentials }: RecordedAccount,
): unknown => {
  if (credentials === null) return {};
  try {
    return JSON.parse(secretBox.open(credentials, credentialsOwner(gateway)));
  } catch {
    throw new AccountProblem('The credentials cannot be read');
  }
};

/**
 * Reads what claims to come from an account's gateway; undefined where that gateway tells no news.
 * @throws AccountProblem where the account is not set up rightly
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

/**
 * The adapter of an account, made for one try, whose time begins now. One that cannot be made
 * refuses to open payments and knows nothing of those that are open.
 */
export const createGatewayRegistry = (deps: Deps): GatewayRegistry => {
  const adapterOf = (account: RecordedAccount): GatewayAdapter => {
    const { gateway: slug, gatewayKind: kind } = account;
    try {
      const driver = driverOf(account.driver);
      if (!driver) throw new AccountProblem(`There is no gateway driver named ${account.driver}`);
      const credentials = credentialsOf(deps.secretBox, account);
      return driver.connect({ slug, kind, credentials }, { ...deps, callsTo: beginTry(deps) });
    } catch (error) {
      if (error instanceof AccountProblem) return unusable(error);
      throw error;
    }
  };
  return (account, listener) =>
    listener ? observed(adapterOf(account), listener) : adapterOf(account);
};
export type GatewayRegistry = (account: RecordedAccount, listener?: Listener) => GatewayAdapter;

const unusable = (problem: AccountProblem): GatewayAdapter => ({
  async open() {
    return { result: 'refused', code: 'account_problem', message: problem.message };
  },
  async verify() {
    throw problem;
  },
  async inquire() {
    throw problem;
  },
});
