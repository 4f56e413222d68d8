import type { z } from 'zod';
import type { FailureCode } from '../contract/failure-codes.ts';
import type { GatewayKind } from '../contract/gateway-account.ts';
import type { Redirect } from '../contract/payment.ts';
import type { PaymentBounds } from './amount.ts';
import type { CallGateway, Target } from './call.ts';
import { AccountProblem } from './errors.ts';

/** The payment that a gateway opens. The amount is in minor units of the currency. */
export interface GatewayPayment {
  id: string;
  amount: number;
  currency: string;
  description: string | null;
  expiresAt: Date;
  /** Our return page, where the provider sends the payer's browser back to. */
  returnUrl: string;
}

/** A payment that exists at the gateway. The reference comes from our record, never from a browser. */
export interface OpenedPayment extends GatewayPayment {
  reference: string;
}

/** `code` and `message` are the provider's own, see redact.ts; null where it sends none. */
interface Refused {
  result: 'refused';
  code: string | null;
  message: string | null;
}

export type Opening =
  | {
      result: 'opened';
      reference: string;
      redirect: Redirect;
      /** In the sandbox, the payer acts by a test's plan, and comes back then, or never. */
      payer?: { returnsAt: Date | null } | null;
    }
  | Refused;

/**
 * The state of a payment at the gateway. `waiting`: the payer has not decided. `processing`: the money is
 * on its way, or was captured and waits for our verification.
 */
export type GatewayStatus =
  | {
      state: 'paid';
      amount: number;
      currency: string;
      trackingCode: string | null;
      /** First six digits, asterisks, last four; null where the gateway does not send them. */
      cardPanMasked: string | null;
    }
  | { state: 'failed'; failureCode: FailureCode; code: string | null; message: string | null }
  | { state: 'cancelled' | 'expired' | 'waiting' | 'processing' };

export type Reversal = { result: 'reversed' } | Refused;

/** A request that claims to come from a gateway's server. The signature covers the bytes of the body. */
export interface NotificationRequest {
  /** Takes the name in lower case. */
  header(name: string): string | undefined;
  body: Buffer;
}

/**
 * `rejected`: the signature is wrong. `ignored`: not about a payment's state. `changed`: verify the payment.
 * `closed`: nobody can pay it any more, which changes nothing for a payment that has ended.
 */
export type Notification =
  | { result: 'rejected' | 'ignored' }
  | { result: 'changed' | 'closed'; reference: string; paymentId: string | null };

/**
 * One account at a payment provider, for one try: all calls together may take 20 s.
 * Every call throws {@link GatewayUnavailable} without a usable answer, which is never an outcome.
 */
export interface GatewayAdapter {
  /** May be repeated. The first opening that is recorded counts: payers are sent to its page. */
  open(payment: GatewayPayment): Promise<Opening>;
  /** Confirms the money where the payer has paid, and returns the state. May be repeated. */
  verify(payment: OpenedPayment): Promise<GatewayStatus>;
  /** Returns the state and changes nothing. Captured money that waits for `verify` is `processing`. */
  inquire(payment: OpenedPayment): Promise<GatewayStatus>;
  /** Closes the payment, so that it cannot be paid. False where the gateway refuses: inquire again. */
  expire?(payment: OpenedPayment): Promise<boolean>;
  /** Returns the whole amount. Inquire before repeating it. */
  reverse?(payment: OpenedPayment): Promise<Reversal>;
  /** References of payments that are paid and not verified. `complete: false`: there may be more. */
  listUnverified?(): Promise<{ references: string[]; complete: boolean }>;
}

/** The claim in the query of a payer's return. A hint for the log and for the cancel link, never proof. */
export type ReturnHint = 'paid' | 'unpaid' | 'cancelled' | 'nothing';

/** The abilities of a gateway, as data. */
export interface Capabilities extends PaymentBounds {
  /** Captured money that is not verified goes back to the payer by itself. */
  twoStepVerify: boolean;
  /** An inquiry shows that the money was returned. Otherwise a reversal without an answer is not repeated. */
  reportsReversals: boolean;
}

export interface Account<Credentials = unknown> {
  slug: string;
  kind: GatewayKind;
  credentials: Credentials;
}

/** The collaborators of an adapter. */
export interface Tools {
  /** Calls one provider. @throws AccountProblem for a base URL that is not allowed */
  callsTo(target: Target): CallGateway;
  now: () => Date;
}

/** For providers that send notifications. */
export interface Notifications {
  /**
   * The fields of an account's credentials that only check signatures. A key of their own seals them: the API
   * has it, and can open no other credential.
   */
  secretFields: readonly string[];
  /** @throws AccountProblem for secrets that do not fit the driver */
  check(account: Account): void;
  /**
   * Checks the signature first. The account's credentials are the `secretFields`.
   * @throws AccountProblem
   */
  parse(request: NotificationRequest, account: Account, now: Date): Notification;
}

/** One payment provider: a file beside this one, and a line in the registry. */
export interface Driver<Needs extends Tools = Tools> {
  capabilities: Capabilities;
  /** For providers whose return has a query. The body of a posted form is not read. */
  parseReturn?(query: URLSearchParams): ReturnHint;
  notifications?: Notifications;
  /** @throws AccountProblem for credentials that do not fit the driver or the account's kind */
  connect(account: Account, tools: Needs): GatewayAdapter;
}

interface Definition<Schema extends z.ZodType, Secrets extends z.ZodObject, Needs extends Tools> {
  capabilities: Capabilities;
  credentials: Schema;
  parseReturn?(query: URLSearchParams): ReturnHint;
  notifications?: {
    secrets: Secrets;
    parse(
      request: NotificationRequest,
      account: Account<z.output<Secrets>>,
      now: Date,
    ): Notification;
  };
  connect(account: Account<z.output<Schema>>, tools: Needs): GatewayAdapter;
}

/** Defines a driver that gets its credentials parsed by a schema. */
export const defineDriver = <
  Schema extends z.ZodType,
  Secrets extends z.ZodObject,
  Needs extends Tools = Tools,
>({
  credentials: schema,
  connect,
  notifications,
  ...definition
}: Definition<Schema, Secrets, Needs>): Driver<Needs> => ({
  ...definition,
  connect: (account, tools) => connect(parseCredentials(schema, account), tools),
  ...(notifications && {
    notifications: {
      secretFields: Object.keys(notifications.secrets.shape),
      check: (account) => void parseCredentials(notifications.secrets, account),
      parse: (request, account, now) =>
        notifications.parse(request, parseCredentials(notifications.secrets, account), now),
    },
  }),
});

/** @throws AccountProblem */
const parseCredentials = <Schema extends z.ZodType>(
  schema: Schema,
  { credentials, ...account }: Account,
): Account<z.output<Schema>> => {
  const parsed = schema.safeParse(credentials);
  if (parsed.success) return { ...account, credentials: parsed.data };
  // Field names only: zod's messages could quote the secret.
  const fields = new Set(
    parsed.error.issues.map(({ code, path }) => {
      if (code === 'unrecognized_keys') return 'there is an unknown field';
      return path.length > 0 ? `${path.join('.')} is missing or wrong` : 'not a JSON object';
    }),
  );
  throw new AccountProblem(`The credentials do not fit the driver: ${[...fields].join(', ')}`);
};
