import {
  differenceState,
  movement,
  payoutLines,
  payoutStatus,
  statementLine,
} from './account-labels.ts';
import { accountDifferences } from '../../contract/account-difference.ts';
import type { ErrorClass } from '../../contract/attempt.ts';
import { errors, type ErrorCode } from '../../contract/errors.ts';
import type { EventKind } from '../../contract/event.ts';
import type { FailureCode, NextStep } from '../../contract/failure-codes.ts';
import type { GatewayKind } from '../../contract/gateway-account.ts';
import type { GatewayExchange } from '../../contract/gateway-exchange.ts';
import type { ReceiverState } from '../../contract/receiver.ts';
import type { NoticeKind, NoticeResult } from '../../contract/notice.ts';
import type {
  RefundMethod,
  RefundReason,
  RefundRequester,
  RefundStage,
  RefundStatus,
} from '../../contract/refund.ts';
import type { RefundFailureCode } from '../../contract/refund-failure-codes.ts';
import type { CancelledBy, RoundTrigger, Status } from '../../contract/status.ts';
import type { TokenMode, TokenScope } from '../../contract/token.ts';
import type { AttentionKind } from '../../postgres/admin/attention.ts';
import type { AuditAction, SubjectKind, Via } from '../../postgres/audit-log.ts';
import type { ConsoleRole, LoginVia } from '../../postgres/console/logins.ts';
import type { DeliveryState } from '../../postgres/webhooks/delivery-filter.ts';
import type { LatePaymentResult } from '../../postgres/payments/late-payments.ts';
import type { ReplayStatus } from '../../postgres/webhooks/replays.ts';
import { disputeStage, disputeStatus } from './dispute-labels.ts';
import { linkStatus, type secondAdmin } from './links/labels.ts';

const status: Record<Status, string> = {
  pending: 'pending',
  processing: 'processing',
  paid: 'paid',
  failed: 'failed',
  cancelled: 'cancelled',
  expired: 'expired',
};

const failure: Record<FailureCode, string> = {
  insufficient_funds: 'not enough funds',
  card_declined: 'card declined',
  invalid_card: 'card number not valid',
  expired_card: 'card expired',
  authentication_failed: 'payer not authenticated',
  limit_exceeded: 'above a limit of the card',
  card_not_supported: 'card not usable for this',
  suspected_fraud: 'suspected fraud',
  issuer_unavailable: 'card issuer not reachable',
  gateway_error: 'error of the gateway',
  merchant_configuration: 'gateway account not ready',
  amount_not_accepted: 'amount not accepted',
  amount_mismatch: 'another amount confirmed',
  payment_not_completed: 'not completed by the payer',
  order_already_paid: 'order paid by another payment',
  payment_reversed: 'money given back by the gateway',
  unknown: 'no known reason',
};

const nextStep: Record<NextStep, string> = {
  retry: 'pay again',
  other_card: 'pay with another card',
  call_bank: 'ask the bank, or pay with another card',
  later: 'pay again in a few minutes',
  shop: 'the shop has to put it right',
  nothing: 'nothing to do',
};

const delivery: Record<DeliveryState, string> = {
  undelivered: 'failing or exhausted',
  failing: 'failing',
  pending: 'pending',
  delivered: 'delivered',
  exhausted: 'exhausted',
  none: 'no webhook URL',
};

const notice: Record<NoticeKind, string> = {
  confirmation: 'asked to agree',
  failing: 'receiver fails',
  exhausted: 'webhooks exhausted',
  recovered: 'receiver works again',
  digest: 'daily reminder',
};

/** `unknown`: a crash came between the claim and the answer of the mail server. The mail is not sent again. */
const noticeResult: Record<NoticeResult | 'waiting', string> = {
  waiting: 'not sent yet',
  sent: 'sent',
  refused: 'refused by the mail server',
  failed: 'not sent: the mail server did not take it',
  unknown: 'perhaps sent',
};

/**
 * `none`: the application has no webhook URL. `unproven`: no event shows how it is. `doubtful`: attempts fail, and they are too
 * few to say that it does not accept events.
 */
