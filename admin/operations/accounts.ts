import type { AccountDifferenceKind } from '../../contract/account-difference.ts';
import { refundId } from '../../contract/ids.ts';
import { isTerminal } from '../../contract/status.ts';
import {
  type AccountDifference,
  type ComparedDay,
  createAccountDays,
  type DifferenceFilter,
  type DifferenceOwner,
} from '../../postgres/accounts/days.ts';
import type { AccountDay, MovementSum } from '../../contract/movement.ts';
import { dayMs, hourMs, isoTime } from '../../contract/time.ts';
import { createAdminPayments } from '../../postgres/admin/payments.ts';
import { createGateways } from '../../postgres/gateways/gateways.ts';
import {
  createMovements,
  type ExportedMovement,
  type ExportFilter,
} from '../../postgres/accounts/movements.ts';
import { addUpMonth, fileOfMonth, type MonthOfAccounts, monthOf } from './account-month.ts';
import { type Change, NotFound, recordFailure, Refusal } from './change.ts';
import { csvOf, decimalOf } from './csv.ts';
import type { Deps } from './deps.ts';
import { findApplication } from './applications.ts';
import { checkGateway } from './gateways.ts';
import { needTemporal } from './need-temporal.ts';

/** The range of days of a list, YYYY-MM-DD, both included. */
export interface DayRange {
  from: string;
  to: string;
  /** Null: every one. */
  gateway: string | null;
}

/** The lines of a file, and the gateways whose days are not all closed: it may get more. */
interface FileOfDays {
  lines: AsyncGenerator<string>;
  open: { gateway: string; lastClosedDay: string | null }[];
}

/** The routine that can mend a difference. Null: an admin can only explain it. */
export const mendOf = ({ kind, paymentId, refundId: ours }: AccountDifference): string | null =>
  // A refund of ours that has failed here stays so.
  paymentId === null || ours !== null ? null : (mends[kind] ?? null);

const mends: Partial<Record<AccountDifferenceKind, string>> = {
  captured_not_paid: 'ask the gateway about the payment, or look for late money if it has ended',
  refund_unknown: 'record the refund that the gateway has',
};

