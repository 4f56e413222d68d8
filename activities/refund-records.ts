import type { Alert } from '../contract/alerts.ts';
import type { GatewayExchange } from '../contract/gateway-exchange.ts';
import type { RefundStage } from '../contract/refund.ts';
import { dayMs, hourMs, minuteMs } from '../contract/time.ts';
import type { KnownRefund, OpenedPayment } from '../gateways/gateway.ts';
import type { PaymentWithAccount } from '../postgres/payments/outcomes.ts';
import type { RefundEnd, RefundOutcomes, RefundProgress } from '../postgres/refunds/outcomes.ts';
import type { WorkflowCalls } from '../temporal/workflow-calls.ts';
import type { SortedRefunds } from './sort-refunds.ts';
import { alertAbout, type Log } from './log.ts';

export interface Deps {
  refundOutcomes: RefundOutcomes;
  workflows: Pick<WorkflowCalls, 'restart'>;
  now: () => Date;
  logger: Pick<Log, 'warn' | 'error'>;
}

/** One try to refund a payment, with the calls that it made. */
export interface PaymentTry {
  payment: PaymentWithAccount;
  opened: OpenedPayment;
  exchanges: GatewayExchange[];
}
/** A try of a refund that Postgres has. */
export interface RefundTry extends PaymentTry {
  refund: RefundProgress;
}

/** The refund has not ended: its gateway is asked again after this time. */
interface RefundWait {
  /** For who looks at the workflow. */
  says: string;
  afterMs: number;
}
/** Undefined: the gateway is not asked again. */
export type NextWait = RefundWait | undefined;

interface Wait {
  /** By default a fifth of the refund's age. */
  afterMs?: number;
  stage?: RefundStage;
  known?: KnownRefund;
}

/** A gateway may take so long to carry a refund out. After that an admin must look. */
const acceptedDays = 60;
const acceptedAlertDays = 7;
/** When a refund without an answer alerts admins. */
const unknownAlertMs = 15 * minuteMs;
/** The sweeper waits this much longer than the next try: the worker may be busy. */
const slackMs = 2 * minuteMs;

/** A fifth of the refund's age, from a minute to six hours. */
const pauseMs = (ageMs: number): number => Math.min(Math.max(ageMs / 5, minuteMs), 6 * hourMs);

