import { Refusal } from '../../operations/change.ts';
import type { PaymentRecord } from '../../../postgres/admin-payments.ts';
import type { ConsoleRole } from '../../../postgres/console-logins.ts';
import type { Action, Question } from '../actions.ts';
import { ofPayment } from '../owner.ts';
import { paymentCells } from './payment-facts.ts';
import type { ConsoleOperations, Owner } from '../request.ts';

interface PaymentAction {
  /** The path below that of the payment. */
  path: string;
  owner?: Owner;
  role?: ConsoleRole;
  describe: (payment: PaymentRecord) => Omit<Question, 'back' | 'facts'>;
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
    return { ...describe(payment), facts: paymentCells(payment), back: `/payments/${id}` };
  },
  execute: ({ params: { id }, operations }, reason) => execute(id, operations, reason),
});

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
  describe: () => ({
    title: 'Ask the gateway now',
    consequence: 'The gateway is asked about the payment, as the application can ask.',
    button: 'Ask now',
    done: 'The gateway has answered.',
    isHarmless: true,
  }),
  execute: async (id, { payments }, reason) => {
    const { isAnswered } = await payments.verify(id, reason || null);
    if (!isAnswered) throw new Refusal('The gateway gave no answer.');
  },
});

const checked = paymentAction({
  path: 'checked',
  describe: ({ id }) => ({
    title: 'The money was checked',
    consequence: `You have looked at the gateway what became of the money of ${id}, and nothing is left to do. It leaves the list of what needs attention.`,
    button: 'It is checked',
    done: 'The payment is marked as checked.',
  }),
  execute: (id, { payments }, reason) => payments.check(id, reason),
});

const cancel = paymentAction({
  path: 'cancel',
  owner: ofPayment,
  describe: () => ({
    title: 'Cancel the payment',
    consequence:
      'Unless it is paid, or its money is on its way, it ends as cancelled and the application is told. Money that still comes goes back.',
    button: 'Cancel the payment',
    isDangerous: true,
    done: 'The payment was cancelled.',
  }),
  execute: async (id, { payments }, reason) => {
    const { status, isAnswered } = await payments.cancel(id, reason);
    if (!isAnswered) throw new Refusal('The gateway gave no answer, and nothing has changed.');
    if (status !== 'cancelled') throw new Refusal(`It cannot be cancelled: it is ${status}.`);
  },
});

const releaseOrder = paymentAction({
  path: 'release-order',
  role: 'admin',
  describe: ({ id }) => ({
    title: 'Take the order from this payment',
    consequence: `The gateway of ${id} has not said whether it took the money. The payment of the order that asks next may be paid. What the gateway takes for this one afterwards goes back to its payer.`,
    button: 'Take the order from it',
    isDangerous: true,
    done: 'The payment does not hold its order any more.',
  }),
  execute: (id, { payments }, reason) => payments.releaseOrder(id, reason),
});

/** Of one payment. */
export const paymentActions: readonly Action[] = [verify, releaseOrder, cancel, checked];
