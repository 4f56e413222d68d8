import type { Entry } from '../test/fakes/server.ts';
import type { Decision, Gateway } from './gateways.ts';
import type { CreatedPayment } from './scenarios.ts';

/** The end of a payment that the gateway's records allow. */
interface Verdict {
  statuses: readonly string[];
  /** The failure code of a payment that is `failed`. */
  failureCode?: string | undefined;
  money: 'none' | 'kept' | 'returned' | 'by status';
  reason: string;
}

interface Outcome {
  status: string;
  failure_code: string | null;
}

/** The outcome and the money as the service shows them. The receipt is null unless it is paid. */
interface ShownOutcome extends Outcome {
  tracking_code: string | null;
  card_pan_masked: string | null;
  paid_at: string | null;
}

/** Finds where a payment contradicts the gateway's own records. */
export const findGatewayProblems = (payment: CreatedPayment, shown: ShownOutcome): string[] => {
  const { gateway, id } = payment;
  const { status } = shown;
  const entries = gateway.entriesFor(id);
  const { charged, decided, verdict, money } = judge(payment, shown);
  const { statuses, failureCode = null, reason } = verdict;
  const problems = entries.flatMap(([reference, entry]) => [
    ...findRepeats(reference, withoutRefunds(payment, reference, entry)),
    ...findRequestProblems(payment, { reference, entry }),
  ]);
  if (charged.length > 1) problems.push(`the payer was charged ${charged.length} times`);
  if (!statuses.includes(status))
    problems.push(`it ended ${status}, and must be ${statuses.join(' or ')}: ${reason}`);
  const expectedCode = status === 'failed' ? failureCode : null;
  if (shown.failure_code !== expectedCode)
    problems.push(
      `its failure code is ${shown.failure_code}, and must be ${expectedCode}: ${reason}`,
    );
  problems.push(...findReceiptProblems(payment, shown, decided));
  const [entry] = charged;
  const [reference = ''] = entries.find(([, each]) => each === entry) ?? [];
  if (entry && money === 'kept' && !isKept(withoutRefunds(payment, reference, entry), gateway))
    problems.push(`it is ${status}, but the gateway did not keep the money (${describe(entry)})`);
  if (entry && money === 'returned' && !isReturned(entry, gateway))
    problems.push(`the payer's money is not back (${describe(entry)})`);
  return problems;
};

interface Decided extends Decision {
  entry: Entry;
}

const judge = (payment: CreatedPayment, { status, failure_code: failureCode }: Outcome) => {
  const { gateway, id, reference } = payment;
  const entries = gateway.entriesFor(id);
  const charged = entries.flatMap(([, entry]) => (entry.charged > 0 ? [entry] : []));
  const decided = findDecided(payment);
  const verdict =
    failureCode === 'gateway_error' && reference === undefined
      ? unopened
      : failureCode === 'order_already_paid'
        ? lost
        : decideVerdict(payment, decided);
  const money =
    verdict.money === 'by status' ? (status === 'paid' ? 'kept' : 'returned') : verdict.money;
  return { charged, decided, verdict, money };
};

/** The payer's decision on the gateway's page, with the gateway's record of it. */
export const findDecided = ({ gateway, id }: CreatedPayment): Decided | undefined => {
  const [decided] = gateway.entriesFor(id).flatMap(([reference, entry]): Decided[] => {
    const decision = gateway.findDecision(reference);
    return decision ? [{ entry, ...decision }] : [];
  });
  return decided;
};

/** No payer could be sent to the gateway before the deadline. */
const unopened: Verdict = {
  statuses: ['failed'],
  failureCode: 'gateway_error',
  money: 'none',
  reason: 'it could not be opened',
};

/** Its payer may have done anything. Another check asks whether somebody else has paid the order. */
const lost: Verdict = {
  statuses: ['failed'],
  failureCode: 'order_already_paid',
  money: 'returned',
  reason: 'another payment has paid the order',
};

const decideVerdict = (
  { gateway, amount, expiresAt, behaviour }: CreatedPayment,
  decided: Decided | undefined,
): Verdict => {
  if (behaviour === 'callOff' && decided?.decision !== 'cancelled')
    return {
      statuses: ['cancelled', ...(decided ? ['paid'] : []), 'expired'],
      money: 'by status',
      reason: 'the application called it off',
    };
  if (!decided)
    return {
      statuses: ['expired', ...(gateway.closesAsCancel ? ['cancelled'] : [])],
      money: 'none',
      reason: 'the payer did nothing',
    };
  const { entry, decision } = decided;
  const { cancelStatuses, failureCodes, toGatewayAmount } = gateway;
  const isInTime = decided.at < expiresAt;
  const late = isInTime ? [] : ['expired'];
  if (decision === 'refused')
    return {
      statuses: ['failed', ...late],
      failureCode: failureCodes.refused,
      money: 'none',
      reason: 'the payer’s card was refused',
    };
  if (decision === 'cancelled')
    return {
      statuses: [...cancelStatuses, ...late],
      failureCode: failureCodes.cancelled,
      money: 'none',
      reason: 'the payer cancelled',
    };
  if (entry.amount !== toGatewayAmount(amount))
    return {
      statuses: ['failed', ...late],
      failureCode: 'amount_mismatch',
      money: 'returned',
      reason: 'another amount was paid',
    };
  if (isInTime) return { statuses: ['paid'], money: 'kept', reason: 'it was paid in time' };
  return { statuses: ['paid', 'expired'], money: 'by status', reason: 'it was paid late' };
};

