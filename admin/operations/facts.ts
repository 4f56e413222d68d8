import { describeDifference } from '../../contract/account-difference.ts';
import { amountHeld } from '../../contract/dispute.ts';
import { formatMoney } from '../../contract/money.ts';
import { amountLeft } from '../../contract/payment-fields.ts';
import { dayMs, hourMs, isoTime, minuteMs } from '../../contract/time.ts';
import { isTerminal } from '../../contract/status.ts';
import type { AccountDifference } from '../../postgres/account-days.ts';
import type { DisputeRecord } from '../../postgres/admin-disputes.ts';
import type { OverRule, RefundRecord, ReservedRefunds } from '../../postgres/admin-refunds.ts';
import type { PaymentRecord } from '../../postgres/admin-payments.ts';
import type { TokenSummary } from '../../postgres/admin-tokens.ts';
import type { OpensNothing } from '../../postgres/attention.ts';
import type { NoticeAddress } from '../../postgres/notice-addresses.ts';
import type { Application } from '../../postgres/applications.ts';
import { labelOf, secondAdmin, type Vocabulary } from './labels.ts';
import type { AccountTerms } from '../../postgres/gateways.ts';
import { formatPercent } from '../../contract/basis-points.ts';
import { mendOf } from './accounts.ts';
import { settings } from './application-settings.ts';
import type { ShownReceiver } from './applications.ts';
import type { DisputeDetails } from './disputes.ts';
import type { RefundDetails } from './refund-details.ts';

/*
 * The facts of a record, as the console and the command line show them, under the same labels in the same order. The console makes
 * links and marks of some values.
 */

/** The word for a code, with the code, which applications have. */
const codeWords = (of: Vocabulary, code: string): string => `${labelOf(of, code)} (${code})`;

const dots = (parts: readonly (string | null)[]): string | null =>
  parts.filter(Boolean).join(' · ') || null;

export const paymentFacts = (payment: PaymentRecord) => {
  const part = (amount: number) => (amount > 0 ? formatMoney({ ...payment, amount }) : null);
  return {
    Application: payment.application,
    Created: payment.createdAt,
    Description: payment.description,
    Gateway: payment.gateway,
    'Gateways that may open it':
      payment.gatewayReference === null && !isTerminal(payment.status)
        ? (payment.candidates?.join(', ') ?? null)
        : null,
    'Gateway reference': payment.gatewayReference,
    'Tracking code': payment.trackingCode,
    Card: payment.cardPanMasked,
    'Fee that the gateway reports': reportedFeeText(payment),
    'Cancelled by': payment.cancelledBy,
    'Cancellation reason': payment.cancellationReason,
    Refunded: part(payment.amountRefunded),
    'Refund pending': part(payment.amountRefundPending),
    'Held by chargebacks': part(payment.amountDisputed),
    Failure:
      isTerminal(payment.status) && payment.failureCode !== null
        ? codeWords('failure', payment.failureCode)
        : null,
    'The gateway says': dots([payment.gatewayCode, payment.gatewayMessage]),
    'Duplicate of': payment.duplicateOf,
    'Holds the order since': payment.orderClaimedAt,
  };
};

const reportedFeeText = ({
  reportedFee,
  reportedFeePaidBy,
  currency,
}: PaymentRecord): string | null =>
  reportedFee === null
    ? null
    : `${formatMoney({ amount: reportedFee, currency })}, paid by the ${reportedFeePaidBy}`;

/** The things that a refund waits for; empty: nothing. */
export const waitsOf = ({
  status,
  stage,
  waitsForApplication,
  toConfirm,
  cancelRequested,
}: RefundRecord) =>
  [
    stage && labelOf('refundStage', stage),
    waitsForApplication && !cancelRequested && 'its application is disabled',
    status === 'pending' && toConfirm && labelOf('refundStage', secondAdmin),
    status === 'pending' && cancelRequested && 'called off',
  ]
    .filter(Boolean)
    .join(', ');

/**
 * The sum for which another admin confirms a refund, and the rule.
 * @param asker the admin who asks for it; null: who reads the text
 */
