import { html } from 'hono/html';
import { failureReasons, isFailureCode } from '../../contract/failure-codes.ts';
import { formatMoney } from '../../contract/money.ts';
import type { Payments } from '../../postgres/payments.ts';
import type { SandboxPayment, SandboxPayments } from '../../postgres/sandbox-payments.ts';
import { byPaymentId } from '../payments/by-payment-id.ts';
import { page, problemPage } from './pages.ts';
import { sandboxActions } from './sandbox-routes.ts';
import type { Handlers } from '../routes.ts';

export interface Deps {
  sandboxPayments: Pick<SandboxPayments, 'getByPayment' | 'choose'>;
  payments: Pick<Payments, 'getForPayer'>;
}

const choices = {
  pay: 'paid',
  pay_and_close: 'paid',
  refuse: 'refused',
  cancel: 'cancelled',
} as const satisfies Record<(typeof sandboxActions)[number], SandboxPayment['state']>;

type SandboxHandlers = Pick<Handlers, 'showSandbox' | 'chooseInSandbox'>;

/** The built-in gateway's own page: what a provider would show to the payer. */
export const createSandboxHandlers = ({ sandboxPayments, payments }: Deps): SandboxHandlers => {
  const find = byPaymentId(sandboxPayments.getByPayment);

  const show: SandboxHandlers['showSandbox'] = async (request) => {
    const found = await find(request);
    if (!found) return unknownPayment();
    if (found.state !== 'open') return closedPage(found);
    const payment = await payments.getForPayer(found.paymentId);
    const callback = payment ? [new URL(payment.callbackUrl).origin] : [];
    return choicePage(found, ["'self'", ...callback]);
  };

  const choose: SandboxHandlers['chooseInSandbox'] = async (request) => {
    const found = await find(request);
    if (!found) return unknownPayment();
    const form = await request.readForm();
    const action = form.get('action') ?? '';
    if (!isAction(action))
      return problemPage(422, 'Nothing chosen', 'Please go back and choose what is to happen.');
    const wanted = form.get('failure_code') ?? 'card_declined';
    const refusal = action === 'refuse' ? (isFailureCode(wanted) ? wanted : 'unknown') : null;
    const chosen = await sandboxPayments.choose(found.paymentId, {
      state: choices[action],
      refusal,
    });
    if (chosen && action === 'pay_and_close') return leftPage();
    // Also where the choice had been made before: a payer who presses twice ends at the same place.
    return { status: 303, headers: { location: found.returnUrl } };
  };

  return { showSandbox: show, chooseInSandbox: choose };
};

const isAction = (text: string): text is keyof typeof choices =>
  sandboxActions.some((action) => action === text);

const choicePage = (payment: SandboxPayment, formTargets: string[]) =>
  page({
    status: 200,
    title: 'Sandbox gateway',
    formTargets,
    content: html`<p class="soft">No real money moves here. Choose how this payment ends.</p>
      <p class="amount">${formatMoney(payment)}</p>
      <p class="soft">${payment.paymentId}</p>
      <form method="post">
        <button class="main" name="action" value="pay">Pay</button>
        <button name="action" value="pay_and_close">Pay and close the browser</button>
        <button name="action" value="cancel">Cancel</button>
        <hr />
        <label>
          Reason of a refusal
          <select name="failure_code">
            ${Object.keys(failureReasons).map((code) => html`<option>${code}</option>`)}
          </select>
        </label>
        <button name="action" value="refuse">Refuse</button>
      </form>`,
  });

const closedPage = (payment: SandboxPayment) =>
  page({
    status: 200,
    title: 'Sandbox gateway',
    content: html`<p>This payment is not open any more.</p>
      <a class="button" href="${payment.returnUrl}">Back to the shop</a>`,
  });

const leftPage = () =>
  page({
    status: 200,
    title: 'The browser is closed',
    content: html`<p>
      The payment was made, but nobody returned to the shop. The service finds out by itself, within
      three minutes.
    </p>`,
  });

const unknownPayment = () =>
  problemPage(404, 'Payment not found', 'The sandbox gateway does not know this payment.');
