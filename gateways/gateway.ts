import type { z } from 'zod';
import type { Balance, BookEntry, StatementLine } from '../contract/book-entry.ts';
import type { KnownDispute } from '../contract/dispute.ts';
import type { FailureCode } from '../contract/failure-codes.ts';
import type { ReturnTime } from '../contract/payer-advice.ts';
import type { GatewayKind } from '../contract/gateway-account.ts';
import type { Payer } from '../contract/payer.ts';
import type { Redirect } from '../contract/payment.ts';
import type { KnownPayout, ListedPayout } from '../contract/payout.ts';
import type { RefundFailureCode } from '../contract/refund-failure-codes.ts';
import type { ReportedFee } from '../contract/reported-fee.ts';
import type { PaymentBounds } from './amount.ts';
import type { CallGateway, Target } from './call.ts';
import { AccountProblem } from './errors.ts';

/** The payment that a gateway opens. The amount is in minor units of the currency. */
export interface GatewayPayment {
  id: string;
  amount: number;
  currency: string;
  description: string | null;
  /** Whom the payer pays, if that has a name. */
  displayName?: string | null;
  expiresAt: Date;
  /** Our return page, where the provider sends the payer's browser back to. */
  returnUrl: string;
  /** The payer as the application knows them, for an opening. */
  payer?: Payer | null;
  /**
   * For an opening at a driver with `takesReports`: the provider's servers may post there that this payment changed. Others
   * cannot guess it.
   */
  reportUrl?: string | undefined;
}

/** A payment that exists at the gateway. The reference comes from our record, never from a browser. */
export interface OpenedPayment extends GatewayPayment {
  reference: string;
  /** The provider's number of money that it has captured, also where the payment is not paid here. */
  trackingCode?: string | null;
  /** The proof that `readProof` took of the payer's last return: an argument of a call to the provider, and never a fact. */
  returnProof?: string | null;
}

/** `code` and `message` are the provider's own, see redact.ts; null where it sends none. */
interface Refused {
  result: 'refused';
  code: string | null;
  message: string | null;
}

export type OpenResult =
  | {
      result: 'opened';
      reference: string;
      redirect: Redirect;
      /** The answer about the paid payment counts more. */
      fee?: ReportedFee | undefined;
      /** In the sandbox, the payer acts by a test's plan, and comes back then, or never. */
      payer?: { returnsAt: Date | null } | null;
    }
  | (Refused & {
      /** Only for a code that says so for certain. Without it the refusal is about our account. */
      failureCode?: Extract<FailureCode, 'amount_not_accepted'>;
      /** It is about the data of the payer, so an opening without them may succeed. */
      isAboutPayer?: boolean;
    });

/**
 * The state of a payment at the gateway. `waiting`: the payer has not decided. `processing`: the money is
 * on its way, or was captured and waits for our verification. `unconfirmed`: it waits for that, and we may not verify.
 */
export type GatewayStatus =
  | {
      state: 'paid';
      amount: number;
      currency: string;
      trackingCode: string | null;
      /** First six digits, asterisks, last four; null where the gateway does not send them. */
      cardPanMasked: string | null;
      /** Undefined where the gateway reports none, as one whose book has it. */
      fee?: ReportedFee | undefined;
    }
  | {
      state: 'failed';
      failureCode: FailureCode;
      code: string | null;
      message: string | null;
      /** Of money that was captured, and has gone back since. */
      trackingCode?: string | null;
    }
  | { state: 'cancelled' | 'expired' | 'waiting' | 'processing' | 'unconfirmed' };

/**
 * Whether the gateway may take the money that a payer has paid and nobody has verified. Undefined: it may. A two-step
 * gateway asks between its inquiry and its verification, and answers `unconfirmed` after false.
 */
export type MayTake = (() => Promise<boolean>) | undefined;

/** `pending`: the gateway has taken it on, and an inquiry shows what becomes of it. */
export type Reversal = { result: 'reversed' } | { result: 'pending' } | Refused;

/** A refund that a gateway carries out. The amount is in minor units of the payment's currency. */
export interface GatewayRefund {
  /** Our id, and the idempotency key at a keyed gateway. */
  id: string;
  amount: number;
  /** The gateway was told so often before, and first at this time. */
  timesTold: number;
  toldAt: Date | null;
  /** It is the whole amount, inside the time of `capabilities.reversal`: the gateway may undo the payment instead. */
  isReversible: boolean;
}

