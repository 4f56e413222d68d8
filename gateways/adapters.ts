import type { RecordedAccount } from '../contract/gateway-account.ts';
import { AccountProblem, GatewayUnavailable } from './errors.ts';
import type { Account, GatewayAdapter } from './gateway.ts';
import type { HttpOptions } from './http.ts';
import { beginTry, createGatewayDispatchers } from './http.ts';
import type { Listener } from './observe.ts';
import { observed } from './observe.ts';
import { withoutEcho } from './redact.ts';
import type { SecretBox } from './registry.ts';
import { findDriver, joinCredentials, openCredentials, splitCredentials } from './registry.ts';
import type { SandboxTools } from './sandbox.ts';

export interface Deps
  extends Omit<SandboxTools, 'callsTo' | 'claimProof' | 'claimedProofs'>, HttpOptions {
  secretBox: SecretBox;
  claimProof(gateway: string, paymentId: string, proof: string): Promise<boolean>;
  claimedProofs(gateway: string, paymentId: string): Promise<string[]>;
}

/**
 * Connects an account for one try; the time of the try begins now. An account that cannot be used still
 * gets an adapter: its calls fail, so no outcome is decided, and a misconfigured one refuses to open.
 */
export const createAdapters = (deps: Deps): AdapterOf => {
  const connect = (account: RecordedAccount, tryMs: number | undefined): GatewayAdapter => {
    const { gateway: slug, gatewayKind: kind } = account;
    try {
      const driver = findDriver(account.driver);
      // A worker of a newer version may have it.
      if (!driver)
        throw new GatewayUnavailable(`There is no gateway driver named ${account.driver}`);
      const credentials = openCredentials(deps.secretBox, account);
      return driver.connect(
        { slug, kind, credentials },
        {
          ...deps,
          claimProof: (paymentId, proof) => deps.claimProof(slug, paymentId, proof),
          claimedProofs: (paymentId) => deps.claimedProofs(slug, paymentId),
          callsTo: beginTry(tryMs === undefined ? deps : { ...deps, tryMs }),
        },
      );
    } catch (error) {
      if (error instanceof GatewayUnavailable) return createUnusableAdapter(error);
      throw error;
    }
  };
  return (account, listener, tryMs) => {
    const adapter = withoutEchoes(connect(account, tryMs));
    return listener ? observed(adapter, listener) : adapter;
  };
};
/** @param tryMs for all calls of the try, where the usual time is too long */
export type AdapterOf = (
  account: RecordedAccount,
  listener?: Listener,
  tryMs?: number,
) => GatewayAdapter;

/** Keeps what a provider echoes of a payer out of records and logs. */
const withoutEchoes = (adapter: GatewayAdapter): GatewayAdapter => ({
  ...adapter,
  async open(payment) {
    const answer = await adapter.open(payment);
    const { payer } = payment;
    if (!payer || answer.result === 'opened') return answer;
    const [code, message] = [answer.code, answer.message].map((text) => withoutEcho(text, payer));
    return { ...answer, code: code ?? null, message: message ?? null };
  },
});

const createUnusableAdapter = (problem: GatewayUnavailable): GatewayAdapter => {
  const fail = async () => {
    throw problem;
  };
  return {
    async open() {
      if (!(problem instanceof AccountProblem)) throw problem;
      return { result: 'refused', code: 'account_problem', message: problem.message };
    },
    verify: fail,
    inquire: fail,
    // Present, so that a refund waits and does not end for lack of the function.
    reverse: fail,
    refund: fail,
    refunds: fail,
    book: fail,
  };
};

const notCalled = () => Promise.reject(new Error('Checking an account makes no calls'));

/** Why an account cannot work, by field and without a value. Calls no provider. */
export const problemWithAccount = (
  driverName: string,
  account: Account<object>,
  { allowLoopback }: Pick<HttpOptions, 'allowLoopback'>,
): string | undefined => {
  const driver = findDriver(driverName);
  if (!driver) return `There is no gateway driver named "${driverName}"`;
  try {
    const { own, refunds, notificationSecrets } = splitCredentials(driverName, account.credentials);
    if (notificationSecrets)
      driver.notifications?.check({ ...account, credentials: notificationSecrets });
    driver.connect(
      { ...account, credentials: joinCredentials(driverName, own, refunds) },
      {
        callsTo: beginTry({ ...createGatewayDispatchers(), allowLoopback }),
        sandboxPayments: {
          open: notCalled,
          verify: notCalled,
          get: notCalled,
          getDispute: notCalled,
          expire: notCalled,
        },
        sandboxRefunds: { tell: notCalled, list: notCalled, listBook: notCalled },
        orderNumber: notCalled,
        claimProof: notCalled,
        claimedProofs: notCalled,
        publicBaseUrl: '',
        now: () => new Date(),
      },
    );
    return undefined;
  } catch (error) {
    if (error instanceof AccountProblem) return error.message;
    throw error;
  }
};
