import { html } from 'hono/html';
import { formatMoney, parseMoneyOf, typedMoney } from '../../../contract/money.ts';
import { amountLeft } from '../../../contract/payment-fields.ts';
import { Refusal } from '../../operations/change.ts';
import { overRuleText } from '../../operations/facts.ts';
import { labelOf } from '../../operations/labels.ts';
import type { PaymentRecord } from '../../../postgres/admin/payments.ts';
import { type Action, hasSecret } from '../actions.ts';
import { type Html, notice } from '../html.ts';
import { moneyField } from '../money.ts';
import type { ConsoleResponse, PersonRequest, Route } from '../request.ts';
import { page, redirect } from '../request.ts';
import { paymentCells } from './payment-facts.ts';

const addressOf = (id: string): string => `/payments/${id}/refund`;

/** The money that is left of a payment. */
const leftOf = (payment: PaymentRecord) => ({
  amount: amountLeft(payment),
  currency: payment.currency,
});

const findPayment = async ({ operations, params }: PersonRequest): Promise<PaymentRecord> =>
  (await operations.payments.get(params.id)).payment;

const readWish = (given: URLSearchParams) => ({
  typed: given.get('amount')?.trim() ?? '',
  recorded: given.get('recorded') === 'yes',
});

/** The parts that one button takes, of those that the gateway can give back, and why it does not take every part. */
const partsOf = async ({ operations, params }: PersonRequest, left: ReturnType<typeof leftOf>) => {
  const half = Math.floor(left.amount / 2);
  const [noHalf = null, nothing = null] = await Promise.all(
    [half, left.amount].map((amount) =>
      operations.refunds.findProblem(params.id, { amount, recorded: false }),
    ),
  );
  return { parts: { ...(!noHalf && { Half: half }), All: left.amount }, limit: nothing ?? noHalf };
};

const ask = async (request: PersonRequest, problem?: string): Promise<ConsoleResponse> => {
  const payment = await findPayment(request);
  const left = leftOf(payment);
  const { currency } = payment;
  if (left.amount === 0)
    throw new Refusal(
      payment.status === 'paid'
        ? 'Nothing is left of the payment to give back.'
        : `The payment is ${labelOf('status', payment.status)}.`,
    );
  const { typed, recorded } = readWish(request.form);
  const { parts, limit } = await partsOf(request, left);
  const button = ([name, amount]: [string, number]): Html =>
    html`<button name="part" value="${typedMoney({ amount, currency })}">${name}: ${formatMoney({ amount, currency })}</button>`;
  return page(
    'Give money back',
    html`${problem === undefined ? '' : notice('bad', problem)}
      <form class="form" method="post">
        <input type="hidden" name="csrf" value="${request.csrf}" />
        ${request.cells.facts({ Left: formatMoney(left), ...paymentCells(payment) })}
        ${limit === null ? '' : html`<p>${limit}</p>`}
        ${moneyField(`Amount to give back, up to ${formatMoney(left)}`, { name: 'amount', currency, typed: hasSecret(typed) ? '' : typed })}
        <label class="choice">
          <input type="checkbox" name="recorded" value="yes" ${recorded ? html`checked` : ''} />
          It was given back already, outside of the gateway
        </label>
        <div class="actions">
          <button class="main">Continue</button>
          ${Object.entries(parts).map(button)}
          <a class="button" href="/payments/${payment.id}">Cancel</a>
        </div>
      </form>`,
    problem === undefined ? 200 : 409,
  );
};

/** Leads to the question about the amount that was typed, or says what is wrong with it. */
const read = async (request: PersonRequest): Promise<ConsoleResponse> => {
  const { form, params, operations } = request;
  const { currency } = await findPayment(request);
  const { typed, recorded } = readWish(form);
  const money = parseMoneyOf(currency, form.get('part') ?? typed);
  if ('problem' in money)
    return ask(request, typed === '' ? 'Type an amount, or choose a part.' : money.problem);
  const problem = await operations.refunds.findProblem(params.id, { ...money, recorded });
  if (problem !== null) return ask(request, problem);
  const amount = typedMoney({ ...money, currency });
  const wish = new URLSearchParams({ amount, ...(recorded && { recorded: 'yes' }) });
  return redirect(`${addressOf(params.id)}/give?${String(wish)}`);
};

/** The first page of a refund takes an amount. The question that names it follows. */
export const giveBackRoutes: readonly Route[] = [
  {
    method: 'GET',
    path: '/payments/:id/refund',
    role: 'admin',
    isSensitive: true,
    handle: (request) => ask(request),
  },
  {
    method: 'POST',
    path: '/payments/:id/refund',
    role: 'admin',
    isSensitive: true,
    keepsForm: true,
    handle: read,
  },
];

/** The money that the address of the question names. @throws Refusal */
const moneyIn = async (request: PersonRequest) => {
  const payment = await findPayment(request);
  const { typed, recorded } = readWish(request.query);
  const money = parseMoneyOf(payment.currency, typed);
  if ('problem' in money) throw new Refusal(`${money.problem} Begin at the page of the payment.`);
  return { payment, recorded, amount: money.amount, currency: payment.currency };
};

export const giveBack: Action = {
  path: '/payments/:id/refund/give',
  role: 'admin',
  isSensitive: true,
  confirm: async (request) => {
    const { payment, recorded, ...money } = await moneyIn(request);
    const sum = formatMoney(money);
    const overRule = await request.operations.refunds.overRule(payment.id, money.amount);
    const waits = overRule
      ? `${overRuleText(overRule, { currency: money.currency, asker: null })} Then `
      : '';
    const button = recorded ? `Record ${sum} as given back` : `Give ${sum} back`;
    return {
      title: recorded ? 'Record money that was given back' : 'Give money back',
      consequence: `${waits}${
        recorded
          ? `${sum} is recorded as given back outside of the gateway, which is not told.`
          : `${sum} goes back to the payer. It cannot be called off once the gateway was told.`
      }`,
      button: overRule ? `Ask for the refund of ${sum}` : button,
      facts: { 'To give back': sum, Left: formatMoney(leftOf(payment)), ...paymentCells(payment) },
      done: 'The refund has begun.',
      back: addressOf(payment.id),
    };
  },
  execute: async (request, reason) => {
    const { payment, recorded, amount } = await moneyIn(request);
    const wish = { amount, recorded, reason };
    const { refund, toConfirm } = await request.operations.refunds.create(payment.id, wish);
    return redirect(
      `/refunds/${refund.id}`,
      toConfirm
        ? 'You have asked for the refund. Another admin confirms it.'
        : 'The refund has begun.',
    );
  },
};