/** A gateway's record of one refund of a payment. */
export interface KnownRefund {
  /** The gateway's own id. */
  reference: string;
  /** Our id, where the gateway carries it. Null also for a refund that was not made by us. */
  refundId: string | null;
  /** In minor units of the currency. */
  amount: number;
  currency: string;
  /** `succeeded` may still become `failed`, when the payer's bank sends the money back. */
  state: 'pending' | 'waiting_for_balance' | 'succeeded' | 'failed';
  /** Null unless it failed. */
  failureCode: RefundFailureCode | null;
  /** The provider's own, see redact.ts. */
  code: string | null;
  message: string | null;
  /** The number with which a payer finds the money at the bank. */
  bankReference: string | null;
  expectedAt: Date | null;
  createdAt: Date | null;
  /** In the sandbox, the bank sends the money back then by a test's plan: ask again. Others send a notification. */
  returnsAt?: Date | null;
}

/** `refused`: the gateway says for certain that it gives nothing back for this call. */
export type RefundAnswer =
  { result: 'accepted'; refund: KnownRefund } | (Refused & { failureCode: RefundFailureCode });

/**
 * What became of the credentials for refunds. `endsAt`: the account has no refunds from then on; null: not known.
 * `renewed`: the former ones may be void at once. `refused`: they cannot be renewed any more. `unanswered`: the gateway
 * may have renewed them.
 */
export type Renewal = { endsAt: Date | null } & (
  | { result: 'current' }
  /** As `capabilities.refund.credentials` takes them. */
  | { result: 'renewed'; refundCredentials: object }
  | { result: 'refused' | 'unanswered'; reason: string }
);

/**
 * A part of a gateway's book. `lines` are those in the currency of the balance, also those that are no entry. `next`
 * leads to the following part; null: this is the last one.
 */
export interface BookPage {
  entries: BookEntry[];
  lines: StatementLine[];
  next: string | null;
}

/** A part of the payouts of an account. `next` leads to the following part; null: this is the last one. */
export interface PayoutPage {
  payouts: ListedPayout[];
  next: string | null;
}

/** A request that claims to come from a gateway's server. The signature covers the bytes of the body. */
export interface NotificationRequest {
  /** Takes the name in lower case. */
  header(name: string): string | undefined;
  body: Buffer;
}

/**
 * `rejected`: the signature is wrong. `ignored`: not about a payment's state. `changed`: verify the payment.
 * `closed`: nobody can pay it any more, which changes nothing for a payment that has ended.
 * `refund_changed`: ask for the refunds of the payment with this tracking code. Our id is null for a refund that was not
 * made by us. `dispute_changed`: ask for its disputes.
 */
export type Notification =
  | { result: 'rejected' | 'ignored' }
  | { result: 'changed' | 'closed'; reference: string; paymentId: string | null }
  | {
      result: 'refund_changed';
      trackingCode: string;
      /** The gateway's id of the refund. */
      reference: string;
      refundId: string | null;
    }
  | { result: 'dispute_changed'; trackingCode: string };

/**
 * One account at a payment provider, for one try: all calls together may take 20 s.
 * Every call throws {@link GatewayUnavailable} without a usable answer, which is never an outcome.
 */
export interface GatewayAdapter {
  /** May be repeated. The first opening that is recorded counts: payers are sent to its page. */
  open(payment: GatewayPayment): Promise<OpenResult>;
  /** Confirms the money where the payer has paid, if it may be taken, and returns the state. May be repeated. */
  verify(payment: OpenedPayment, mayTake?: MayTake): Promise<GatewayStatus>;
  /** Returns the state and changes nothing. Captured money that waits for `verify` is `processing`. */
  inquire(payment: OpenedPayment): Promise<GatewayStatus>;
  /** Closes the payment, so that it cannot be paid. False where the gateway refuses: inquire again. */
  expire?(payment: OpenedPayment): Promise<boolean>;
  /** Returns the whole amount. Inquire before repeating it. */
  reverse?(payment: OpenedPayment): Promise<Reversal>;
  /**
   * Tells the gateway to give money back. Only a keyed gateway may be told again, with the same id. Without an
   * answer the money may be on its way: ask for the refunds.
   */
  refund?(payment: OpenedPayment, refund: GatewayRefund): Promise<RefundAnswer>;
  /**
   * Every refund of the payment that the gateway knows, also those made at its dashboard.
   * @param references the references of our refunds: a gateway may carry out one refund as several
   */
  refunds?(payment: OpenedPayment, references: readonly string[]): Promise<KnownRefund[]>;
  /**
   * Renews the credentials for refunds if they end soon, and throws nothing for a lost answer. One process at a time may
   * do it. For an account whose credentials end.
   */
  renew?(): Promise<Renewal>;
  /** Every dispute of money that was captured. A gateway without it has none that it reports. */
  disputes?(payment: OpenedPayment): Promise<KnownDispute[]>;
  /** References of payments that are paid and not verified. `complete: false`: there may be more. */
  listUnverified?(): Promise<{ references: string[]; complete: boolean }>;
  /**
   * Lists what moved the account's money at its own time from `from` until before `to`, in pages. It may have more: the comparison
   * takes what belongs to its day. Without a book each payment is asked about.
   */
  book?(period: { from: Date; to: Date }, after: string | null): Promise<BookPage>;
  /** The account's balance now, all of its lines included. Only for a gateway whose book has the newest lines first. */
  balance?(): Promise<Balance[]>;
  payout?(id: string): Promise<KnownPayout>;
  /** The ids of the statement's lines that a payout has paid out, in pages. The payout itself may be one. */
  payoutLines?(id: string, after: string | null): Promise<{ ids: string[]; next: string | null }>;
  /** The payouts since a time, in pages. For a gateway without a book, which would have them. */
  payouts?(since: Date, after: string | null): Promise<PayoutPage>;
}

