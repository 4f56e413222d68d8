import { html } from 'hono/html';
import { formatMoney } from '../../../contract/money.ts';
import { isTerminal } from '../../../contract/status.ts';
import { Refusal } from '../../operations/change.ts';
import { countOf } from '../../operations/fact.ts';
import { overRuleText } from '../../operations/facts.ts';
import { markOfRefunds, type OrderRefund, sumsOf } from '../../operations/orders.ts';
import type { Action } from '../actions.ts';
import { nowrap, type Row, shortId } from '../html.ts';
import { redirect } from '../request.ts';
import { orderPath } from '../thing-page.ts';
import { orderCells, orderIn, sumsText } from './order.ts';
import { moneyTag } from './payment-facts.ts';

const rowOf = ({ payment, amount, problem, overRule }: OrderRefund): Row => ({
  Payment: shortId(`/payments/${payment.id}`, payment.id),
  'To give back': html`<div>${problem === null ? formatMoney({ ...payment, amount }) : 'nothing'}</div>
    <div class="soft">
      ${problem ?? (overRule && overRuleText(overRule, { currency: payment.currency, asker: null }))}
    </div>`,
  'Gateway, card': html`${payment.gateway} ${moneyTag(payment)}
    <div>${payment.cardPanMasked && nowrap(payment.cardPanMasked)}</div>`,
});

/** Several refunds, each as if the admin had asked for it on the page of its payment. */
const giveEverythingBack: Action = {
  path: '/orders/:slug/refund',
  role: 'admin',
  isSensitive: true,
  confirm: async (request) => {
    const { operations, cells } = request;
    const details = await operations.orders.get(orderIn(request));
    const planned = await operations.orders.planRefunds(details);
    const possible = planned.filter(({ problem }) => problem === null);
    if (possible.length === 0)
      throw new Refusal(planned[0]?.problem ?? 'Nothing is left of the order to give back.');
    const sums = sumsOf(possible.map(({ payment }) => payment));
    const sum = sumsText({ sums, test: details.test }, ({ left }) => left) ?? '';
    const waiting = possible.filter(({ overRule }) => overRule).length;
    const open = details.payments.filter(({ status }) => !isTerminal(status)).length;
    return {
      title: 'Give everything back',
      consequence: [
        waiting === possible.length
          ? `Another admin must confirm ${countOf(waiting, 'refund')}. Then ${sum} goes back to the payer.`
          : `${sum} goes back to the payer, by ${countOf(possible.length, 'refund')}.`,
        waiting > 0 &&
          waiting < possible.length &&
          `Another admin must confirm ${waiting} of them first.`,
        'No refund can be called back once its gateway was told.',
        planned.length > possible.length &&
          'The gateways cannot give back the rest: the table says why.',
        open > 0 && `The order has ${countOf(open, 'open payment')}, which can still be paid.`,
      ]
        .filter(Boolean)
        .join(' '),
      button: waiting === possible.length ? `Ask for the refund of ${sum}` : `Give ${sum} back`,
      facts: { 'To give back': sum, ...orderCells(details) },
      fields: html`${cells.table({ caption: 'Refunds', rows: planned.map(rowOf), ifEmpty: '' })}
        <input type="hidden" name="seen" value="${markOfRefunds(planned)}" />`,
      done: '',
      back: orderPath(details),
    };
  },
  execute: async (request, reason) => {
    const order = orderIn(request);
    const seen = request.form.get('seen') ?? '';
    const { asked, toConfirm } = await request.operations.orders.refundAll(order, { reason, seen });
    const begun = asked - toConfirm;
    return redirect(
      orderPath(order),
      [
        begun > 0 && `${countOf(begun, 'refund')} ${begun === 1 ? 'has' : 'have'} begun.`,
        toConfirm > 0 &&
          `You have asked for ${countOf(toConfirm, 'refund')} that another admin confirms.`,
      ]
        .filter(Boolean)
        .join(' '),
    );
  },
};

const checked: Action = {
  path: '/orders/:slug/checked',
  role: 'operator',
  confirm: async (request) => {
    const details = await request.operations.orders.get(orderIn(request));
    if (!details.payments.some(({ paidTwiceAt }) => paidTwiceAt !== null))
      throw new Refusal('The order does not wait for a person.');
    return {
      title: 'The order was checked',
      consequence:
        'It is right that several payments have paid the order, or somebody has looked after it. It leaves the list of what needs attention until one more payment is paid.',
      button: 'It is checked',
      facts: orderCells(details),
      done: 'The order is marked as checked.',
      back: orderPath(details),
    };
  },
  execute: async (request, reason) => request.operations.orders.check(orderIn(request), reason),
};

/** Of one order. */
export const orderActions: readonly Action[] = [giveEverythingBack, checked];