const receiver: Record<ReceiverState | 'none' | 'unproven' | 'doubtful', string> = {
  ok: 'accepts events',
  unproven: 'no event to judge by',
  doubtful: 'does not accept every event',
  failing: 'does not accept events',
  exhausted: 'events have no attempt left',
  none: 'no webhook URL',
};

const attemptError: Record<ErrorClass | 'unknown', string> = {
  dns: 'name not found',
  connect: 'no connection',
  tls: 'TLS failed',
  timeout: 'no answer in time',
  reset: 'connection broken off',
  blocked: 'address not allowed',
  http_status: 'refused by the receiver',
  protocol: 'answer is no HTTP',
  no_url: 'no webhook URL',
  unknown: 'no known error',
};

const event: Record<EventKind, string> = {
  'payment.paid': 'payment paid',
  'payment.failed': 'payment failed',
  'payment.cancelled': 'payment cancelled',
  'payment.expired': 'payment expired',
  'refund.created': 'refund created',
  'refund.succeeded': 'refund succeeded',
  'refund.failed': 'refund failed',
  'dispute.opened': 'dispute opened',
  'dispute.updated': 'dispute updated',
  'dispute.closed': 'dispute closed',
  'link.paid': 'link paid',
  'link.expired': 'link expired',
};

const refundStatus: Record<RefundStatus, string> = {
  pending: 'pending',
  succeeded: 'succeeded',
  failed: 'failed',
};

const refundStage: Record<RefundStage | typeof secondAdmin, string> = {
  reserved: 'gateway not told yet',
  sent: 'gateway told, no answer yet',
  accepted: 'accepted by the gateway',
  waiting_for_balance: 'waits for balance at the gateway',
  by_hand: 'needs a decision',
  to_confirm: 'waits for a second admin',
};

const refundFailure: Record<RefundFailureCode, string> = {
  insufficient_balance: 'balance at the gateway too low',
  refund_window_over: 'too late to give back',
  not_refundable: 'not refundable at the gateway',
  already_refunded: 'given back before',
  disputed: 'disputed by the payer',
  returned_by_bank: "sent back by the payer's bank",
  merchant_configuration: 'gateway account not ready',
  gateway_refused: 'refused by the gateway',
  cancelled: 'called off',
  unknown: 'no known reason',
};

const refundReason: Record<RefundReason, string> = {
  requested_by_customer: 'the customer asked for it',
  duplicate: 'paid twice',
  fraudulent: 'fraud',
  other: 'another reason',
};

const requester: Record<RefundRequester, string> = {
  application: 'the application',
  admin: 'an admin',
  gateway: 'somebody at the gateway',
};

const refundMethod: Record<RefundMethod, string> = {
  refund: 'through the gateway',
  recorded: 'given back elsewhere',
};

const exchange: Record<GatewayExchange['operation'], string> = {
  open: 'the gateway was asked to open the payment',
  verify: 'the gateway was asked to confirm',
  inquire: 'the gateway was asked',
  expire: 'the gateway was asked to close the payment',
  reverse: 'the gateway was asked to reverse the money',
  refund: 'the gateway was told to give money back',
  list_refunds: 'the gateway was asked for its refunds',
  list_disputes: 'the gateway was asked for its disputes',
};

const exchangeResult: Record<GatewayExchange['result'], string> = {
  opened: 'opened',
  refused: 'refused',
  paid: 'paid',
  failed: 'failed',
  cancelled: 'cancelled',
  expired: 'expired',
  waiting: 'nobody has paid yet',
  processing: 'money on its way',
  unconfirmed: 'paid, not confirmed because of the order',
  reversed: 'reversed',
  pending: 'not decided yet',
  accepted: 'accepted',
  listed: 'answered',
  no_answer: 'no usable answer',
  error: 'error of the service',
};

const latePayment: Record<LatePaymentResult, string> = {
  returns: 'not verified: the gateway returns it by itself',
  reversed: 'reversed',
  by_hand: 'the gateway may still have it: check there',
};

