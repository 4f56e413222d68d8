import { html } from 'hono/html';
import { z } from 'zod';
import { failureReasons, isFailureCode } from '../../contract/failure-codes.ts';
import { formatMoney } from '../../contract/money.ts';
import type { SandboxPayment, SandboxPayments } from '../../postgres/sandbox-payments.ts';
import type { Handler, RouteSpec } from '../http/route.ts';
import { findByPaymentId, paymentParams } from '../payments/payment-id.ts';
import { page, problemPage } from './pages.ts';

/** The choices on the page, and the state that each brings the payment to at the sandbox gateway. */
const actions = {
  pay: 'paid',
  pay_and_close: 'paid',
  refuse: 'refused',
  cancel: 'cancelled',
} as const satisfies Record<string, SandboxPayment['state']>;

const shared = {
  params: paymentParams,
  errors: ['PAYMENT_NOT_FOUND'],
} as const;

const shownPage = { headers: ['content-security-policy'], content: 'page' } as const;

export const showSandboxRoute = {
  ...shared,
  summary: "Show the sandbox gateway's page",
  description:
    'The built-in gateway moves no money; its page offers the ways in which a payment can end.',
  responses: { 200: { description: 'The page.', ...shownPage } },
} as const satisfies RouteSpec;

export const chooseInSandboxRoute = {
  ...shared,
  summary: "Choose on the sandbox gateway's page",
  description:
    'Only the first choice counts. A test needs no browser: open the `checkout_url`, post here, follow ' +
    'the redirect.',
  body: {
    form: z.object({
      action: z.enum(Object.keys(actions) as (keyof typeof actions)[]),
      failure_code: z
        .string()
        .optional()
        .meta({
          description: `The reason of a refusal: ${Object.keys(failureReasons).join(', ')}.`,
        }),
    }),
  },
  responses: {
    200: {
      description: 'After `pay_and_close`: the payer does not return to the shop.',
      ...shownPage,
    },
    303: { description: "To the service's return address.", headers: ['location'] },
  },
} as const satisfies RouteSpec;

export interface Deps {
  sandboxPayments: Pick<SandboxPayments, 'getByPayment' | 'choose'>;
}

export const showSandboxHandler =
  ({ sandboxPayments }: Deps): Handler<'payer', typeof showSandboxRoute> =>
  async (request) => {
    const found = await findByPaymentId(request, sandboxPayments.getByPayment);
    if (!found) return unknownPayment();
    if (found.state !== 'open') return closedPage(found);
    return choicePage(found);
  };

export const chooseInSandboxHandler =
  ({ sandboxPayments }: Deps): Handler<'payer', typeof chooseInSandboxRoute> =>
  async (request) => {
    const form = await request.readForm();
    const action = form.get('action') ?? '';
    if (!isAction(action))
      return problemPage(422, 'Nothing chosen', 'Please go back and choose how the payment ends.');
    const code = form.get('failure_code') ?? 'card_declined';
    const refusal = isFailureCode(code) ? code : 'unknown';
    const choice = { state: actions[action], refusal: action === 'refuse' ? refusal : null };
    const found = await findByPaymentId(request, (id) => sandboxPayments.choose(id, choice));
    if (!found) return unknownPayment();
    if (found.isFirstChoice && action === 'pay_and_close') return leftPage();
    return { status: 303, headers: { location: found.returnUrl } };
  };

const isAction = (text: string): text is keyof typeof actions => Object.hasOwn(actions, text);

const choicePage = (payment: SandboxPayment) =>
  page({
    status: 200,
    title: 'Sandbox gateway',
    // The shop may send the payer on to its front end or into its app, which Chromium checks too.
    formTargets: 'any',
    content: html`<p class="soft">No real money moves here. Choose how this payment ends.</p>
      <p class="amount">${formatMoney(payment)}</p>
      <p class="soft">${payment.paymentId}</p>
      <form method="post">
        <button class="main" name="action" value="pay">Pay</button>
        <button name="action" value="pay_and_close">Pay and close the browser</button>
        <button name="action" value="cancel">Cancel</button>
        <hr />
        <label>
          Reason for a refusal
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
    content: html`<p>This payment is no longer open.</p>
      <a class="button" href="${payment.returnUrl}">Back to the shop</a>`,
  });

const leftPage = () =>
  page({
    status: 200,
    title: 'The browser is closed',
    content: html`<p>
      You have paid, but did not return to the shop. The service finds the payment by itself, within
      three minutes.
    </p>`,
  });

const unknownPayment = () =>
  problemPage(404, 'Payment not found', 'The sandbox gateway does not know this payment.');
