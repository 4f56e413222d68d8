import { setTimeout as sleep } from 'node:timers/promises';
import { activityInfo, heartbeat } from '@temporalio/activity';
import type { AccountDay } from '../contract/movement.ts';
import { dayMs } from '../contract/time.ts';
import type { AdapterOf } from '../gateways/adapters.ts';
import type { GatewayAdapter, GatewayStatus, OpenedPayment } from '../gateways/gateway.ts';
import { findDriver } from '../gateways/registry.ts';
import type {
  AccountComparison,
  DayOfAccount,
  UnpaidDifference,
} from '../postgres/accounts/comparison.ts';
import type { AccountStatement } from '../postgres/accounts/statement.ts';
import type {
  Answer,
  GatewayEntries,
  MovementToAsk,
} from '../postgres/accounts/gateway-entries.ts';
import type { PaymentOutcomes } from '../postgres/payments/outcomes.ts';
import type { Payouts } from '../postgres/accounts/payouts.ts';
import { gatewayNotFound, gatewayUnavailable } from '../temporal/failures.ts';
import type { ReadPages } from '../temporal/messages.ts';
import { type BalanceCalls, pagePauseMs, readBalanceAt } from './account-balance.ts';
import { readPayouts } from './account-payouts.ts';
import { exchangeWith, unknownIfSilent, toOpenedPayment } from './gateway-calls.ts';
import { alertUnlessSandbox, type Log } from './log.ts';

export interface Deps {
  accountComparison: AccountComparison;
  gatewayEntries: GatewayEntries;
  accountStatement: AccountStatement;
  payouts: Pick<Payouts, 'recordListed'>;
  paymentOutcomes: Pick<PaymentOutcomes, 'get'>;
  gatewayOf: AdapterOf;
  /** The running ones of some workflows. */
  runningWorkflows: (ids: readonly string[]) => Promise<Set<string>>;
  publicBaseUrl: string;
  now: () => Date;
  logger: Pick<Log, 'warn' | 'error'>;
}

/** A part of a day's work, and where the next part begins. Null: at the beginning, or the day is done. */
export interface ComparedPart extends AccountDay {
  after: string | null;
}

export interface BookPart extends ComparedPart {
  read?: ReadPages;
}

export interface ListedPart {
  /** False: the gateway has no list. */
  hasList: boolean;
  next: string | null;
  read?: ReadPages;
}

/**
 * A comparison reads its gateway's list back so far, and finds what came in after its day was closed. A reported balance shows what
 * comes later still; without one, it reads a week.
 */
const lookBack = (from: Date, { hasBalance }: { hasBalance: boolean }): Date =>
  new Date(from.getTime() - (hasBalance ? 1 : 7) * dayMs);
/** Less than the timeout of the activity, so that a stopping worker loses little. */
const partMs = 15_000;
/** Two million entries at Stripe, in three hours. A longer list of a day is one without an end. */
const mostPages = 20_000;
const askedAtOnce = 5;
/** A gateway gets at most ten questions a second. */
const askPauseMs = 500;
const heartbeatMs = 5_000;
/**
 * The gateway is asked about its balance and its payouts while a day is new: an older one has too many lines behind it, and
 * a new one follows.
 */
const newDayMs = 2 * dayMs;
/** A restored Postgres may have lost many payments: about so many the admin learns whether their workflow runs. */
const workflowsAsked = 200;
/** A part is tried so often before its silence is a difference. */
const triesWithoutAnswer = 10;

const noPage = { entries: [], lines: [], next: null };
const noPayouts = { payouts: [], next: null };