/**
 * `payment_without_workflow`: an open payment whose workflow does not run.
 * `delivery_without_workflow`: an undelivered payment whose workflow does not run.
 * `late_payment_without_workflow`: late money was found, and its workflow does not run.
 * `refund_without_workflow`: a refund that has not ended, and that no person decides, whose workflow does not run.
 * `refund_totals_differ`: the sums of a payment are not those of its refunds. No statement of the service writes that.
 * `delivery_overdue`: more than 2 minutes late, although the workflow runs: the workers are behind.
 * `payment_overdue`: 20 minutes past its deadline, and its running workflow does not inquire. After a
 * restore, the workflow may be past an end that Postgres has lost. Reset it to its first task.
 * `end_without_delivery`: ended without an event or a delivery. No statement of the service writes that.
 * `workflow_without_payment`: in Temporal only.
 * docs/operating/reconciling.md explains each of them.
 */
const workflowDifference = {
  payment_without_workflow: 'open payment without a workflow',
  delivery_without_workflow: 'undelivered event without a workflow',
  late_payment_without_workflow: 'late payment without a workflow',
  refund_without_workflow: 'open refund without a workflow',
  refund_totals_differ: 'payment with other sums than its refunds',
  delivery_overdue: 'delivery overdue, workflow runs',
  payment_overdue: 'payment overdue, workflow runs',
  end_without_delivery: 'ended payment without an event or delivery',
  workflow_without_payment: 'workflow without a payment',
} as const;
export type DifferenceKind = keyof typeof workflowDifference;

const attention: Record<AttentionKind, string> = {
  money: 'Money to check',
  orders: 'Orders that wait',
  unopened: 'Payments that no gateway opens',
  silent: 'Gateways that are silent',
  overdue: 'Payments that are open for too long',
};

const audit: Record<AuditAction, string> = {
  'account_difference.explain': 'explained a difference',
  'account_difference.mend': 'mended a difference',
  'account_difference.reopen': 'opened a difference again',
  'application.cancel_refunds': 'called its refunds off',
  'application.create': 'created an application',
  'application.disable': 'disabled an application',
  'application.enable': 'enabled an application',
  'application.refund_limit': 'changed its refund limit',
  'application.update': 'changed an application',
  'console.account': 'bound an account of the provider',
  'console.add': 'let a person in',
  'console.link': 'made a login link',
  'console.login': 'logged in',
  'console.logout': 'ended the sessions',
  'console.refuse_login': 'login refused',
  'console.remove': 'removed a person',
  'delivery.replay': 'sent an event again',
  'delivery.replay_many': 'replayed many events',
  'delivery.replay_stop': 'stopped a replay',
  'gateway.account': 'changed time zone, fee or reported fees',
  'gateway.add': 'added a gateway',
  'gateway.credentials': 'replaced credentials',
  'gateway.disable': 'disabled a gateway',
  'gateway.enable': 'enabled a gateway',
  'link.approve_above': 'changed the amount of links for a second admin',
  'link.confirm': 'confirmed a link',
  'link.create': 'made a link',
  'link.disable': 'disabled a link',
  'notice.add': 'added an address for notices',
  'notice.remove': 'removed an address for notices',
  'passkey.add': 'added a passkey',
  'passkey.remove': 'removed a passkey',
  'payment.cancel': 'cancelled a payment',
  'payment.checked': 'marked as checked',
  'payment.duplicate': 'order paid twice',
  'payment.duplicate_tracking_code': 'tracking code seen twice',
  'payment.heal': 'started its workflow again',
  'payment.heal_late_payment': 'started the workflow of late money again',
  'payment.late_payment_by_hand': 'late money: a person must look',
  'payment.late_payment_found': 'late money found',
  'payment.late_payment_returns': 'late money: the gateway returns it',
  'payment.late_payment_reversed': 'late money reversed',
  'payment.order_checked': 'marked its order as checked',
  'payment.release_order': 'took the order from it',
  'payment.skip_time': 'skipped to the next step',
  'payment.verify': 'asked the gateway',
  'refund.approve_above': 'changed the amount for a second admin',
  'refund.cancel': 'called a refund off',
  'refund.confirm': 'confirmed a refund',
  'refund.create': 'asked for a refund',
  'refund.found_at_gateway': 'refund found at the gateway',
  'refund.refuse': 'refused a refund',
  'refund.release': 'let a refund go on',
  'refund.settle': 'decided a refund',
  'refund_rule.change': 'changed a rule for refunds',
  'refund_rule.confirm': 'confirmed a rule for refunds',
  'refund_rule.refuse': 'refused a rule for refunds',
  'retention.purge': 'purged old data',
  'secret.reseal': 'encrypted with a new key',
  'secret.retire': 'retired a webhook secret',
  'secret.rotate': 'rotated the webhook secret',
  'token.confirm': 'confirmed a token',
  'token.issue': 'issued a token',
  'token.replace': 'replaced a token',
  'token.revoke': 'revoked a token',
  'webhook.test': 'tested the webhook',
};