/** The claim in the query of a payer's return. A hint for the log and for the cancel link, never proof. */
export type ReturnHint = 'paid' | 'unpaid' | 'cancelled' | 'nothing';

/** The abilities of a gateway, as data. */
export interface Capabilities extends PaymentBounds {
  /** Captured money that is not verified goes back to the payer by itself. */
  twoStepVerify: boolean;
  /** The longest time after which money of a payment that is not paid is usually back. Payers read it. */
  returnTime: ReturnTime;
  /** Its answers about a payment report the fee. False where its book has it. */
  reportsFees: boolean;
  /** An inquiry shows that the money was returned. Otherwise a reversal without an answer is not repeated. */
  reportsReversals: boolean;
  /** Within this time, less five minutes, after the payment, a refund of the whole amount is tried as a reversal; null: never. */
  reversal: { windowMs: number } | null;
  /** Null for a gateway that has no refunds. */
  refund: RefundTerms | null;
}

export interface RefundTerms {
  /** False: the whole amount only. */
  partial: boolean;
  /** The refunds that a payment can have. `one_at_a_time`: the next one when the one before has an answer. */
  several: 'parallel' | 'one_at_a_time' | 'once';
  /** The least amount, in minor units. */
  least: number;
  /** Since the payment was paid; null for no limit. */
  windowMs: number | null;
  /** Refunds carry our id, so the gateway may be told again. */
  keyed: boolean;
  /**
   * The field of an account's credentials without which the account has no refunds; null where it needs none.
   * The column `gateways.has_refund_credentials` says whether the account has it.
   */
  credentials: string | null;
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
  /** A number that no other opening has, for providers whose order ids are numbers: at most 16 digits. */
  orderNumber(): Promise<number>;
  /**
   * Claims what a provider lets us use for one payment alone, before the call that takes the money.
   * @returns false if another payment of the account has claimed it
   */
  claimProof(paymentId: string, proof: string): Promise<boolean>;
  /** Lists the payment's claims, for a call after a lost answer. */
  claimedProofs(paymentId: string): Promise<string[]>;
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
  /** For providers whose return has fields: a query, or a posted form. */
  parseReturn?(fields: URLSearchParams): ReturnHint;
  /**
   * For providers whose next call needs what only the payer's browser brings. Undefined unless the fields name our
   * payment and our reference. Anybody can send them.
   */
  readProof?(
    fields: URLSearchParams,
    payment: { id: string; reference: string },
  ): string | undefined;
  notifications?: Notifications;
  /** For providers that take an address for each payment, and post unsigned reports to it. */
  takesReports?: boolean;
  /** The page of a dispute at the provider, where a person answers it. */
  disputeUrl?(dispute: { gatewayReference: string; gatewayKind: GatewayKind }): string;
  /** @throws AccountProblem for credentials that do not fit the driver or the account's kind */
  connect(account: Account, tools: Needs): GatewayAdapter;
}

interface Definition<Schema extends z.ZodType, Secrets extends z.ZodObject, Needs extends Tools> {
  capabilities: Capabilities;
  credentials: Schema;
  parseReturn?(fields: URLSearchParams): ReturnHint;
  readProof?(
    fields: URLSearchParams,
    payment: { id: string; reference: string },
  ): string | undefined;
  takesReports?: boolean;
  disputeUrl?(dispute: { gatewayReference: string; gatewayKind: GatewayKind }): string;
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
    parsed.error.issues.map(({ code, path, message }) => {
      if (code === 'unrecognized_keys') return 'there is an unknown field';
      if (path.length === 0) return 'not a JSON object';
      const isNumber = code === 'invalid_type' && message.endsWith('string, received number');
      return `${path.join('.')} is ${isNumber ? 'a number, and must be a text in quotes' : 'missing or wrong'}`;
    }),
  );
  throw new AccountProblem(`The credentials do not fit the driver: ${[...fields].join(', ')}`);
};