/** Compares the days of accounts with the gateways' own books. */
export const createCompareAccountsActivities = (deps: Deps) => {
  const { accountComparison, gatewayEntries, accountStatement, paymentOutcomes } = deps;
  const { gatewayOf, publicBaseUrl, now, logger } = deps;

  const findDay = async (day: AccountDay): Promise<DayOfAccount> => {
    const found = await accountComparison.getDay(day);
    if (!found) throw gatewayNotFound(day.gateway);
    return found;
  };

  /** @returns `silent` without a usable answer; undefined for a payment that a purge has deleted */
  const ask = async (movement: MovementToAsk): Promise<Answer | 'silent' | undefined> => {
    const { id, paymentId } = movement;
    const payment = await paymentOutcomes.get(paymentId);
    if (!payment?.reference) return undefined;
    const opened = toOpenedPayment(payment, payment.reference, publicBaseUrl);
    const carriesOurId = findDriver(payment.driver)?.capabilities.refund?.keyed ?? false;
    const called = await exchangeWith(gatewayOf, payment, (gateway) =>
      unknownIfSilent(() => askGateway(gateway, opened, { ...movement, carriesOurId })),
    );
    if ('fault' in called) throw called.fault;
    const { result: answer } = called;
    return 'state' in answer ? 'silent' : { id, ...inWholeUnits(answer) };
  };

  /** A gateway that is silent now reports its balance at the end of a later day. The one of a closed day would have what came later. */
  const askBalance = async (day: AccountDay, { to, ...account }: DayOfAccount): Promise<void> => {
    if (account.isClosed || !gatewayOf(account).balance) return;
    const calls: BalanceCalls = {
      book: async (...page) => (await gatewayOf(account).book?.(...page)) ?? noPage,
      balance: async () => (await gatewayOf(account).balance?.()) ?? [],
    };
    const asked = await unknownIfSilent(async () => ({ amounts: await readBalanceAt(calls, to) }));
    if ('amounts' in asked && asked.amounts)
      await accountStatement.recordReported(day, asked.amounts);
    else logger.warn(day, 'The gateway did not report its balance; the next day has it');
  };

  /** A gateway that is silent now reports its payouts after the next day. */
  const askPayouts = async (
    { gateway, day }: AccountDay,
    { payoutsSince, ...account }: DayOfAccount,
  ): Promise<void> => {
    if (!gatewayOf(account).payouts) return;
    const asked = await unknownIfSilent(() =>
      readPayouts(
        async (...page) => (await gatewayOf(account).payouts?.(...page)) ?? noPayouts,
        payoutsSince,
        (listed) => deps.payouts.recordListed({ gateway, day }, listed),
      ),
    );
    if (asked !== undefined)
      logger.warn({ gateway, reason: asked.reason }, 'The gateway did not report its payouts');
  };

  const askTemporal = async (day: AccountDay): Promise<void> => {
    const unpaid = await accountComparison.listUnpaid(day, workflowsAsked);
    const running = await deps.runningWorkflows(unpaid.map(({ paymentId }) => paymentId));
    const idsOf = (differences: readonly UnpaidDifference[]) => differences.map(({ id }) => id);
    const found = unpaid.filter(({ paymentId }) => running.has(paymentId));
    await accountComparison.recordWorkflows(idsOf(unpaid), idsOf(found));
  };

  return {
    /** The days that are over and not closed, the oldest first. */
    listDueDays: (): Promise<AccountDay[]> => accountComparison.listDue(),

    /**
     * Records the next pages of the gateway's list. At its end the list has replaced the day.
     * @throws GatewayUnavailable without a usable answer, as a list that has no end
     */
    async listBook({ after, read, ...day }: BookPart): Promise<ListedPart> {
      const { from, to, askedAt, ...account } = await findDay(day);
      const until = performance.now() + partMs;
      let next = after;
      let soFar: ReadPages = read ?? { since: askedAt, pages: 0, mark: null };
      do {
        heartbeat();
        const { book, balance } = gatewayOf(account);
        if (!book) return { hasList: false, next: null };
        const page = await book({ from: lookBack(from, { hasBalance: !!balance }), to }, next);
        await gatewayEntries.recordEntries(day, page.entries);
        await accountStatement.recordLines(day, page.lines);
        ({ next } = page);
        if (next === null) {
          await gatewayEntries.forgetUnlisted(day, soFar.since);
          await accountStatement.forgetUnlisted(day, soFar.since);
          return { hasList: true, next };
        }
        soFar = countPage(soFar, next, day.gateway);
        await sleep(pagePauseMs);
      } while (performance.now() < until);
      return { hasList: true, next, read: soFar };
    },

    /**
     * Asks the gateway about the next movements that its book does not show.
     * @returns where to go on; null: all are asked
     * @throws GatewayUnavailable if it gave no usable answer about any of them
     */
    async askAboutMovements({ after, ...day }: ComparedPart): Promise<string | null> {
      const { gateway } = await findDay(day);
      if (after === null) await gatewayEntries.forgetAnswers(day);
      const until = performance.now() + partMs;
      let position = after ?? '';
      do {
        heartbeat();
        const page = { after: position, limit: askedAtOnce };
        const movements = await gatewayEntries.listToAsk(day, page);
        const answers = await Promise.all(movements.map(ask));
        const isSilent = answers.length > 0 && answers.every((answer) => answer === 'silent');
        if (isSilent && activityInfo().attempt < triesWithoutAnswer)
          throw gatewayUnavailable(`${gateway} gave no usable answer`);
        const recorded = movements.flatMap(({ id }, index) => {
          const answer = answers[index];
          return answer === 'silent' ? { id, result: 'unanswered' as const } : (answer ?? []);
        });
        await gatewayEntries.recordAnswers(recorded);
        const last = movements.at(-1);
        if (!last || movements.length < askedAtOnce) return null;
        position = last.id;
        await sleep(askPauseMs);
      } while (performance.now() < until);
      return position;
    },

    /** Names the differences of the day and closes it. Alerts admins about money that is not paid here. */
    async finishDay({ hasList, ...day }: AccountDay & { hasList: boolean }): Promise<number> {
      const account = await findDay(day);
      const { gatewayKind } = account;
      // A day with many entries takes a while.
      const beating = setInterval(heartbeat, heartbeatMs);
      try {
        const age = now().getTime() - account.to.getTime();
        if (age >= 0 && age <= newDayMs) {
          if (hasList) await askBalance(day, account);
          await askPayouts(day, account);
        }
        const { open, newUnknown } = await accountComparison.findDifferences(day);
        // Now, because a retry finds that they are not new.
        if (newUnknown > 0)
          alertUnlessSandbox(logger, gatewayKind, {
            alert: 'unknown_money',
            message: "A gateway's book has money that is not paid here",
            facts: { ...day, count: newUnknown },
          });
        await askTemporal(day);
        await accountComparison.finishDay(day, hasList ? 'list' : 'each');
        return open;
      } finally {
        clearInterval(beating);
      }
    },
  };
};

