import type { z } from 'zod';
import type { FailureCode } from '../contract/failure-codes.ts';
import type { GatewayKind } from '../contract/gateway-account.ts';
import type { Redirect } from '../contract/payment.ts';
import type { CurrencyTerms } from './amount.ts';
import type { CallGateway, Target } from './call.ts';

/** What a gateway is told about a payment. Amount in minor units of the currency. */
export interface GatewayPayment {
  id: string;
  amount: number;
  currency: string;
  description: string | null;
  expiresAt: Date;
  /** Where the payer's browser comes back to: our own return page. */
  returnUrl: string;
}

/** A payment the gateway knows; the reference is from our record, never from a browser. */
export interface OpenedPayment extends GatewayPayment {
  reference: string;
}

/** In the gateway's own words, as far as it has any: see words.ts. */
interface Refused {
  result: 'refused';
  code: string | null;
  message: string | null;
}

export type Opening = { result: 'opened'; reference: string; redirect: Redirect } | Refused;

/** What a gateway says of a payment. `waiting`: the payer has not decided; `settling`: money is on its way. */
export type Answer =
  | {
      state: 'paid';
      amount: number;
      currency: string;
      trackingCode: string | null;
      /** First six digits, asterisks, last four; null where the gateway does not give them. */
      cardPanMasked: string | null;
    }
  | { state: 'failed'; failureCode: FailureCode; code: string | null; message: string | null }
  | { state: 'cancelled' | 'expired' | 'waiting' | 'processing' };

/** Of giving money back. It is repeated, up to three times, only after an inquiry that still shows it. */
export type Reversal = { result: 'reversed' } | Refused;

/** What claims to come from a gateway's server: the body as bytes, for they are what is signed. */
export interface Message {
  /** By its lower-case name. */
  header(name: string): string | undefined;
  body: Buffer;
}

/** What a message turned out to be. `refused`: nothing in it may be believed. */
export type Notification =
  | { result: 'refused' | 'irrelevant' }
  | { result: 'news'; reference: string; paymentId: string | null };

/**
 * One account at a payment provider, for one try: all of its calls together have 20 s.
 * A call throws {@link GatewayUnavailable} when there was no usable answer: that is never an outcome.
 */
export interface GatewayAdapter {
  /** May be repeated: the first one that is recorded stays, and payers are sent to that. */
  open(payment: GatewayPayment): Promise<Opening>;
  /** Confirms the payment where the payer has paid, and says how it stands. May be repeated. */
  verify(payment: OpenedPayment): Promise<Answer>;
  /** Says how it stands without changing anything; paid money that waits for verification is `settling`. */
  inquire(payment: OpenedPayment): Promise<Answer>;
  /** Makes it unpayable. False where the gateway refuses, so that it must be read again. */
  expire?(payment: OpenedPayment): Promise<boolean>;
  /** Gives the whole amount back. One attempt, then an inquiry: never repeated blindly. */
  reverse?(payment: OpenedPayment): Promise<Reversal>;
  /** References of payments that are paid and not verified. Not `complete`: there may be more. */
  listUnverified?(): Promise<{ references: string[]; complete: boolean }>;
}

/** What a payer's return says: a hint for the log and for who has cancelled, never proof. */
export type ReturnHint = 'paid' | 'unpaid' | 'cancelled' | 'nothing';

/** What a gateway can do and what it takes, as data. */
export interface Capabilities {
  /** Those it takes; a currency that is missing is refused at create. */
  currencies: ReadonlyMap<string, CurrencyTerms>;
  /** How long a payment may be open there. */
  expirySeconds: { min: number; max: number };
  /** Whether paid money that nobody verifies goes back by itself. */
  twoStepVerify: boolean;
  /** Whether an inquiry shows that money went back: if not, a lost answer to a reversal is not repeated. */
  tellsReversal: boolean;
}

export interface Account<Credentials = unknown> {
  slug: string;
  kind: GatewayKind;
  credentials: Credentials;
}

/** What adapters work with. */
export interface Tools {
  /** Calls to one provider, all within one try. @throws AccountProblem for an address that is not allowed */
  callsTo(target: Target): CallGateway;
  now: () => Date;
}

/** One payment provider: a file beside this one, and a line in the registry. */
export interface Driver<Needs extends Tools = Tools> {
  capabilities: Capabilities;
  /** For providers that tell something by the query of a return; a form that is posted is not read. */
  parseReturn?(query: URLSearchParams): ReturnHint;
  /**
   * For providers that tell us news. Checks the signature before anything is believed; what follows
   * is asked of the gateway. @throws AccountProblem
   */
  parseNotification?(message: Message, account: Account, now: Date): Notification;
  /** @throws AccountProblem for credentials that do not fit the driver or the account's kind */
  connect(account: Account, tools: Needs): GatewayAdapter;
}

interface Definition<Schema extends z.ZodType, Needs extends Tools> {
  capabilities: Capabilities;
  credentials: Schema;
  parseReturn?(query: URLSearchParams): ReturnHint;
  parseNotification?(message: Message, account: Account<z.output<Schema>>, now: Date): Notification;
  connect(account: Account<z.output<Schema>>, tools: Needs): GatewayAdapter;
}

/** A driver whose credentials are parsed before it sees them. */
export const defineDriver = <Schema extends z.ZodType, Needs extends Tools = Tools>({
  credentials: schema,
  connect,
  parseNotification,
  ...definition
}: Definition<Schema, Needs>): Driver<Needs> => ({
  ...definition,
  connect: (account, tools) => connect(parsedBy(schema, account), tools),
  ...(parseNotification && {
    parseNotification: (message, account, now) =>
      parseNotification(message, parsedBy(schema, account), now),
  }),
});

/** @throws AccountProblem */
const parsedBy = <Schema extends z.ZodType>(
  schema: Schema,
  { credentials, ...account }: Account,
): Account<z.output<Schema>> => {
  const parsed = schema.safeParse(credentials);
  if (parsed.success) return { ...account, credentials: parsed.data };
  // Only where it is wrong: a message could quote the secret.
  const wrong = new Set(
    parsed.error.issues.map(({ code, path }) => {
      if (code === 'unrecognized_keys') return 'there is a field that it does not know';
      return path.length > 0 ? `${path.join('.')} is missing or wrong` : 'they are no JSON object';
    }),
  );
  throw new AccountProblem(`The credentials do not fit the driver: ${[...wrong].join(', ')}`);
};

/** Timeout, 5xx or nonsense, or it could not be asked: it did not say anything that can be relied on. */
export class GatewayUnavailable extends Error {}

/** The account is not set up rightly, e.g. test credentials in a live account. Says no secret. */
export class AccountProblem extends GatewayUnavailable {}