const overRuleReason = (
  { counted, total, above }: OverRule,
  { currency, asker }: { currency: string; asker: string | null },
): string => {
  const sum = formatMoney({ amount: total, currency });
  const asked = asker === null ? 'you have' : `${asker} has`;
  const what = {
    refund: `it gives ${sum} back`,
    payment: `with it admins have asked for ${sum} of this payment`,
    admin: `with it ${asked} asked for ${sum} within 24 hours`,
  }[counted];
  return `because ${what}, and the rule is ${formatMoney({ amount: above, currency })}`;
};

/** Says that another admin must confirm a refund, and why. */
export const overRuleText = (...of: Parameters<typeof overRuleReason>): string =>
  `Another admin must confirm it, ${overRuleReason(...of)}.`;

/** Why a token waits. */
export const tokenWaits =
  'While refunds of admins need a second admin, so does a new token with the scope refund: it gives money back without one.';

export const refundFacts = (refund: RefundRecord) => ({
  Refund: refund.id,
  Payment: refund.paymentId,
  Application: refund.application,
  Order: refund.orderId,
  Status: labelOf('refundStatus', refund.status),
  Stage: waitsOf(refund) || null,
  Amount: formatMoney(refund),
  Failure: refund.failureCode && codeWords('refundFailure', refund.failureCode),
  Told: refund.timesTold,
  'First told': refund.toldAt,
  'At the gateway':
    refund.method === 'recorded'
      ? `not told: ${labelOf('refundMethod', refund.method)}`
      : dots([
          refund.gatewayReference,
          refund.gatewayCode,
          refund.gatewayMessage,
          refund.bankReference,
        ]),
  'Asked by':
    refund.askedBy ??
    (refund.token && `token ${refund.token}`) ??
    labelOf('requester', refund.requestedBy),
  'To confirm': refund.toConfirm,
  Created: refund.createdAt,
});

/** Everything about one refund, and about its payment what one must know to sign for it. */
export const refundDetailFacts = ({ refund, payment, asked, confirmed }: RefundDetails) => {
  const facts = refundFacts(refund);
  return {
    Refund: facts.Refund,
    Amount: facts.Amount,
    Status: facts.Status,
    Stage: facts.Stage,
    Payment: facts.Payment,
    Paid: formatMoney(payment),
    Order: facts.Order,
    Application: facts.Application,
    Gateway: payment.gateway,
    Card: payment.cardPanMasked,
    'Asked by': facts['Asked by'],
    Reason: asked?.reason ?? (refund.reason && labelOf('refundReason', refund.reason)),
    Reference: refund.reference,
    Created: facts.Created,
    'Second admin':
      refund.overRule &&
      overRuleReason(refund.overRule, { currency: refund.currency, asker: refund.askedBy ?? '' }),
    'Confirmed by': confirmed?.actor,
    'Reason of the confirmation': confirmed?.reason,
    Told: facts.Told,
    'First told': facts['First told'],
    'At the gateway': facts['At the gateway'],
    Failure: facts.Failure,
    Expected: refund.expectedAt,
    Succeeded: refund.succeededAt,
    Failed: refund.failedAt,
  };
};

/** The time until then in its two largest units, e.g. `2 days 5 hours`; null: it is over. */
export const timeLeft = (until: Date, now: Date): string | null => {
  const left = until.getTime() - now.getTime();
  if (left <= 0) return null;
  const part = (ms: number, unit: string) => {
    const count = Math.floor(ms);
    return count === 0 ? '' : `${count} ${unit}${count === 1 ? '' : 's'}`;
  };
  const days = part(left / dayMs, 'day');
  const hours = part((left % dayMs) / hourMs, 'hour');
  const minutes = part((left % hourMs) / minuteMs, 'minute');
  const parts = days === '' ? [hours, minutes] : [days, hours];
  return parts.filter(Boolean).join(' ') || 'less than a minute';
};

