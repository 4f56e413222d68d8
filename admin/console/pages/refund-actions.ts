import { formatMoney } from '../../../contract/money.ts';
import { Refusal } from '../../operations/change.ts';
import type { RefundDetails } from '../../operations/refund-details.ts';
import type { RefundRecord } from '../../../postgres/admin-refunds.ts';
import type { Action, Question } from '../actions.ts';
import type { ConsoleOperations, PersonRequest } from '../request.ts';
import { giveBack } from './give-back.ts';
import { isOwnWish, refundCells, refundDetails } from './refund.ts';

interface RefundAction {
  /** The path below that of the refund. */
  path: string;
  /** Why this person cannot do it now; undefined: nothing hinders. */
  hinders: (refund: RefundRecord, request: PersonRequest) => string | false | undefined;
  describe: (details: RefundDetails) => Omit<Question, 'back' | 'facts'>;
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
    return { ...describe(details), facts: refundCells(details), back: `/refunds/${refund.id}` };
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

export const refundActions: readonly Action[] = [
  giveBack,
  refundAction({
    path: 'confirm',
    hinders: (refund, request) =>
      notWaiting(refund) ||
      (isOwnWish(refund, request) &&
        'You have asked for this refund yourself. Another admin must confirm it.'),
    describe: ({ refund }) => ({
      title: 'Confirm the refund',
      consequence:
        refund.method === 'recorded'
          ? `${formatMoney(refund)} is recorded as given back outside of the gateway.`
          : `${formatMoney(refund)} goes back to the payer. It cannot be called back once the gateway was told.`,
      button:
        refund.method === 'recorded'
          ? `Confirm ${formatMoney(refund)}`
          : `Give ${formatMoney(refund)} back`,
      done: 'The refund was confirmed.',
    }),
    execute: (refunds, id, reason) => refunds.confirm(id, reason),
  }),
  refundAction({
    path: 'refuse',
    hinders: notWaiting,
    describe: ({ refund }) => ({
      title: 'Refuse the refund',
      consequence: `The refund of ${formatMoney(refund)} ends as failed. Its gateway was told nothing, and its amount can be refunded again.`,
      button: `Refuse ${formatMoney(refund)}`,
      done: 'The refund was refused.',
    }),
    execute: (refunds, id, reason) => refunds.refuse(id, reason),
  }),
  refundAction({
    path: 'cancel',
    hinders: (refund) =>
      !isReserved(refund) && 'The gateway was told of it, it was called off, or it has ended.',
    describe: ({ refund }) => ({
      title: 'Call the refund off',
      consequence: `Unless the gateway was told meanwhile, the refund of ${formatMoney(refund)} ends as failed, and its amount can be refunded again.`,
      button: `Call ${formatMoney(refund)} off`,
      isDangerous: true,
      done: 'The refund was called off.',
    }),
    execute: (refunds, id, reason) => refunds.cancel(id, reason),
  }),
  refundAction({
    path: 'release',
    hinders: ({ isHeld, cancelRequested }) =>
      (!isHeld || cancelRequested) && 'It does not wait for its application to be enabled.',
    describe: ({ refund }) => ({
      title: 'Let the refund go on',
      consequence: `${refund.application} is disabled, so the refund waits. The gateway is told now, and ${formatMoney(refund)} goes back.`,
      button: `Give ${formatMoney(refund)} back`,
      isDangerous: true,
      done: 'The refund goes on.',
    }),
    execute: (refunds, id, reason) => refunds.release(id, reason),
  }),
  refundAction({
    path: 'succeeded',
    hinders: notByHand,
    describe: ({ refund }) => ({
      title: 'The money was given back',
      consequence: `The refund of ${formatMoney(refund)} ends as succeeded, and the application is told.`,
      button: `${formatMoney(refund)} was given back`,
      done: 'The refund ends as succeeded.',
    }),
    execute: (refunds, id, reason) => refunds.settle(id, 'succeeded', reason),
  }),
  refundAction({
    path: 'failed',
    hinders: notByHand,
    describe: ({ refund }) => ({
      title: 'The money was not given back',
      consequence: `The refund ends as failed, and ${formatMoney(refund)} can be refunded again. If the gateway has given it back after all, it could go back twice.`,
      button: `${formatMoney(refund)} was not given back`,
      isDangerous: true,
      done: 'The refund ends as failed.',
    }),
    execute: (refunds, id, reason) => refunds.settle(id, 'failed', reason),
  }),
];
