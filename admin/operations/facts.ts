import { describeDifference } from '../../contract/account-difference.ts';
import { amountHeld } from '../../contract/dispute.ts';
import type { Language } from '../../contract/languages.ts';
import { formatMoney } from '../../contract/money.ts';
import { payerAdvice } from '../../contract/payer-advice.ts';
import { amountLeft } from '../../contract/payment-fields.ts';
import { dayMs, hourMs, isoTime, minuteMs } from '../../contract/time.ts';
import { isTerminal } from '../../contract/status.ts';
import { findDriver } from '../../gateways/registry.ts';
import type { AccountDifference } from '../../postgres/accounts/days.ts';
import type { DisputeRecord } from '../../postgres/admin/disputes.ts';
import type { OverRule, RefundRecord, ReservedRefunds } from '../../postgres/admin/refunds.ts';
import type { PaymentRecord } from '../../postgres/admin/payments.ts';
import type { TokenSummary } from '../../postgres/admin/tokens.ts';
import type { OpensNothing } from '../../postgres/admin/attention.ts';
import type { NoticeAddress } from '../../postgres/notices/addresses.ts';
import type { Application } from '../../postgres/applications/applications.ts';
import { labelOf, type Vocabulary } from './labels.ts';
import { secondAdmin } from './links/labels.ts';
import type { AccountTerms } from '../../postgres/gateways/gateways.ts';
import { formatPercent } from '../../contract/basis-points.ts';
import { moneyOf } from './account-month.ts';
import { mendOf } from './accounts.ts';
import type { Name } from './application-setting.ts';
import { settings } from './application-settings.ts';
import type { ShownReceiver } from './applications.ts';
import type { DisputeDetails } from './disputes.ts';
import { countOf, fact, type Fact, pick } from './fact.ts';
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
    application: fact('Application', payment.application),
    created: fact('Created', payment.createdAt),
    description: fact('Description', payment.description),
    link: fact('Link', payment.linkId),
    gateway: fact('Gateway', payment.gateway),
    candidates: fact(
      'Gateways that may open it',
      payment.gatewayReference === null && !isTerminal(payment.status)
        ? (payment.candidates?.join(', ') ?? null)
        : null,
    ),
    gatewayReference: fact('Gateway reference', payment.gatewayReference),
    trackingCode: fact('Tracking code', payment.trackingCode),
    card: fact('Card', payment.cardPanMasked),
    reportedFee: fact('Fee that the gateway reports', reportedFeeText(payment)),
    cancelledBy: fact('Cancelled by', payment.cancelledBy),
    cancellationReason: fact('Cancellation reason', payment.cancellationReason),
    refunded: fact('Refunded', part(payment.amountRefunded)),
    refundPending: fact('Refund pending', part(payment.amountRefundPending)),
    held: fact('Held by chargebacks', part(payment.amountDisputed)),
    failure: fact(
      'Failure',
      isTerminal(payment.status) && payment.failureCode !== null
        ? codeWords('failure', payment.failureCode)
        : null,
    ),
    gatewayMessage: fact('At the gateway', dots([payment.gatewayCode, payment.gatewayMessage])),
    duplicateOf: fact('Duplicate of', payment.duplicateOf),
    holdsOrderSince: fact('Holds the order since', payment.orderClaimedAt),
  };
};

/** The gateway may hold money of it, and nobody has looked yet. */
export const isInDoubt = ({ latePaymentResult, latePaymentCheckedAt }: PaymentRecord): boolean =>
  latePaymentResult === 'by_hand' && latePaymentCheckedAt === null;