/**
 * Counts a page that another one follows. The mark moves on after 1, 2, 4, 8 … pages (Brent's algorithm), so that it gets into a circle
 * of positions, however long that is, and comes again there.
 * @throws GatewayUnavailable for a list that has no end
 */
const countPage = (read: ReadPages, next: string, gateway: string): ReadPages => {
  const { pages, mark } = read;
  const count = pages + 1;
  if (next === mark)
    throw gatewayUnavailable(`The list of ${gateway} repeats its position ${next}`);
  if (count >= mostPages)
    throw gatewayUnavailable(`The list of ${gateway} has more than ${mostPages} pages for a day`);
  const isPowerOfTwo = (count & (count - 1)) === 0;
  return { ...read, pages: count, mark: isPowerOfTwo ? next : mark };
};

type Found = Pick<Answer, 'result' | 'amount' | 'currency'>;

const askGateway = async (
  gateway: GatewayAdapter,
  payment: OpenedPayment,
  {
    kind,
    refundId,
    reference,
    hasReturned,
    carriesOurId,
  }: MovementToAsk & { carriesOurId: boolean },
): Promise<Found> => {
  if (kind !== 'refund' && kind !== 'refund_returned') {
    const status = await gateway.inquire(payment);
    return kind === 'late_reversal' ? reversalIn(status) : captureIn(status);
  }
  if (!gateway.refunds) return unclear;
  const known = await gateway.refunds(payment, reference === null ? [] : [reference]);
  const found = known.find((each) => each.refundId === refundId || each.reference === reference);
  // A person has settled it, and nothing leads to it at the gateway.
  if (!found && reference === null && !carriesOurId) return unclear;
  const isAsHere =
    found?.state === (kind === 'refund_returned' ? 'failed' : 'succeeded') ||
    (found?.state === 'failed' && hasReturned);
  if (!found || !isAsHere) return { result: 'absent' };
  return { result: 'found', amount: found.amount, currency: found.currency };
};

/** A fraction of our minor unit is no amount that can be recorded. */
const inWholeUnits = (found: Found): Found =>
  Number.isInteger(found.amount ?? 0) ? found : unclear;

const unclear: Found = { result: 'unanswered' };

const captureIn = (status: GatewayStatus): Found => {
  switch (status.state) {
    case 'paid':
      return { result: 'found', amount: status.amount, currency: status.currency };
    case 'failed':
      // Captured, and all of it was given back since.
      return { result: status.failureCode === 'payment_reversed' ? 'found' : 'absent' };
    case 'processing':
    case 'unconfirmed':
      return unclear;
    case 'cancelled':
    case 'expired':
    case 'waiting':
      return { result: 'absent' };
  }
};

/** The money is not there any more, so it went back. */
const reversalIn = ({ state }: GatewayStatus): Found => {
  if (state === 'processing') return unclear;
  return { result: state === 'paid' ? 'absent' : 'found' };
};
