import { randomBytes } from 'node:crypto';
import { afterAll, expect } from 'vitest';
import { newPaymentId } from '../../../contract/ids.ts';
import type { Money } from '../../../gateways/amount.ts';
import type { Account, GatewayStatus, GatewayAdapter, ReturnHint } from '../../../gateways/gateway.ts';
import { GatewayUnavailable } from '../../../gateways/errors.ts';
import type { HttpOptions } from '../../../gateways/http.ts';
import { createGatewayDispatcher } from '../../../gateways/http.ts';
import { createAdapters } from '../../../gateways/adapters.ts';
import type { SandboxTools } from '../../../gateways/sandbox.ts';
import type { SecretBox } from '../../../postgres/secret-box.ts';
import { createSecretBox } from '../../../postgres/secret-box.ts';
import type { Provider } from '../../fakes/server.ts';

/** What an answer is to be, or that there is to be none. */
export type Expected = Partial<GatewayStatus> | 'no_answer';

/** A thing that happens at the provider, and what the adapter makes of it. */
export interface Scene<P> {
  what: string;
  play(provider: P, reference: string): void | Promise<void>;
  inquire: Expected;
  verify: Expected;
}

export interface Subject<P extends Provider> {
  driver: string;
  credentials: { sandbox: object; live?: object };
  /** An ordinary amount of it. */
  money: Money;
  /** A reference that it did not give out. */
  unknown: string;
  /** Paid money that nobody verifies goes back after this; null where it does not, or nobody says when. */
  verifyWindowSeconds: number | null;
  start(mode?: 'sandbox' | 'live'): Promise<P>;
  /** Each normalised state, each failure code and each way a verification ends. */
  scenes: Scene<P>[];
  /** Our amount, and as it has to be on the wire. */
  wire: [Money, Money][];
  /** What a create refuses, by which rule. */
  refused: [Money, string][];
  /** What a return says of who has paid and of who has not, to a driver that reads it. */
  hints?: Record<'paid' | 'unpaid', ReturnHint>;
  /** Credentials that do not fit the kind of the account. */
  guards: [string, Account['kind'], object][];
  /** Where opening, inquiring and verifying go, for a provider that speaks HTTP. */
  paths?: { open: RegExp; inquire: RegExp; verify: RegExp };
  /** Parts of the provider that stand behind the sandbox. */
  tools?: (provider: P) => Behind;
  /** What the provider's books say; its `book` where it has one. */
  entry?: (provider: P, reference: string) => Promise<Money & { verified: number }>;
}

export const returnUrl = 'https://pay.example/api/v1/payments/PAY_1/return';

const secretBox = createSecretBox({ currentId: 'k', keys: new Map([['k', randomBytes(32)]]) });
const dispatcher = createGatewayDispatcher();
afterAll(() => dispatcher.destroy());

type Behind = Pick<SandboxTools, 'sandboxPayments' | 'publicBaseUrl'>;
const notThere = async (): Promise<never> => {
  throw new Error('This gateway has nothing to do with the sandbox');
};
const noSandbox: Behind = {
  sandboxPayments: { open: notThere, verify: notThere, get: notThere, expire: notThere },
  publicBaseUrl: 'https://pay.example',
};

/** An adapter as the worker makes it: from a recorded account with sealed credentials. */
export const adapterOf = (
  driver: string,
  { kind, credentials }: Pick<Account, 'kind'> & { credentials: object },
  {
    tools = noSandbox,
    allowLoopback = true,
    now = () => new Date(),
    openedBy = secretBox,
    limits = {},
    through = dispatcher,
  }: {
    tools?: Behind;
    allowLoopback?: boolean;
    now?: () => Date;
    openedBy?: Pick<SecretBox, 'open'>;
    limits?: Pick<HttpOptions, 'callMs' | 'tryMs'>;
    through?: HttpOptions['dispatcher'];
  } = {},
): GatewayAdapter => {
  const gatewayOf = createAdapters({
    ...tools,
    ...limits,
    secretBox: openedBy,
    dispatcher: through,
    allowLoopback,
    now,
  });
  const sealed = secretBox.seal(JSON.stringify(credentials), 'gateway:account');
  return gatewayOf({ gateway: 'account', driver, gatewayKind: kind, credentials: sealed });
};

export const aPayment = (money: Money) => ({
  id: newPaymentId(),
  ...money,
  description: 'Two tickets',
  expiresAt: new Date(Date.now() + 3_600_000),
  returnUrl,
});

export const meets = async (call: () => Promise<GatewayStatus>, expected: Expected) => {
  if (expected === 'no_answer') await expect(call()).rejects.toThrow(GatewayUnavailable);
  else expect(await call()).toMatchObject(expected);
};