/** Refunds of a paid payment by the application have their own checks, see refunds.ts. */
const withoutRefunds = (
  { gateway, refund }: CreatedPayment,
  reference: string,
  entry: Entry,
): Entry =>
  refund === undefined
    ? entry
    : { ...entry, reversed: entry.reversed - gateway.refundsOf(reference).length };

const findRepeats = (reference: string, { charged, verified, reversed }: Entry): string[] =>
  Object.entries({ charged, verified, reversed }).flatMap(([action, times]) =>
    times > 1 ? [`${reference} was ${action} ${times} times`] : [],
  );

/** The gateway must have been asked for our amount and currency. */
export const findRequestProblems = (
  { gateway, amount, behaviour }: Pick<CreatedPayment, 'gateway' | 'amount' | 'behaviour'>,
  { reference, entry }: { reference: string; entry: Entry },
): string[] => {
  const expected = gateway.toGatewayAmount(amount);
  const { gatewayCurrency } = gateway;
  const problems: string[] = [];
  if (entry.amount !== expected && behaviour !== 'wrongAmount')
    problems.push(`${reference} is about ${entry.amount}, and must be about ${expected}`);
  if (entry.currency !== gatewayCurrency)
    problems.push(`${reference} is in ${entry.currency}, and must be in ${gatewayCurrency}`);
  return problems;
};

/** A receipt must be the gateway's, and only a paid payment has one. */
const findReceiptProblems = (
  payment: CreatedPayment,
  shown: ShownOutcome,
  decided: Decided | undefined,
): string[] => {
  const receipt = shown.status === 'paid' ? decided : undefined;
  const expected = {
    tracking_code: receipt?.entry.trackingCode ?? null,
    card_pan_masked: mustShowCard(payment, shown) ? (receipt?.entry.card ?? null) : null,
  };
  const problems = Object.entries(expected).flatMap(([name, right]) => {
    const value = shown[name as keyof typeof expected]; // Its own key.
    return value === right ? [] : [`its ${name} is ${value}, and the gateway's ${right}`];
  });
  const { paid_at: paidAt } = shown;
  if ((paidAt !== null) !== (shown.status === 'paid'))
    problems.push(`it is ${shown.status}, and its paid_at ${paidAt}`);
  if (paidAt !== null && receipt && Date.parse(paidAt) < receipt.at)
    problems.push(`its paid_at, ${paidAt}, is before the payer paid`);
  return problems;
};

/** A card that only a verification reports can be lost, if the gateway was asked again after it. */
const mustShowCard = (
  { gateway, id }: CreatedPayment,
  { card_pan_masked: card }: Pick<ShownOutcome, 'card_pan_masked'>,
): boolean => {
  if (gateway.reportsCard !== 'verifying' || card !== null) return gateway.reportsCard !== 'never';
  const references = gateway.entriesFor(id).map(([reference]) => reference);
  const calls = gateway.provider.calls.filter(({ path, text }) =>
    references.some((one) => text.includes(one) || path.includes(one)),
  );
  const verified = calls.findIndex(({ path }) => path.endsWith('/verify'));
  return verified < 0 || verified === calls.length - 1;
};

const isKept = ({ verified, reversed }: Entry, { oneStep }: Gateway): boolean =>
  reversed === 0 && (oneStep || verified === 1);

/** A two-step provider returns unconfirmed money by itself. */
const isReturned = ({ verified, reversed }: Entry, { oneStep }: Gateway): boolean =>
  reversed === 1 || (!oneStep && verified === 0);

const describe = ({ state, charged, verified, reversed }: Entry): string =>
  `${state}, charged ${charged}, verified ${verified}, reversed ${reversed}`;

/** Whether money still has to be returned, which happens after the payment has ended. */
export const owesMoney = (payment: CreatedPayment, outcome: Outcome): boolean => {
  const { charged, money } = judge(payment, outcome);
  return money === 'returned' && charged.some((entry) => !isReturned(entry, payment.gateway));
};