const subject: Record<SubjectKind, string> = {
  account_difference: 'difference',
  application: 'application',
  console: 'console',
  currency: 'currency',
  gateway: 'gateway',
  key: 'key',
  link: 'link',
  payment: 'payment',
  person: 'person',
  refund: 'refund',
  replay: 'replay',
  retention: 'retention',
};

const via: Record<Via, string> = { cli: 'command line', console: 'console' };

const login: Record<LoginVia, string> = {
  link: 'a link',
  provider: 'the identity provider',
  passkey: 'a passkey',
};

const role: Record<ConsoleRole, string> = {
  viewer: 'viewer',
  operator: 'operator',
  admin: 'admin',
};

const gateway: Record<GatewayKind, string> = { sandbox: 'sandbox', live: 'live' };

const mode: Record<TokenMode, string> = { live: 'live', test: 'test' };

const scope: Record<TokenScope, string> = {
  read: 'read',
  create: 'create',
  replay: 'replay',
  refund: 'refund',
  link: 'link',
};

const token = {
  valid: 'valid',
  to_confirm: 'waits for a second admin',
  expired: 'expired',
  revoked: 'revoked',
} as const;
export type TokenState = keyof typeof token;

const application: Record<'active' | 'disabled', string> = {
  active: 'active',
  disabled: 'disabled',
};

const replay: Record<ReplayStatus | 'stopping', string> = {
  running: 'running',
  stopping: 'stopping',
  done: 'done',
  stopped: 'stopped',
};

/** The one who began a round of attempts, or asked for a cancel. */
const by: Record<RoundTrigger | CancelledBy, string> = {
  schedule: 'by the schedule',
  admin: 'by an admin',
  application: 'by the application',
  payer: 'by the payer',
};

const apiError = Object.fromEntries(
  Object.entries(errors).map(([code, { meaning }]) => [code, meaning]),
) as Record<ErrorCode, string>; // Object.fromEntries widens to string.

/**
 * The words for every code that the console and files' documentation have. Lists of the command line print some codes, and mails
 * have sentences of their own. A new code of a type does not compile without its word.
 */
export const labels = {
  status,
  failure,
  nextStep,
  delivery,
  receiver,
  attemptError,
  notice,
  noticeResult,
  event,
  refundStatus,
  refundStage,
  refundFailure,
  refundReason,
  disputeStage,
  disputeStatus,
  linkStatus,
  requester,
  refundMethod,
  exchange,
  exchangeResult,
  latePayment,
  movement,
  payoutStatus,
  payoutLines,
  statementLine,
  difference: accountDifferences,
  differenceState,
  workflowDifference,
  attention,
  audit,
  subject,
  via,
  login,
  role,
  gateway,
  mode,
  scope,
  token,
  application,
  replay,
  by,
  apiError,
} as const;
export type Vocabulary = keyof typeof labels;

/** A pending delivery whose last attempt failed is failing. */
export const deliveryStateOf = (
  recorded: DeliveryState,
  lastError: string | null | undefined,
): DeliveryState => (recorded === 'pending' && lastError ? 'failing' : recorded);

/** The word for a code. A newer version may have recorded one that is unknown here. */
export const labelOf = (of: Vocabulary, code: string): string => {
  const words: Readonly<Record<string, string>> = labels[of];
  return (Object.hasOwn(words, code) ? words[code] : undefined) ?? code.replaceAll(/[._]/g, ' ');
};
