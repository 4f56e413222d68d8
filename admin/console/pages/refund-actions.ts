import { formatMoney } from '../../../contract/money.ts';
import { Refusal } from '../../operations/change.ts';
import { webhookTells } from '../../operations/facts.ts';
import type { RefundDetails } from '../../operations/refund-details.ts';
import type { RefundRecord } from '../../../postgres/admin/refunds.ts';
import type { Application } from '../../../postgres/applications/applications.ts';
import type { Action, Question } from '../actions.ts';
import type { ConsoleOperations, PersonRequest } from '../request.ts';
import { giveBack } from './give-back.ts';
import { isOwnWish, refundCells, refundDetails } from './refund.ts';

interface RefundAction {
  /** The path below that of the refund. */
  path: string;
  /** Why this person cannot do it now; undefined: nothing hinders. */
  hinders: (refund: RefundRecord, request: PersonRequest) => string | false | undefined;
  describe: (details: RefundDetails, application: Application) => Omit<Question, 'back' | 'facts'>;
  execute: (refunds: ConsoleOperations['refunds'], id: string, reason: string) => Promise<unknown>;
}

/** A change of one refund by an admin. The question shows everything that one signs for. */
const refundAction = ({ path, hinders, describe, execute }: RefundAction): Action => ({
  path: `/refunds/:id/${path}`,
  role: 'admin',
  isSensitive: true,
  confirm: async (request) => {
    const details = await refundDetails(request);
    const { refund } = details;
    const problem = hinders(refund, request);
    if (problem) throw new Refusal(problem);
    const application = await request.operations.applications.get(refund.application);
    return {
      ...describe(details, application),
      facts: refundCells(details),
      back: `/refunds/${refund.id}`,
    };
  },
  execute: async ({ operations, params: { id } }, reason) => {
    await execute(operations.refunds, id, reason);
  },
});

const isWaiting = ({ status, toConfirm, cancelRequested }: RefundRecord): boolean =>
  status === 'pending' && toConfirm && !cancelRequested;

const notWaiting = (refund: RefundRecord): string | false =>
  !isWaiting(refund) && 'It does not wait for a second admin.';

const isReserved = ({ stage, cancelRequested }: RefundRecord): boolean =>
  stage === 'reserved' && !cancelRequested;

const notByHand = ({ stage }: RefundRecord): string | false =>
  stage !== 'by_hand' && 'It does not wait for a decision.';

/** A chargeback and the refunds of the payment exceed what was paid: no gateway is told of this one. */
const isDisputed = ({ refund, payment }: RefundDetails): boolean =>
  refund.method !== 'recorded' &&
  refund.timesTold === 0 &&
  payment.amountDisputed > 0 &&
  payment.amountRefunded + payment.amountRefundPending + payment.amountDisputed > payment.amount;
const disputedEnd =
  'A chargeback holds the money: the refund ends as failed, and nothing goes back.';

/** The end of a sentence: its failure frees its amount for the next refund, unless a chargeback holds it. */
const freed = ({ payment }: RefundDetails): string =>
  payment.amountDisputed === 0
    ? 'its amount can be refunded again'
    : `its amount is no longer reserved, while chargebacks hold ${formatMoney({ ...payment, amount: payment.amountDisputed })} of the payment`;

export const refundActions: readonly Action[] = [
  giveBack,
  refundAction({
    path: 'confirm',
    hinders: (refund, request) =>
      notWaiting(refund) ||
      (isOwnWish(refund, request) &&
        'You have asked for this refund yourself. Another admin must confirm it.'),
    describe: (details) => {
      const sum = formatMoney(details.refund);
      const goesBack = details.refund.method !== 'recorded' && !isDisputed(details);
      return {
        title: 'Confirm the refund',
        consequence: goesBack
          ? `${sum} goes back to the payer. It cannot be called off once the gateway was told.`
          : isDisputed(details)
            ? disputedEnd
            : `${sum} is recorded as given back outside of the gateway.`,
        button: goesBack ? `Give ${sum} back` : `Confirm ${sum}`,
        done: 'The refund was confirmed.',
      };
    },
    execute: (refunds, id, reason) => refunds.confirm(id, reason),
  }),
  refundAction({
    path: 'refuse',
    hinders: notWaiting,
    describe: (details) => ({
      title: 'Refuse the refund',
      consequence: `The refund of ${formatMoney(details.refund)} is called off and ends as failed. Its gateway was told nothing, and ${freed(details)}.`,
      button: `Refuse ${formatMoney(details.refund)}`,
      done: 'The refund was refused.',
    }),
    execute: (refunds, id, reason) => refunds.refuse(id, reason),
  }),
  refundAction({
    path: 'cancel',
    hinders: (refund) =>
      !isReserved(refund) && 'The gateway was told of it, it was called off, or it has ended.',
    describe: (details) => ({
      title: 'Call the refund off',
      consequence: `Unless the gateway was told meanwhile, the refund of ${formatMoney(details.refund)} ends as failed, and ${freed(details)}.`,
      button: `Call ${formatMoney(details.refund)} off`,
      isDangerous: true,
      done: 'The refund was called off.',
    }),
    execute: (refunds, id, reason) => refunds.cancel(id, reason),
  }),
  refundAction({
    path: 'release',
    hinders: ({ waitsForApplication, cancelRequested }) =>
      (!waitsForApplication || cancelRequested) &&
      'It does not wait for its application to be enabled.',
    describe: (details) => {
      const { refund } = details;
      const sum = formatMoney(refund);
      const next = isDisputed(details)
        ? disputedEnd
        : refund.timesTold === 0
          ? `The gateway is told now, and ${sum} goes back.`
          : `The gateway was told before. It is asked, and may be told again to give ${sum} back.`;
      return {
        title: 'Let the refund go on',
        consequence: `${refund.application} is disabled, so the refund waits. ${next}`,
        button: isDisputed(details) ? 'Let it go on' : `Give ${sum} back`,
        isDangerous: true,
        done: 'The refund goes on.',
      };
    },
    execute: (refunds, id, reason) => refunds.release(id, reason),
  }),
  refundAction({
    path: 'succeeded',
    hinders: notByHand,
    describe: ({ refund }, application) => ({
      title: 'The money was given back',
      consequence: `The refund of ${formatMoney(refund)} ends as succeeded, and ${webhookTells(application, 'refund')}.`,
      button: `${formatMoney(refund)} was given back`,
      done: 'The refund ends as succeeded.',
    }),
    execute: (refunds, id, reason) => refunds.settle(id, 'succeeded', reason),
  }),
  refundAction({
    path: 'failed',
    hinders: notByHand,
    describe: (details) => ({
      title: 'The money was not given back',
      consequence: `The refund ends as failed, and ${freed(details)}. If the gateway has given it back after all, it could go back twice.`,
      button: `${formatMoney(details.refund)} was not given back`,
      isDangerous: true,
      done: 'The refund ends as failed.',
    }),
    execute: (refunds, id, reason) => refunds.settle(id, 'failed', reason),
  }),
];
