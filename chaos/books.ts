import type { Entry } from '../test/gateways/stand-ins/server.ts';
import type { Decision, Gateway } from './gateways.ts';
import type { Created } from './wishes.ts';

/** What of a payment the gateway's own books allow: statuses, and where the money has to be. */
interface Verdict {
  statuses: readonly string[];
  money: 'none' | 'ours' | 'back' | 'by status';
  why: string;
}

/** How the service says that it ended. */
interface Ended {
  status: string;
  failure_code: string | null;
}

/** Where a payment is not as the gateway's own books say. */
export const bookProblems = (
  payment: Created,
  { status, failure_code: failureCode }: Ended,
): string[] => {
  const { gateway, id } = payment;
  const entries = gateway.entriesOf(id);
  const charged = entries.filter(([, { charged: times }]) => times > 0);
  const problems = entries.flatMap(([reference, entry]) => doubles(reference, entry));
  if (charged.length > 1) problems.push(`the payer was charged ${charged.length} times`);
  const decided = entries.flatMap(([reference, entry]) => {
    const decision = gateway.decisionOn(reference);
    return decision ? [{ entry, decision }] : [];
  });
  const { statuses, money, why } =
    failureCode === 'gateway_error' && payment.reference === undefined
      ? unopened
      : verdictOn(payment, decided[0]);
  if (!statuses.includes(status))
    problems.push(`it ended ${status}, and must be ${statuses.join(' or ')}: ${why}`);
  const entry = charged[0]?.[1];
  const must = money === 'by status' ? (status === 'paid' ? 'ours' : 'back') : money;
  if (entry && must === 'ours' && !isOurs(entry, gateway))
    problems.push(`it is ${status}, but the gateway did not keep the money (${sums(entry)})`);
  if (entry && must === 'back' && !isBack(entry, gateway))
    problems.push(`the payer's money is not back (${sums(entry)})`);
  return problems;
};

/** Nobody could be sent to it before the deadline. */
const unopened: Verdict = { statuses: ['failed'], money: 'none', why: 'it could not be opened' };

const verdictOn = (
  { gateway, amount, expiresAt }: Created,
  decided: { entry: Entry; decision: Decision } | undefined,
): Verdict => {
  if (!decided) return { statuses: ['expired'], money: 'none', why: 'the payer decided nothing' };
  const { entry, decision } = decided;
  const inTime = decision.at < expiresAt;
  const late = inTime ? [] : ['expired'];
  if (decision.what === 'refused')
    return { statuses: ['failed', ...late], money: 'none', why: 'the payer’s card was refused' };
  if (decision.what === 'cancelled')
    return { statuses: [...gateway.cancelIs, ...late], money: 'none', why: 'the payer cancelled' };
  if (entry.amount !== gateway.wireOf(amount))
    return { statuses: ['failed', ...late], money: 'back', why: 'another amount was paid' };
  if (inTime) return { statuses: ['paid'], money: 'ours', why: 'it was paid in time' };
  return { statuses: ['paid', 'expired'], money: 'by status', why: 'it was paid late' };
};

const doubles = (reference: string, { charged, verified, reversed }: Entry): string[] =>
  Object.entries({ charged, verified, reversed }).flatMap(([what, times]) =>
    times > 1 ? [`${reference} was ${what} ${times} times`] : [],
  );

const isOurs = ({ verified, reversed }: Entry, { oneStep }: Gateway): boolean =>
  reversed === 0 && (oneStep || verified === 1);

/** What a two-step provider is never asked to confirm it gives back by itself. */
const isBack = ({ verified, reversed }: Entry, { oneStep }: Gateway): boolean =>
  reversed === 1 || (!oneStep && verified === 0);

const sums = ({ state, charged, verified, reversed }: Entry): string =>
  `${state}, charged ${charged}, verified ${verified}, reversed ${reversed}`;

/** Whether money is still to go back, which happens after the payment's end. */
export const isOwed = (payment: Created, ended: Ended): boolean =>
  bookProblems(payment, ended).some((problem) => problem.includes('is not back'));