export const disputeFacts = (dispute: DisputeRecord, now: Date) => ({
  Dispute: dispute.id,
  Payment: dispute.paymentId,
  Application: dispute.application,
  Order: dispute.orderId,
  Gateway: dispute.gateway,
  Stage: labelOf('disputeStage', dispute.stage),
  Status: labelOf('disputeStatus', dispute.status),
  Amount: formatMoney(dispute),
  'Respond by': dispute.respondBy,
  'Time left': dispute.respondBy && timeLeft(dispute.respondBy, now),
  Opened: dispute.openedAt,
});

/** Everything about one dispute, and about its payment what one must know to answer it. */
export const disputeDetailFacts = ({ dispute, payment }: DisputeDetails, now: Date) => {
  const facts = disputeFacts(dispute, now);
  return {
    Dispute: facts.Dispute,
    Stage: facts.Stage,
    Status: facts.Status,
    Amount: facts.Amount,
    'Held against refunds': heldText({ dispute, payment }),
    'Respond by': facts['Respond by'],
    'Time left': facts['Time left'],
    Reason: dispute.reason,
    "Network's reason": dispute.networkReason,
    Payment: facts.Payment,
    Paid: formatMoney(payment),
    Refunded:
      payment.amountRefunded > 0
        ? formatMoney({ ...payment, amount: payment.amountRefunded })
        : null,
    Order: facts.Order,
    Application: facts.Application,
    Gateway: facts.Gateway,
    "Gateway's reference": dispute.gatewayReference,
    Card: payment.cardPanMasked,
    Opened: facts.Opened,
    Closed: dispute.closedAt,
  };
};

/** The held money, in the payment's currency. A dispute of another one holds the whole payment. */
const heldText = ({ dispute, payment }: Pick<DisputeDetails, 'dispute' | 'payment'>): string => {
  const amount = amountHeld(dispute);
  if (amount === 0) return 'nothing';
  return formatMoney(dispute.currency === payment.currency ? dispute : payment);
};

/** The advice for a dispute: whether a person can answer it, and what a refund means now. */
export const disputeAdvice = (
  { dispute, payment }: Pick<DisputeDetails, 'dispute' | 'payment'>,
  now: Date,
): { answers: boolean; text: string } => {
  const { stage, status, respondBy } = dispute;
  const isLeft = amountLeft(payment) > 0;
  const isInquiry = stage === 'inquiry';
  const canAnswer = status === 'needs_response' && respondBy !== null && respondBy > now;
  const money = isInquiry
    ? `The bank asks about the money and has taken nothing.${isLeft ? ' Giving the whole payment back ends the inquiry.' : ''}`
    : 'The bank has taken the money. Give nothing back: the payer would have it twice.';
  const texts: Record<DisputeRecord['status'], string> = {
    needs_response: canAnswer
      ? `Answer it in the gateway's dashboard: the evidence stays at the gateway. ${money}`
      : `The gateway takes no answer. ${money}`,
    under_review: `The gateway has an answer, and the bank decides. ${money}`,
    won: `The bank has given the money back. ${isLeft ? 'It can be refunded again.' : 'Nothing of the payment is left to refund.'} A second chargeback may follow.`,
    lost: 'The payer has the money, and it does not come back. What the dispute holds cannot be refunded.',
    closed: isInquiry
      ? 'The inquiry has ended, and nothing was taken.'
      : 'The gateway has prevented the chargeback. Nothing is held.',
  };
  return { answers: canAnswer, text: texts[status] };
};

/** Whether a webhook tells the application of an end, as the last part of a sentence. */
export const webhookTells = (
  { webhookUrl, refundEvents }: Pick<Application, 'webhookUrl' | 'refundEvents'>,
  of: 'payment' | 'refund',
): string => {
  if (of === 'refund' && !refundEvents)
    return 'no webhook tells the application: its events of refunds are off';
  return webhookUrl === null
    ? 'no webhook tells the application: it has no webhook URL'
    : 'a webhook tells the application';
};

