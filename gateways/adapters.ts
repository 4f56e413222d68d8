import type { RecordedAccount } from '../contract/gateway-account.ts';
import type { Account, GatewayAdapter } from './gateway.ts';
import { AccountProblem, GatewayUnavailable } from './gateway.ts';
import type { HttpOptions } from './http.ts';
import { beginTry, createGatewayDispatcher } from './http.ts';
import type { Listener } from './observe.ts';
import { observed } from './observe.ts';
import type { SecretBox } from './registry.ts';
import { credentialsOf, driverOf } from './registry.ts';
import type { SandboxTools } from './sandbox.ts';

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

export interface Deps extends Omit<SandboxTools, 'callsTo'>, HttpOptions {
  secretBox: SecretBox;
}

/**
 * The adapter of an account, made for one try, whose time begins now. Where it cannot be made nothing
 * is known of any payment, and an account that is set up wrongly refuses to open one.
 */
export const createAdapters = (deps: Deps): AdapterOf => {
  const adapterOf = (account: RecordedAccount): GatewayAdapter => {
    const { gateway: slug, gatewayKind: kind } = account;
    try {
      const driver = driverOf(account.driver);
      // Another worker may be of a newer version, and know it.
      if (!driver)
        throw new GatewayUnavailable(`There is no gateway driver named ${account.driver}`);
      const credentials = credentialsOf(deps.secretBox, account);
      return driver.connect({ slug, kind, credentials }, { ...deps, callsTo: beginTry(deps) });
    } catch (error) {
      if (error instanceof GatewayUnavailable) return unusable(error);
      throw error;
    }
  };
  return (account, listener) =>
    listener ? observed(adapterOf(account), listener) : adapterOf(account);
};
export type AdapterOf = (account: RecordedAccount, listener?: Listener) => GatewayAdapter;

const unusable = (problem: GatewayUnavailable): GatewayAdapter => ({
  async open() {
    if (!(problem instanceof AccountProblem)) throw problem;
    return { result: 'refused', code: 'account_problem', message: problem.message };
  },
  async verify() {
    throw problem;
  },
  async inquire() {
    throw problem;
  },
});
