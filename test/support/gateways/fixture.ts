import { randomBytes, randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import { newPaymentId, refundId } from '../../../contract/ids.ts';
import type { RefundFailureCode } from '../../../contract/refund-failure-codes.ts';
import type { Money } from '../../../gateways/amount.ts';
import type {
  Account,
  GatewayRefund,
  GatewayStatus,
  KnownRefund,
  GatewayAdapter,
  ReturnHint,
} from '../../../gateways/gateway.ts';
import { GatewayUnavailable } from '../../../gateways/errors.ts';
import { createGatewayDispatchers, type HttpOptions } from '../../../gateways/http.ts';
import { createAdapters } from '../../../gateways/adapters.ts';
import { sealCredentials } from '../../../gateways/registry.ts';
import type { SandboxTools } from '../../../gateways/sandbox.ts';
import { createSecretBox, type SecretBox } from '../../../postgres/secrets/secret-box.ts';
import type { Provider } from '../../fakes/server.ts';

/** The expected status; `no_answer`: the call throws GatewayUnavailable. */
export type Expected = Partial<GatewayStatus> | 'no_answer';

/** A situation at the provider, and what the adapter returns in it. */
export interface Case<P> {
  name: string;
  arrange(provider: P, reference: string): void | Promise<void>;
  inquire: Expected;
  verify: Expected;
}

/** A situation of a payment's refunds at the provider. */
export type RefundCase<P, Expectation> = [
  name: string,
  arrange: (provider: P, reference: string) => void | Promise<void>,
  expected: Expectation,
];

/** A way to refuse a call, and our answer. `no_answer`: the call throws, since the provider may have acted on it. */
export type RefusalCase<P> = [
  name: string,
  arrange: (provider: P) => void,
  expected: object | 'no_answer',
];

/** The refunds of a provider whose capabilities have some. */
export interface RefundFixture<P> {
  kind: 'sandbox' | 'live';
  /** Its refunds carry our id, although it is not keyed. */
  carriesOurId?: true;
  /** The payment's refunds in the provider's book, as they were on the wire. */
  book(provider: P, reference: string): Promise<{ amount: number }[]> | { amount: number }[];
  atDashboard(provider: P, reference: string, wireAmount: number): unknown;
  /** Every status of a refund that the provider took on. */
  states: RefundCase<P, Partial<KnownRefund>>[];
  /** Every way to refuse one, with our code. `no_answer`: the call throws, since the money may be on its way. */
  refusals: RefundCase<P, RefundFailureCode | 'no_answer'>[];
  /** Back to ordinary after a case. */
  reset?(provider: P): void;
  /** The paths of the calls, for a provider with HTTP, and what only the body of a refund has. */
  paths?: { refund: RegExp; list: RegExp; body?: RegExp };
}

export interface ProviderFixture<P extends Provider> {
  driver: string;
  credentials: { sandbox: object; live?: object };
  /** An ordinary amount. */
  money: Money;
  /** A reference that the provider does not have. */
  unknown: string;
  /** Captured money that is not verified goes back after this time; null if it does not, or if unknown. */
  verifyWindowSeconds: number | null;
  start(mode?: 'sandbox' | 'live'): Promise<P>;
  /** Every state, every failure code, and every way in which a verification ends. */
  cases: Case<P>[];
  /** Every way to refuse an opening, and the reversal of a payment that is paid. */
  openings?: RefusalCase<P>[];
  reversals?: RefusalCase<P>[];
  /** Our amounts, and the same on the wire. */
  wire: [Money, Money][];
  /** Amounts that a create rejects, with the rule. */
  rejected: [Money, string][];
  /** The expected hint of a return with and without a payment, for a driver that parses it. */
  hints?: Record<'paid' | 'unpaid', ReturnHint>;
  /** Credentials that do not fit the account's kind. */
  guards: [string, Account['kind'], object][];
  /** For a driver with `readProof`. */
  proof?: {
    /** The field of a return that has the proof, and those that name the payment: one of them is enough. */
    field: string;
    names: readonly string[];
    /** True: the provider shows no payment by its reference any more, so that the proof alone leads to one. */
    forget?(provider: P, does: boolean): void;
  };
  /**
   * The paths of the calls, for a provider with HTTP, or method and path, as `/^DELETE /`. The defaults of the last two
   * are the first call that the adapter makes then.
   */
  paths?: { open: RegExp; inquire: RegExp; verify: RegExp; expire?: RegExp; reverse?: RegExp };
  refunds?: RefundFixture<P>;
  /** The collaborators of the sandbox driver. */
  tools?: (provider: P) => SandboxDeps;
  /** Reads the payment at the provider. The default reads its `book`. */
  entry?: (provider: P, reference: string) => Promise<Money & { verified: number }>;
}

export const newRefundId = (): string => refundId([randomUUID()]);

/** A refund that the provider has not been told of. */
export const aGatewayRefund = (amount: number, isReversible = false): GatewayRefund => ({
  ...{ id: newRefundId(), amount, timesTold: 0, toldAt: null, isReversible },
});

export const returnUrl = 'https://pay.example/api/v1/payments/PAY_1/return';

const secretBox = createSecretBox({ currentId: 'k', keys: new Map([['k', randomBytes(32)]]) });
// It has no end: files of tests share it.
const { dispatcherOf } = createGatewayDispatchers();

type SandboxDeps = Pick<SandboxTools, 'sandboxPayments' | 'sandboxRefunds' | 'publicBaseUrl'>;
const notCalled = async (): Promise<never> => {
  throw new Error('This driver does not use the sandbox');
};
const noSandbox: SandboxDeps = {
  sandboxPayments: {
    open: notCalled,
    verify: notCalled,
    get: notCalled,
    getDispute: notCalled,
    expire: notCalled,
  },
  sandboxRefunds: { tell: notCalled, list: notCalled, listBook: notCalled },
  publicBaseUrl: 'https://pay.example',
};

export interface AdapterOptions {
  tools?: SandboxDeps;
  allowLoopback?: boolean;
  now?: () => Date;
  openWith?: Pick<SecretBox, 'open'>;
  limits?: Pick<HttpOptions, 'callMs' | 'tryMs'>;
  sendWith?: HttpOptions['dispatcherOf'];
}

let orderNumbers = 1_700_000_000_000_000;
const nextOrderNumber = async () => ++orderNumbers;

const claims = new Map<string, string>();
/** As postgres/gateways/proofs.ts claims them. */
const claimProof = async (gateway: string, paymentId: string, proof: string): Promise<boolean> => {
  const key = `${gateway} ${proof}`;
  const holder = claims.get(key) ?? paymentId;
  claims.set(key, holder);
  return holder === paymentId;
};
const claimedProofs = async (gateway: string, paymentId: string): Promise<string[]> =>
  [...claims]
    .filter(([key, holder]) => holder === paymentId && key.startsWith(`${gateway} `))
    .map(([key]) => key.slice(gateway.length + 1));

/** Makes an adapter as the worker does: from a recorded account with sealed credentials. */
export const adapterOf = (
  driver: string,
  { kind, credentials }: Pick<Account, 'kind'> & { credentials: object },
  {
    tools = noSandbox,
    allowLoopback = true,
    now = () => new Date(),
    openWith = secretBox,
    limits = {},
    sendWith = dispatcherOf,
  }: AdapterOptions = {},
): GatewayAdapter => {
  const gatewayOf = createAdapters({
    orderNumber: nextOrderNumber,
    claimProof,
    claimedProofs,
    ...tools,
    ...limits,
    secretBox: openWith,
    dispatcherOf: sendWith,
    allowLoopback,
    now,
  });
  const boxes = { secretBox: () => secretBox, notificationBox: () => secretBox };
  const sealed = sealCredentials({ slug: 'account', driver, credentials }, boxes);
  return gatewayOf({
    ...{ gateway: 'account', driver, gatewayKind: kind },
    credentials: sealed.credentials,
    refundCredentials: sealed.refundCredentials ?? null,
  });
};

/** A payment as an adapter opens it. */
export const aGatewayPayment = (money: Money) => ({
  id: newPaymentId(),
  ...money,
  description: 'Two tickets',
  expiresAt: new Date(Date.now() + 3_600_000),
  returnUrl,
});

export const expectStatus = async (call: () => Promise<GatewayStatus>, expected: Expected) => {
  if (expected === 'no_answer') await expect(call()).rejects.toThrow(GatewayUnavailable);
  else expect(await call()).toMatchObject(expected);
};

/** What a call returns; `no_answer`: it throws GatewayUnavailable. */
export const answerOf = async (call: Promise<object> | undefined): Promise<unknown> => {
  try {
    return await call;
  } catch (error) {
    if (error instanceof GatewayUnavailable) return 'no_answer';
    throw error;
  }
};

/** A refusal as a call returns it. */
export const refusalOf = (expected: RefusalCase<unknown>[2]): unknown =>
  expected === 'no_answer' ? expected : { result: 'refused', ...expected };