/** The sentences that support can send to the payer, as the payer's own page has them; null: a paid payment without refunds needs none. */
export const adviceText = (payment: PaymentRecord, language: Language, now: Date): string | null =>
  payment.status === 'paid' && payment.amountRefunded + payment.amountRefundPending === 0
    ? null
    : payerAdvice(
        {
          ...payment,
          payerSent: payment.checkoutAt !== null,
          moneyFoundAt: payment.latePaymentFoundAt,
          isInDoubt: isInDoubt(payment),
          returnTime: findDriver(payment.driver)?.capabilities.returnTime,
        },
        language,
        now,
      ).join(' ');

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
  refund: fact('Refund', refund.id),
  payment: fact('Payment', refund.paymentId),
  application: fact('Application', refund.application),
  order: fact('Order', refund.orderId),
  status: fact('Status', labelOf('refundStatus', refund.status)),
  stage: fact('Stage', waitsOf(refund) || null),
  amount: fact('Amount', formatMoney(refund)),
  failure: fact('Failure', refund.failureCode && codeWords('refundFailure', refund.failureCode)),
  told: fact('Told', refund.timesTold),
  firstTold: fact('First told', refund.toldAt),
  atGateway: fact(
    'At the gateway',
    refund.method === 'recorded'
      ? `not told: ${labelOf('refundMethod', refund.method)}`
      : dots([
          refund.gatewayReference,
          refund.gatewayCode,
          refund.gatewayMessage,
          refund.bankReference,
        ]),
  ),
  askedBy: fact(
    'Asked by',
    refund.askedBy ??
      (refund.token && `token ${refund.token}`) ??
      labelOf('requester', refund.requestedBy),
  ),
  toConfirm: fact('To confirm', refund.toConfirm),
  created: fact('Created', refund.createdAt),
});

/** Everything about one refund, and about its payment what one must know to sign for it. */
export const refundDetailFacts = ({ refund, payment, asked, confirmed }: RefundDetails) => {
  const facts = refundFacts(refund);
  return {
    ...pick(facts, 'refund', 'amount', 'status', 'stage', 'payment'),
    paid: fact('Paid', formatMoney(payment)),
    ...pick(facts, 'order', 'application'),
    gateway: fact('Gateway', payment.gateway),
    card: fact('Card', payment.cardPanMasked),
    askedBy: facts.askedBy,
    reason: fact(
      'Reason',
      asked?.reason ?? (refund.reason && labelOf('refundReason', refund.reason)),
    ),
    reference: fact('Reference', refund.reference),
    created: facts.created,
    secondAdmin: fact(
      'Second admin',
      refund.overRule &&
        overRuleReason(refund.overRule, { currency: refund.currency, asker: refund.askedBy ?? '' }),
    ),
    confirmedBy: fact('Confirmed by', confirmed?.actor),
    confirmation: fact('Reason of the confirmation', confirmed?.reason),
    ...pick(facts, 'told', 'firstTold', 'atGateway', 'failure'),
    expected: fact('Expected', refund.expectedAt),
    succeeded: fact('Succeeded', refund.succeededAt),
    failed: fact('Failed', refund.failedAt),
  };
};

const durationWords = new Intl.DurationFormat('en', { style: 'long' });

/** The time until then in its two largest units, e.g. `2 days, 5 hours`; null: it is over. */
export const timeLeft = (until: Date, now: Date): string | null => {
  const left = until.getTime() - now.getTime();
  if (left <= 0) return null;
  const hours = Math.floor((left % dayMs) / hourMs);
  const larger = { days: Math.floor(left / dayMs), hours };
  const smaller = { hours, minutes: Math.floor((left % hourMs) / minuteMs) };
  return durationWords.format(left < dayMs ? smaller : larger) || 'less than a minute';
};

export const disputeFacts = (dispute: DisputeRecord, now: Date) => ({
  dispute: fact('Dispute', dispute.id),
  payment: fact('Payment', dispute.paymentId),
  application: fact('Application', dispute.application),
  order: fact('Order', dispute.orderId),
  gateway: fact('Gateway', dispute.gateway),
  stage: fact('Stage', labelOf('disputeStage', dispute.stage)),
  status: fact('Status', labelOf('disputeStatus', dispute.status)),
  amount: fact('Amount', formatMoney(dispute)),
  respondBy: fact('Respond by', dispute.respondBy),
  timeLeft: fact('Time left', dispute.respondBy && timeLeft(dispute.respondBy, now)),
  opened: fact('Opened', dispute.openedAt),
});