/** The operations of admins and accountants on movements, days and differences. */
export const createAccountOperations = ({
  sql,
  change,
  temporal,
  now,
}: Pick<Deps, 'sql' | 'change' | 'temporal' | 'now'>) => {
  const days = createAccountDays(sql);
  const movements = createMovements(sql);

  const find = async (id: number): Promise<AccountDifference> => {
    const difference = await days.getDifference(id);
    if (!difference) throw new NotFound(`There is no difference ${id}.`);
    return difference;
  };

  /** @throws NotFound for a name that nothing has: it would look like a name without data */
  const checkNames = async (names: { gateway?: string | null; application: string | null }) => {
    if (names.gateway) await checkGateway(sql, names.gateway);
    if (names.application !== null) await findApplication(sql, names.application);
  };

  /** @throws NotFound, Refusal for a range in which nothing can be */
  const prepareFile = async (range: DayRange & DifferenceOwner) => {
    await checkNames(range);
    const problem = findEmptyRange(range, now());
    if (problem !== undefined) throw new Refusal(problem);
    const all = (await createGateways(sql).list()).map(({ slug }) => slug);
    const gateways = range.gateway === null ? all : [range.gateway];
    const last = await days.lastClosed();
    const open = gateways.flatMap((gateway) => {
      const lastClosedDay = last.get(gateway) ?? null;
      return lastClosedDay === null || lastClosedDay < range.to ? [{ gateway, lastClosedDay }] : [];
    });
    return { gateways, open };
  };

  const setState = async (id: number, state: 'open' | 'explained', reason: string) => {
    const action = state === 'open' ? 'account_difference.reopen' : 'account_difference.explain';
    await change({ action, subject: `account_difference:${id}`, reason }, async (tx) => {
      const before = await find(id);
      if (before.state === state) throw new Refusal(`The difference ${id} is ${state} already.`);
      await createAccountDays(tx).setState(id, state, reason);
      const { kind, gateway, day, subject } = before;
      return { before: { state: before.state }, after: { state, kind, gateway, day, subject } };
    });
  };

  return {
    /** @param owner whose differences count */
    async listDays(range: DayRange, owner: DifferenceOwner): Promise<ComparedDay[]> {
      await checkNames({ ...range, ...owner });
      return days.list(range, owner);
    },

    sum: (filter: ExportFilter): Promise<MovementSum[]> => movements.sum(filter),

    async listDifferences(filter: DifferenceFilter, limit: number): Promise<AccountDifference[]> {
      await checkNames(filter);
      return days.listDifferences(filter, limit);
    },

    getDifference: find,

    /**
     * Has a worker compare a day with the gateway's own book, now. It changes no movement and leaves no record.
     * @throws Refusal for a day that has not begun, or without Temporal
     */
    async compare({ gateway, day }: AccountDay): Promise<void> {
      const listed = (await createGateways(sql).list()).find(({ slug }) => slug === gateway);
      if (!listed) throw new NotFound(`There is no gateway "${gateway}".`);
      if (Date.parse(day) + 2 * dayMs < listed.createdAt.getTime())
        throw new Refusal(`${day} is before the gateway "${gateway}" was added.`);
      const problem = findEmptyRange({ from: day, to: day }, now());
      if (problem !== undefined) throw new Refusal(problem);
      const workflows = await needTemporal(temporal);
      await needTemporal(() => workflows.compareAccountDay({ gateway, day }));
    },

    /** An admin has found out why. */
    explain: (id: number, reason: string): Promise<void> => setState(id, 'explained', reason),

    reopen: (id: number, reason: string): Promise<void> => setState(id, 'open', reason),

    /**
     * Starts what mends a difference. The next comparison of its day finds out whether it did.
     * @throws Refusal for a difference that no routine can mend, or without Temporal
     */
    async mend(id: number, reason: string | null): Promise<void> {
      const difference = await find(id);
      const { paymentId, kind, gateway, subject } = difference;
      if (paymentId === null || mendOf(difference) === null)
        throw new Refusal('No routine can mend it: find out why, and explain it.');
      const payment = await createAdminPayments(sql).get(paymentId);
      if (!payment) throw new Refusal(`There is no payment ${paymentId}.`);
      const workflows = await needTemporal(temporal);
      const action = 'account_difference.mend';
      const mending: Change = { action, subject: `account_difference:${id}`, reason };
      await change(mending, async () => ({
        before: { state: difference.state },
        after: { kind, payment: paymentId },
      }));
      const start = (): Promise<unknown> => {
        if (kind === 'refund_unknown')
          return workflows.recheck({ ...payment, refundId: refundId([gateway, subject]) });
        return isTerminal(payment.status)
          ? workflows.startLatePayment(paymentId)
          : workflows.recheck(payment);
      };
      await recordFailure(change, mending, () => needTemporal(start));
    },

    /** @param month YYYY-MM */
    async month(
      month: string,
      gateways: readonly string[],
      owner: DifferenceOwner,
    ): Promise<MonthOfAccounts> {
      await checkNames(owner);
      return addUpMonth(sql, gateways, monthOf(month), owner);
    },

    /** The lines of a CSV file with the sums, the payouts and what is open of a month, which was added up. @param month YYYY-MM */
    async exportMonth(month: string, owner: DifferenceOwner): Promise<FileOfDays> {
      const range = monthOf(month);
      const { gateways, open } = await prepareFile({ ...range, gateway: null, ...owner });
      const found = await addUpMonth(sql, gateways, range, owner);
      return { open, lines: fileOfMonth(found, month) };
    },

    /** The lines of a CSV file with the movements of some days. */
    async exportMovements(range: DayRange & DifferenceOwner): Promise<FileOfDays> {
      const { gateways, open } = await prepareFile(range);
      const pages = gateways.map((gateway) => movements.export({ ...range, gateway }));
      return { open, lines: fileOf(pages) };
    },

    /** Calculates the hash of each closed day again, the oldest of each gateway first. */
    verify: () => days.verify(),
  };
};

/** Why nothing can be in a range of days; undefined if something may be. No time zone is more than 14 hours ahead. */
const findEmptyRange = (
  { from, to }: Pick<DayRange, 'from' | 'to'>,
  now: Date,
): string | undefined => {
  if (to < from) return `${to} is before ${from}.`;
  const hasBegun = Date.parse(from) - 14 * hourMs <= now.getTime();
  return hasBegun ? undefined : `${from} has not begun.`;
};

async function* fileOf(
  ofGateways: readonly AsyncGenerator<ExportedMovement[]>[],
): AsyncGenerator<string> {
  yield columns.heading;
  for (const pages of ofGateways)
    for await (const page of pages) yield page.map((each) => columns.line(each)).join('');
}

const columns = csvOf<[ExportedMovement]>({
  movement_id: ({ id }) => id,
  kind: ({ kind }) => kind,
  day: ({ day }) => day,
  earlier_day: ({ earlierDay }) => earlierDay,
  occurred_at: ({ localTime }) => localTime,
  payment_id: ({ paymentId }) => paymentId,
  refund_id: ({ refundId: id }) => id,
  order_id: ({ orderId }) => orderId,
  application: ({ application }) => application,
  gateway: ({ gateway }) => gateway,
  reference: ({ reference }) => reference,
  currency: ({ currency }) => currency,
  amount_minor: ({ amount }) => amount,
  amount: decimalOf,
  test: ({ test }) => (test ? 'yes' : 'no'),
  recorded_at: ({ recordedAt }) => isoTime(recordedAt),
});
