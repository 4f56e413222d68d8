import type { Entry } from '../test/fakes/server.ts';
import type { Decision, Gateway } from './gateways.ts';
import type { Created } from './wishes.ts';

/** What of a payment the gateway's own books allow: statuses, and where the money has to be. */
interface Verdict {
  statuses: readonly string[];
  /** Why, in the service's words, where it is `failed`. */
  failure?: string | undefined;
  money: 'none' | 'ours' | 'back' | 'by status';
  why: string;
}

/** How the service says that it ended. */
interface Ended {
  status: string;
  failure_code: string | null;
}

/** And what it says of the money, null where it is not paid. */
interface Told extends Ended {
  tracking_code: string | null;
  card_pan_masked: string | null;
  paid_at: string | null;
}

/** Where a payment is not as the gateway's own books say. */
export const bookProblems = (payment: Created, told: Told): string[] => {
  const { gateway, id } = payment;
  const { status, failure_code: failureCode } = told;
  const entries = gateway.entriesOf(id);
  const { charged, decided, verdict, mustBe } = read(payment, told);
  const { statuses, failure = null, why } = verdict;
  const problems = entries.flatMap(([reference, entry]) => [
    ...doubles(reference, entry),
    ...wireProblems(payment, { reference, entry }),
  ]);
  if (charged.length > 1) problems.push(`the payer was charged ${charged.length} times`);
  if (!statuses.includes(status))
    problems.push(`it ended ${status}, and must be ${statuses.join(' or ')}: ${why}`);
  const mustFailBy = status === 'failed' ? failure : null;
  if (failureCode !== mustFailBy)
    problems.push(`its failure code is ${failureCode}, and must be ${mustFailBy}: ${why}`);
  problems.push(...paidProblems(payment, told, decided));
  const [entry] = charged;
  if (entry && mustBe === 'ours' && !isOurs(entry, gateway))
    problems.push(`it is ${status}, but the gateway did not keep the money (${sums(entry)})`);
  if (entry && mustBe === 'back' && !isBack(entry, gateway))
    problems.push(`the payer's money is not back (${sums(entry)})`);
  return problems;
};

interface Decided {
  entry: Entry;
  decision: Decision;
}

const read = (payment: Created, { status, failure_code: failureCode }: Ended) => {
  const { gateway, id, reference: sentTo } = payment;
  const entries = gateway.entriesOf(id);
  const charged = entries.flatMap(([, entry]) => (entry.charged > 0 ? [entry] : []));
  const decided = decidedOn(payment);
  const verdict =
    failureCode === 'gateway_error' && sentTo === undefined
      ? unopened
      : verdictOn(payment, decided);
  const { money } = verdict;
  const mustBe = money === 'by status' ? (status === 'paid' ? 'ours' : 'back') : money;
  return { charged, decided, verdict, mustBe };
};

/** What the payer decided at the gateway, and what became of it there. */
export const decidedOn = ({ gateway, id }: Created): Decided | undefined => {
  const [decided] = gateway.entriesOf(id).flatMap(([reference, entry]): Decided[] => {
    const decision = gateway.decisionOn(reference);
    return decision ? [{ entry, decision }] : [];
  });
  return decided;
};

/** Nobody could be sent to it before the deadline. */
const unopened: Verdict = {
  ...{ statuses: ['failed'], failure: 'gateway_error', money: 'none' },
  why: 'it could not be opened',
};