/** Everything about one dispute, and about its payment what one must know to answer it. */
export const disputeDetailFacts = ({ dispute, payment }: DisputeDetails, now: Date) => {
  const facts = disputeFacts(dispute, now);
  return {
    ...pick(facts, 'dispute', 'stage', 'status', 'amount'),
    held: fact('Held against refunds', heldText({ dispute, payment })),
    ...pick(facts, 'respondBy', 'timeLeft'),
    reason: fact('Reason', dispute.reason),
    networkReason: fact("Network's reason", dispute.networkReason),
    payment: facts.payment,
    paid: fact('Paid', formatMoney(payment)),
    refunded: fact(
      'Refunded',
      payment.amountRefunded > 0
        ? formatMoney({ ...payment, amount: payment.amountRefunded })
        : null,
    ),
    ...pick(facts, 'order', 'application', 'gateway'),
    gatewayReference: fact("Gateway's reference", dispute.gatewayReference),
    card: fact('Card', payment.cardPanMasked),
    opened: facts.opened,
    closed: fact('Closed', dispute.closedAt),
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
  return `${countOf(made, 'refund')} (${money})`;
};

export const differenceFacts = (difference: AccountDifference) => ({
  number: fact('Number', difference.id),
  gateway: fact('Gateway', difference.gateway),
  day: fact('Day', difference.day),
  difference: fact('Difference', describeDifference(difference)),
  about: fact('About', difference.subject),
  payment: fact('Payment', difference.paymentId),
  ours: fact('Ours', moneyOf(difference.ourAmount, difference.ourCurrency)),
  theirs: fact('Theirs', moneyOf(difference.theirAmount, difference.theirCurrency)),
  ourTime: fact('Our time', difference.ourTime),
  theirTime: fact('Their time', difference.theirTime),
  workflowRuns: fact('Workflow runs', difference.workflowRuns),
  mend: fact('Mend does', mendOf(difference)),
  state: fact('State', labelOf('differenceState', difference.state)),
  reason: fact('Reason', difference.reason),
});

export const tokenFacts = (token: TokenSummary) => ({
  id: fact('Id', token.id),
  prefix: fact('Prefix', token.prefix),
  mode: fact('Mode', labelOf('mode', token.mode)),
  scopes: fact('Scopes', token.scopes.map((scope) => labelOf('scope', scope)).join(', ')),
  name: fact('Name', token.name),
  issued: fact('Issued', token.createdAt),
  lastUsed: fact('Last used', token.lastUsedAt),
  expires: fact('Expires', token.expiresAt),
  revoked: fact('Revoked', token.revokedAt),
  issuedBy: fact('Issued by', token.issuedBy),
  toConfirm: fact('To confirm', token.toConfirm),
});

/** Each setting is under its own name. */
export const applicationFacts = (application: Application) => ({
  status: fact('Status', labelOf('application', application.status)),
  ...(Object.fromEntries(
    settings.map(({ name, label, show }) => [name, fact(label, show(application))]),
  ) as Record<Name, Fact<string>>), // Object.fromEntries forgets the names.
  created: fact('Created', application.createdAt),
});

const noticeState = ({ confirmedAt, unsubscribedAt, isTooLate }: NoticeAddress): string => {
  if (unsubscribedAt) return 'unsubscribed';
  if (confirmedAt) return 'confirmed';
  return isTooLate
    ? 'nobody has agreed in time: remove it, and add it again'
    : 'waits until somebody agrees';
};

export const noticeFacts = (address: NoticeAddress) => ({
  address: fact('Address', address.address),
  state: fact('State', noticeState(address)),
  added: fact('Added', address.addedAt),
  lastMail: fact(
    'Last mail',
    dots([
      address.last && labelOf('notice', address.last.kind),
      address.last && labelOf('noticeResult', address.last.result ?? 'waiting'),
    ]),
  ),
  lastMailAt: fact('Last mail at', address.last?.at ?? null),
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
    ...(waiting > 0 ? [countOf(waiting, 'waits', 'wait')] : []),
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
): string =>
  `opens no payment since ${formatTime(since)}: ${countOf(waiting, 'waits', 'wait')}, ${failed} failed`;

/** The agreed fee of a payment. */
export const feeText = ({ feeBasisPoints, feeFixed }: AccountTerms): string => {
  const parts = [
    feeBasisPoints === null ? '' : `${formatPercent(feeBasisPoints)} %`,
    feeFixed === null ? '' : `${feeFixed} minor units of its currency`,
  ];
  return parts.filter((part) => part !== '').join(' and ') || 'not known';
};