/** Records what became of a refund, and what the gateway knows of others. */
export const createRefundRecords = ({ refundOutcomes, workflows, now, logger }: Deps) => {
  const alert = ({ refund, payment }: RefundTry, name: Alert, message: string) =>
    alertAbout(logger, payment, { alert: name, message, facts: { refund_id: refund.id } });

  /** The time since the gateway was told first, or since the refund was created. */
  const ageMs = ({ refund: { toldAt, createdAt } }: RefundTry): number =>
    now().getTime() - (toldAt ?? createdAt).getTime();

  /** @returns false if a retry has told the gateway since, so that this is no end */
  const finish = async (current: RefundTry, end: RefundEnd): Promise<boolean> => {
    const { refund, exchanges } = current;
    if (refund.status === 'succeeded' && end.status === 'failed')
      alert(current, 'refund_returned', 'The bank sent the money of a refund back');
    return refundOutcomes.finishRefund(refund, end, { now: now(), exchanges });
  };

  /** Leaves the refund to an admin. The workflow ends. */
  const leaveToAdmin = async (current: RefundTry, message: string): Promise<undefined> => {
    alert(current, 'refund_by_hand', message);
    const { refund, exchanges } = current;
    const progress = { stage: 'by_hand', facts: undefined, dueAt: null } as const;
    await refundOutcomes.recordProgress(refund, { ...progress, now: now(), exchanges });
    return undefined;
  };

  /** Records where the refund is, and when it is asked about again. */
  const wait = async (current: RefundTry, says: string, how: Wait = {}): Promise<RefundWait> => {
    const { stage, known, afterMs = pauseMs(ageMs(current)) } = how;
    const { refund, exchanges } = current;
    const time = now();
    await refundOutcomes.recordProgress(refund, {
      stage,
      facts: known && factsOf(known),
      dueAt: new Date(time.getTime() + afterMs + slackMs),
      now: time,
      exchanges,
    });
    return { says, afterMs };
  };

  const waitForGateway = async (current: RefundTry, known: KnownRefund): Promise<NextWait> => {
    const age = ageMs(current);
    if (age > acceptedDays * dayMs)
      return leaveToAdmin(
        current,
        `The gateway has not carried out a refund in ${acceptedDays} days`,
      );
    if (age > acceptedAlertDays * dayMs)
      alert(current, 'refund_pending_long', 'The gateway has not carried out a refund in a week');
    const stage = known.state === 'waiting_for_balance' ? known.state : 'accepted';
    const says =
      stage === 'accepted'
        ? 'The gateway has accepted the refund, and works on it'
        : 'The gateway waits until the account has enough money';
    return wait(current, says, { stage, known });
  };

  return {
    finish,
    leaveToAdmin,
    wait,

    /** The gateway was told of the refund and does not say what became of it. Silence is never an outcome. */
    async waitUnanswered(current: RefundTry, says: string): Promise<RefundWait> {
      if (current.refund.timesTold > 0 && ageMs(current) > unknownAlertMs)
        alert(current, 'refund_unknown', 'A gateway does not say whether it gave money back');
      return wait(current, says);
    },

    /** Records what the gateway says about this refund. A contradiction is no outcome, and a person must look. */
    async record(current: RefundTry, known: KnownRefund): Promise<NextWait> {
      const { refund, payment } = current;
      const { state, code, message, failureCode } = known;
      if (refund.status === 'failed') {
        if (state === 'succeeded')
          alert(current, 'refund_contradicted', 'A gateway gave the money of a failed refund back');
        return undefined;
      }
      if (known.amount !== refund.amount || known.currency !== payment.currency) {
        const text = 'A gateway names another amount or currency for a refund';
        if (refund.status === 'pending') return leaveToAdmin(current, text);
        alert(current, 'refund_contradicted', text);
        return undefined;
      }
      if (state === 'pending' || state === 'waiting_for_balance')
        return refund.status === 'pending' ? waitForGateway(current, known) : undefined;
      const unnamed = refund.status === 'succeeded' ? 'returned_by_bank' : 'unknown';
      await finish(current, {
        ...factsOf(known),
        status: state,
        failureCode: state === 'failed' ? (failureCode ?? unnamed) : null,
        providerMessage: { code, message },
      });
      if (!known.returnsAt) return undefined;
      const afterMs = Math.max(known.returnsAt.getTime() - now().getTime(), 1_000);
      return { says: 'By the plan of a test the money comes back', afterMs };
    },

    /**
     * Records refunds that somebody made at the gateway, and starts their workflows, which deliver their events.
     * @param waiting the refund that this try is about
     */
    async recordMadeAtGateway(
      { payment }: PaymentTry,
      { ours, madeAtGateway }: SortedRefunds,
      waiting?: string,
    ): Promise<void> {
      for (const { reference, refundId, amount, currency, bankReference } of madeAtGateway) {
        if (currency !== payment.currency || !Number.isSafeInteger(amount)) {
          // The comparison of the day names it, too.
          alertAbout(logger, payment, {
            alert: 'refund_contradicted',
            message: 'A gateway has a refund in another currency, or with a fraction of our unit',
            facts: { reference, amount, currency },
          });
          continue;
        }
        const refund = { id: refundId, gatewayReference: reference, amount, bankReference };
        const recorded = await refundOutcomes.recordMadeAtGateway(payment.id, refund, {
          waiting: ours ? undefined : waiting,
          now: now(),
        });
        if (!recorded) continue;
        alertAbout(logger, payment, {
          alert: 'refund_outside',
          message: recorded.isMoreThanPaid
            ? 'Money was given back at the gateway, together more than was paid'
            : 'Money was given back at the gateway, and not through this service',
          facts: { refund_id: recorded.id },
        });
        const { id, application, orderId } = payment;
        // The sweeper heals the delivery if the start fails.
        await workflows
          .restart({
            refundId: recorded.id,
            id,
            application,
            orderId,
            refundAmount: amount,
            currency,
          })
          .catch(() => {});
      }
    },
  };
};

const factsOf = ({ reference, bankReference, expectedAt }: KnownRefund) => ({
  gatewayReference: reference,
  bankReference,
  expectedAt,
});
