import { isTerminal } from '../../../contract/status.ts';
import { Refusal } from '../../operations/change.ts';
import { isInDoubt, webhookTells } from '../../operations/facts.ts';
import type { PaymentRecord } from '../../../postgres/admin/payments.ts';
import type { Application } from '../../../postgres/applications/applications.ts';
import type { ConsoleRole } from '../../../postgres/console/logins.ts';
import type { Action, Question } from '../actions.ts';
import { ofPayment } from '../owner.ts';
import { paymentCells } from './payment-facts.ts';
import type { ConsoleOperations, Owner } from '../request.ts';

interface PaymentAction {
  /** The path below that of the payment. */
  path: string;
  owner?: Owner;
  role?: ConsoleRole;
  /** @throws Refusal if its state does not allow it: it may have ended while the page was open */
  describe: (payment: PaymentRecord, application: Application) => Omit<Question, 'back' | 'facts'>;
  execute: (id: string, operations: ConsoleOperations, reason: string) => Promise<void>;
}

/** A change of one payment, by an operator unless it says more. It leads back to the payment's page. */
const paymentAction = ({
  path,
  role = 'operator',
  describe,
  execute,
  ...access
}: PaymentAction): Action => ({
  ...access,
  path: `/payments/:id/${path}`,
  role,
  confirm: async ({ params: { id }, operations }) => {
    const { payment } = await operations.payments.get(id);
    const application = await operations.applications.get(payment.application);
    return {
      ...describe(payment, application),
      facts: paymentCells(payment),
      back: `/payments/${id}`,
    };
  },
  execute: ({ params: { id }, operations }, reason) => execute(id, operations, reason),
});

/** @throws Refusal */
const needOpen = ({ id, status }: PaymentRecord): void => {
  if (isTerminal(status)) throw new Refusal(`${id} is ${status}.`);
};

const lateMoney = 'goes back if the gateway can return it; otherwise a person must look after it';

/** Only `npm start` has it: a developer sees six attempts and the expiry in a minute. */
export const skipAction = paymentAction({
  path: 'skip',
  owner: ofPayment,
  describe: () => ({
    title: 'Skip to the next step',
    consequence: 'The clock of this payment’s workflow jumps to what it waits for.',
    button: 'Skip',
    done: 'The time until the next step was skipped.',
    isHarmless: true,
  }),
  execute: (id, { payments }, reason) => payments.skipToNextStep(id, reason || null),
});

const verify = paymentAction({
  path: 'verify',
  owner: ofPayment,
  describe: (payment) => {
    needOpen(payment);
    return {
      title: 'Ask the gateway now',
      consequence: 'The gateway is asked about the payment, as the application can ask.',
      button: 'Ask now',
      done: 'The gateway has answered.',
      isHarmless: true,
    };
  },
  execute: async (id, { payments }, reason) => {
    const { isAnswered } = await payments.verify(id, reason || null);
    if (!isAnswered) throw new Refusal('The gateway gave no answer.');
  },
});

const checked = paymentAction({
  path: 'checked',
  describe: (payment) => {
    const { id } = payment;
    if (!isInDoubt(payment)) throw new Refusal(`${id} has no money that somebody must check.`);
    return {
      title: 'The money was checked',
      consequence: `You have looked at the gateway what became of the money of ${id}, and nothing is left to do. It leaves the list of what needs attention.`,
      button: 'It is checked',
      done: 'The payment is marked as checked.',
    };
  },
  execute: (id, { payments }, reason) => payments.check(id, reason),
});

const cancel = paymentAction({
  path: 'cancel',
  owner: ofPayment,
  describe: (payment, application) => {
    needOpen(payment);
    const late = payment.gatewayReference === null ? '' : ` Money that still comes ${lateMoney}.`;
    return {
      title: 'Cancel the payment',
      consequence: `Unless it is paid, or its money is on its way, it ends as cancelled, and ${webhookTells(application, 'payment')}.${late}`,
      button: 'Cancel the payment',
      isDangerous: true,
      done: 'The payment was cancelled.',
    };
  },
  execute: async (id, { payments }, reason) => {
    const { status, isAnswered } = await payments.cancel(id, reason);
    if (!isAnswered) throw new Refusal('The gateway gave no answer, and nothing has changed.');
    if (status !== 'cancelled') throw new Refusal(`It cannot be cancelled: it is ${status}.`);
  },
});

const releaseOrder = paymentAction({
  path: 'release-order',
  role: 'admin',
  describe: (payment) => {
    const { id, orderClaimedAt } = payment;
    needOpen(payment);
    if (orderClaimedAt === null) throw new Refusal(`${id} does not hold its order.`);
    return {
      title: 'Take the order from this payment',
      consequence: `The gateway of ${id} has not said whether it took the money. The payment of the order that asks next may be paid. What the gateway takes for this one afterwards ${lateMoney}.`,
      button: 'Take the order from it',
      isDangerous: true,
      done: 'The payment does not hold its order any more.',
    };
  },
  execute: (id, { payments }, reason) => payments.releaseOrder(id, reason),
});

/** Of one payment. */
export const paymentActions: readonly Action[] = [verify, releaseOrder, cancel, checked];
