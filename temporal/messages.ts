import type { CancelledBy, VerificationResult } from '../contract/status.ts';

/**
 * The names and inputs that workers and clients exchange through Temporal. Workflows load this file, so
 * it imports nothing that the workflow sandbox does not allow.
 */
export const paymentsQueue = 'payments';
export const webhooksQueue = 'webhooks';
/** The workers of webhooks serve it, with slots of its own: a mail server in trouble holds none of a delivery. */
export const noticesQueue = 'notices';

export const paymentWorkflow = 'payment';
export const latePaymentWorkflow = 'latePayment';
export const refundWorkflow = 'refund';
export const eventWorkflow = 'event';
export const sweeperWorkflow = 'sweeper';
export const noticesWorkflow = 'notices';
export const replayWorkflow = 'replay';
export const replayManyWorkflow = 'replayMany';
export const webhookTestWorkflow = 'webhookTest';
export const compareAccountsWorkflow = 'compareAccounts';
export const compareAccountDayWorkflow = 'compareAccountDay';

/** Update of the refund workflow: work on the refund now, and return when it has ended. */
export const finishRefundUpdate = 'finish';
/** Update of the payment workflow: verify the payment and return the result. */
export const verifyUpdate = 'verify';
/** Update of the payment workflow: call the payment off if nobody has paid it, and return the result. */
export const cancelUpdate = 'cancel';
/**
 * Signal of a payment's and a refund's workflow: it may have changed at the gateway, ask soon. It may have a
 * `RecheckRequest`; that of a late payment may have the earliest time, in ms since 1970.
 */
export const recheckSignal = 'recheck';
/** Signal of the payment workflow: another payment has paid the order, so end this one unless somebody has paid it. */
export const callOffSignal = 'callOff';
/** Signal of every workflow that delivers: the next attempt of the delivery is due now. */
export const deliverSignal = 'deliver';

export interface PaymentInput {
  id: string;
  gateway: string;
  /** Minor units. */
  amount: number;
  currency: string;
  /** ISO 8601. */
  expiresAt: string;
}

export interface RefundInput {
  id: string;
  paymentId: string;
}

export interface EventInput {
  /** The payment's, or that of a link without one. */
  id: string;
  eventId: string;
}

export interface VerifyRequest {
  /** The payer has come back: without an outcome the payment becomes `processing`. */
  returned: boolean;
  /** The payer came back by the gateway's cancel link: close the payment there if nobody has paid. */
  cancelled?: boolean;
  /** Names the request. A result has the name of the request whose inquiry it is, so who shares it can tell. */
  asker?: string;
  /** The gateway has reported a change since the last inquiry began: if the payment has ended, it may hold money. */
  reported?: boolean;
}

/** The result of an update `verify`. */
export type SharedResult = VerificationResult & Pick<VerifyRequest, 'asker'>;

export interface RecheckRequest {
  /** It is of no interest once the payment has ended: it brings no money. */
  unlessEnded?: boolean;
}

/** Its reason is free text, which Temporal would keep: the API writes it to Postgres first. */
export interface CancelRequest {
  /** `order`: another payment has paid it. */
  by: Exclude<CancelledBy, 'payer'> | 'order';
}

export interface ReplayInput {
  eventId: string;
  /** The round that the caller has seen: the replay begins the next one, goes on with a failing one, or does nothing. */
  round: number;
}

/** `begun`: the next attempt is due then (ISO 8601), of the next round or of a failing one. `unchanged`: it was before. */
export type ReplayResult = { result: 'begun'; nextAttemptAt: string } | { result: 'unchanged' };

export interface ReplayManyInput {
  replayId: string;
}

export interface WebhookTestInput {
  testId: string;
}

/** The workflow that compares a day of a gateway. */
export const accountDayWorkflowId = ({ gateway, day }: AccountDayInput): string =>
  `ACCOUNT_${gateway}_${day}`;

/** A day of a gateway. The rest is where a continued run goes on. */
export interface AccountDayInput {
  gateway: string;
  /** YYYY-MM-DD in the time zone of the account. */
  day: string;
  stage?: 'list' | 'ask';
  after?: string | null;
  hasList?: boolean;
  read?: ReadPages;
}

/** The position in a gateway's list, so that a list without an end is noticed. */
export interface ReadPages {
  /** When the reading began, by Postgres. */
  since: string;
  pages: number;
  /** A position that must not come again. It moves on while the list grows. */
  mark: string | null;
}

export interface LatePaymentInput {
  /** The payment's id. */
  id: string;
  /** When to stop asking the gateway, in ms since 1970. A continued run gets it from the run before. */
  giveUpAt?: number;
  /** The earliest time of the first inquiry, in ms since 1970, unless a signal asks for a sooner one. */
  askAt?: number;
}

/** The workflows as their callers see them; workflows/index.ts checks that they are these. */
export type Workflows = {
  payment(input: PaymentInput): Promise<void>;
  latePayment(input: LatePaymentInput): Promise<void>;
  refund(input: RefundInput): Promise<void>;
  event(input: EventInput): Promise<void>;
  sweeper(): Promise<void>;
  notices(): Promise<void>;
  replay(input: ReplayInput): Promise<ReplayResult>;
  replayMany(input: ReplayManyInput): Promise<void>;
  webhookTest(input: WebhookTestInput): Promise<void>;
  compareAccounts(): Promise<void>;
  compareAccountDay(input: AccountDayInput): Promise<number>;
};