const verdictOn = (
  { gateway, amount, expiresAt }: Created,
  decided: Decided | undefined,
): Verdict => {
  if (!decided) return { statuses: ['expired'], money: 'none', why: 'the payer decided nothing' };
  const { entry, decision } = decided;
  const { cancelIs, failureOf, wireOf } = gateway;
  const inTime = decision.at < expiresAt;
  const late = inTime ? [] : ['expired'];
  if (decision.what === 'refused') {
    const statuses = ['failed', ...late];
    const failure = failureOf.refused;
    return { statuses, failure, money: 'none', why: 'the payer’s card was refused' };
  }
  if (decision.what === 'cancelled') {
    const statuses = [...cancelIs, ...late];
    const failure = failureOf.cancelled;
    return { statuses, failure, money: 'none', why: 'the payer cancelled' };
  }
  if (entry.amount !== wireOf(amount)) {
    const statuses = ['failed', ...late];
    return { statuses, failure: 'amount_mismatch', money: 'back', why: 'another amount was paid' };
  }
  if (inTime) return { statuses: ['paid'], money: 'ours', why: 'it was paid in time' };
  return { statuses: ['paid', 'expired'], money: 'by status', why: 'it was paid late' };
};

const doubles = (reference: string, { charged, verified, reversed }: Entry): string[] =>
  Object.entries({ charged, verified, reversed }).flatMap(([what, times]) =>
    times > 1 ? [`${reference} was ${what} ${times} times`] : [],
  );

/** Another amount is in the books only where the payer's story says so, and never another currency. */
const wireProblems = (
  { gateway, amount, story }: Created,
  { reference, entry }: { reference: string; entry: Entry },
): string[] => {
  const ours = gateway.wireOf(amount);
  const { wireCurrency } = gateway;
  const problems: string[] = [];
  if (entry.amount !== ours && story !== 'wrongAmount')
    problems.push(`${reference} is about ${entry.amount}, and must be about ${ours}`);
  if (entry.currency !== wireCurrency)
    problems.push(`${reference} is in ${entry.currency}, and must be in ${wireCurrency}`);
  return problems;
};

/** What a receipt says is the gateway's; of what is not paid there is none. */
const paidProblems = (payment: Created, told: Told, decided: Decided | undefined): string[] => {
  const receipt = told.status === 'paid' ? decided : undefined;
  const must = {
    tracking_code: receipt?.entry.trackingCode ?? null,
    card_pan_masked: mayTellCard(payment, told) ? (receipt?.entry.card ?? null) : null,
  };
  const problems = Object.entries(must).flatMap(([name, right]) => {
    const said = told[name as keyof typeof must]; // Its own key.
    return said === right ? [] : [`its ${name} is ${said}, and the gateway's ${right}`];
  });
  const { paid_at: paidAt } = told;
  if ((paidAt !== null) !== (told.status === 'paid'))
    problems.push(`it is ${told.status}, and its paid_at ${paidAt}`);
  if (paidAt !== null && receipt && Date.parse(paidAt) < receipt.decision.at)
    problems.push(`its paid_at, ${paidAt}, is before the payer paid`);
  return problems;
};

const mayTellCard = (
  { gateway, id }: Created,
  { card_pan_masked: card }: Pick<Told, 'card_pan_masked'>,
): boolean => {
  if (gateway.tellsCard !== 'verifying' || card !== null) return gateway.tellsCard !== 'never';
  const references = gateway.entriesOf(id).map(([reference]) => reference);
  const verifications = gateway.provider.calls.filter(
    ({ path, text }) => path.endsWith('/verify') && references.some((one) => text.includes(one)),
  );
  return verifications.length <= 1;
};

const isOurs = ({ verified, reversed }: Entry, { oneStep }: Gateway): boolean =>
  reversed === 0 && (oneStep || verified === 1);

/** What a two-step provider is never asked to confirm it gives back by itself. */
const isBack = ({ verified, reversed }: Entry, { oneStep }: Gateway): boolean =>
  reversed === 1 || (!oneStep && verified === 0);

const sums = ({ state, charged, verified, reversed }: Entry): string =>
  `${state}, charged ${charged}, verified ${verified}, reversed ${reversed}`;

/** Whether money is still to go back, which happens after the payment's end. */
export const isOwed = (payment: Created, ended: Ended): boolean => {
  const { charged, mustBe } = read(payment, ended);
  return mustBe === 'back' && charged.some((entry) => !isBack(entry, payment.gateway));
};