/** Says how many refunds no gateway was told of, and their money. */
export const reservedText = (reserved: readonly ReservedRefunds[]): string => {
  const made = reserved.reduce((sum, { refunds }) => sum + refunds, 0);
  const money = reserved.map(formatMoney).join(' and ');
  return made === 1 ? `1 refund (${money})` : `${made} refunds (${money})`;
};

const money = (amount: number | null, currency: string | null) =>
  amount === null || currency === null ? null : formatMoney({ amount, currency });

export const differenceFacts = (difference: AccountDifference) => ({
  Number: difference.id,
  Gateway: difference.gateway,
  Day: difference.day,
  Difference: describeDifference(difference),
  About: difference.subject,
  Payment: difference.paymentId,
  Ours: money(difference.ourAmount, difference.ourCurrency),
  Theirs: money(difference.theirAmount, difference.theirCurrency),
  'Our time': difference.ourTime,
  'Their time': difference.theirTime,
  'Workflow runs': difference.workflowRuns,
  'Mend does': mendOf(difference),
  State: labelOf('differenceState', difference.state),
  Reason: difference.reason,
});

export const tokenFacts = (token: TokenSummary) => ({
  Id: token.id,
  Prefix: token.prefix,
  Mode: labelOf('mode', token.mode),
  Scopes: token.scopes.map((scope) => labelOf('scope', scope)).join(', '),
  Name: token.name,
  Issued: token.createdAt,
  'Last used': token.lastUsedAt,
  Expires: token.expiresAt,
  Revoked: token.revokedAt,
  'Issued by': token.issuedBy,
  'To confirm': token.toConfirm,
});

export const applicationFacts = (application: Application) => ({
  Status: labelOf('application', application.status),
  ...Object.fromEntries(settings.map(({ label, show }) => [label, show(application)])),
  Created: application.createdAt,
});

const noticeState = ({ confirmedAt, unsubscribedAt, isTooLate }: NoticeAddress): string => {
  if (unsubscribedAt) return 'unsubscribed';
  if (confirmedAt) return 'confirmed';
  return isTooLate
    ? 'nobody has agreed in time: remove it, and add it again'
    : 'waits until somebody agrees';
};

export const noticeFacts = (address: NoticeAddress) => ({
  Address: address.address,
  State: noticeState(address),
  Added: address.addedAt,
  'Last mail': dots([
    address.last && labelOf('notice', address.last.kind),
    address.last && labelOf('noticeResult', address.last.result ?? 'waiting'),
  ]),
  'Last mail at': address.last?.at ?? null,
});

/** The health of a receiver, on one line. */
export const receiverText = ({
  state,
  shown,
  since,
  waiting,
  exhausted,
  lastError,
}: ShownReceiver) => {
  const isUnwell = state === 'failing' || state === 'exhausted';
  return [
    labelOf('receiver', shown),
    ...(isUnwell && since ? [`since ${isoTime(since)}`] : []),
    ...(lastError === null ? [] : [labelOf('attemptError', lastError)]),
    ...(waiting > 0 ? [`${waiting} wait`] : []),
    ...(exhausted > 0 ? [`${exhausted} exhausted`] : []),
  ].join(', ');
};

export const reportedFeesText = (
  { feesReported }: Pick<AccountTerms, 'feesReported'>,
  reportsFees: boolean,
): string => {
  if (!reportsFees) return 'reports none';
  return feesReported ? 'booked' : 'not booked';
};

/** Since when a gateway opens nothing, and what has become of its payments. */
export const opensNothingText = (
  { since, waiting, failed }: Pick<OpensNothing, 'since' | 'waiting' | 'failed'>,
  formatTime: (time: Date) => string,
): string => `opens no payment since ${formatTime(since)}: ${waiting} wait, ${failed} failed`;

/** The agreed fee of a payment. */
export const feeText = ({ feeBasisPoints, feeFixed }: AccountTerms): string => {
  const parts = [
    feeBasisPoints === null ? '' : `${formatPercent(feeBasisPoints)} %`,
    feeFixed === null ? '' : `${feeFixed} minor units of its currency`,
  ];
  return parts.filter((part) => part !== '').join(' and ') || 'not known';
};
