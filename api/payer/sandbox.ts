import { html } from 'hono/html';
import { z } from 'zod';
import type { Payer } from '../../contract/payer.ts';
import { type FailureCode, failureReasons, isFailureCode } from '../../contract/failure-codes.ts';
import { readPayer } from '../../postgres/payments/payers.ts';
import type {
  SandboxPagePayment,
  SandboxPayment,
  SandboxPayments,
} from '../../postgres/sandbox/payments.ts';
import type { SecretBox } from '../../postgres/secrets/secret-box.ts';
import { pageHeaders } from '../http/response-headers.ts';
import type { Handler, RouteSpec } from '../http/route.ts';
import { findByPaymentId, paymentParams } from '../payments/payment-id.ts';
import { type Visit, visitOf } from './language.ts';
import { page, paymentParts, problemPage } from './pages.ts';
import { type Html, speak, type TextName } from './texts.ts';

/** The choices on the page, and the state that each brings the payment to at the sandbox gateway. */
const actions = {
  pay: 'paid',
  pay_and_close: 'paid',
  refuse: 'refused',
  cancel: 'cancelled',
} as const satisfies Record<string, SandboxPayment['state']>;

const failureCodes = Object.keys(failureReasons) as FailureCode[];

const shared = {
  params: paymentParams,
  errors: ['PAYMENT_NOT_FOUND'],
} as const;

const shownPage = { headers: pageHeaders, content: 'page' } as const;

export const showSandboxRoute = {
  ...shared,
  summary: "Show the sandbox gateway's page",
  description:
    'The built-in gateway moves no money; its page offers the ways in which a payment can end. Of a test payment it ' +
    'shows what a gateway would get to know of the payer, until the payment ends.',
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
          description: `The reason of a refusal: ${failureCodes.join(', ')}.`,
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
  payersBox: Pick<SecretBox, 'open'>;
}

export const showSandboxHandler =
  ({ sandboxPayments, payersBox }: Deps): Handler<'payer', typeof showSandboxRoute> =>
  async (request) => {
    const found = await findByPaymentId(request, sandboxPayments.getByPayment);
    const visit = visitOf(request, found);
    if (!found) return unknownPayment(visit);
    if (found.state !== 'open') return closedPage(visit, found);
    const { paymentId: id, payer: sealed, payerLocale: locale } = found;
    return choicePage(visit, found, found.test ? readPayer(payersBox, { id, sealed, locale }) : {});
  };

export const chooseInSandboxHandler =
  ({ sandboxPayments }: Deps): Handler<'payer', typeof chooseInSandboxRoute> =>
  async (request) => {
    const visit = visitOf(request);
    const form = await request.readForm();
    const action = form.get('action') ?? '';
    if (!isAction(action))
      return problemPage(visit, 422, 'sandbox_nothing_title', 'sandbox_nothing_text');
    const code = form.get('failure_code') ?? 'card_declined';
    const refusal = isFailureCode(code) ? code : 'unknown';
    const choice = { state: actions[action], refusal: action === 'refuse' ? refusal : null };
    const found = await findByPaymentId(request, (id) => sandboxPayments.choose(id, choice));
    if (!found) return unknownPayment(visit);
    if (found.isFirstChoice && action === 'pay_and_close') {
      const left = await findByPaymentId(request, sandboxPayments.getByPayment);
      return problemPage(visitOf(request, left), 200, 'sandbox_left_title', 'sandbox_left_text');
    }
    return { status: 303, headers: { location: found.returnUrl } };
  };

const isAction = (text: string): text is keyof typeof actions => Object.hasOwn(actions, text);

const choicePage = (visit: Visit, payment: SandboxPagePayment, payer: Payer) => {
  const text = speak(visit.language);
  return page(visit, {
    status: 200,
    title: 'sandbox_title',
    // The shop may send the payer on to its front end or into its app, which Chromium checks too.
    formTargets: 'any',
    // The first line says already that this is a test.
    content: html`<p class="soft">${text('sandbox_intro')}</p>
      ${paymentParts({ ...visit, payment: { ...payment, test: false } })}
      <p class="soft"><bdi dir="ltr">${payment.paymentId}</bdi></p>
      <form method="post">
        <button class="main" name="action" value="pay">${text('sandbox_pay')}</button>
        <button name="action" value="pay_and_close">${text('sandbox_pay_and_close')}</button>
        <button name="action" value="cancel">${text('sandbox_cancel')}</button>
        <hr />
        <label>
          ${text('sandbox_reason')}
          <select name="failure_code">
            ${failureCodes.map(
              (code) => html`<option value="${code}">${code}: ${text(`failure_${code}`)}</option>`,
            )}
          </select>
        </label>
        <button name="action" value="refuse">${text('sandbox_refuse')}</button>
      </form>
      ${payerPart(visit, payer)}`,
  });
};

const payerTexts = {
  mobile: 'payer_mobile',
  email: 'payer_email',
  name: 'payer_name',
  locale: 'payer_language',
} as const satisfies Record<keyof Payer, TextName>;

const payerPart = ({ language }: Visit, payer: Payer): Html | '' => {
  const text = speak(language);
  const known = Object.entries(payerTexts).flatMap(([field, name]) => {
    const value = payer[field as keyof Payer]; // Object.entries forgets the keys.
    return value === undefined ? [] : [{ field, name, value }];
  });
  return known.length === 0
    ? ''
    : html`<section class="soft">
        <p>${text('sandbox_payer')}</p>
        <dl>
          ${known.map(
            ({ field, name, value }) =>
              html`<dt>${text(name)}</dt>
                <dd><bdi dir="${field === 'name' ? 'auto' : 'ltr'}">${value}</bdi></dd>`,
          )}
        </dl>
      </section>`;
};

const closedPage = (visit: Visit, payment: SandboxPagePayment) => {
  const text = speak(visit.language);
  return page(visit, {
    status: 200,
    title: 'sandbox_title',
    content: html`<p>${text('sandbox_closed')}</p>
      <a class="button" href="${payment.returnUrl}">${text('back_to_shop')}</a>`,
  });
};

const unknownPayment = (visit: Visit) =>
  problemPage(visit, 404, 'not_found_title', 'sandbox_unknown_text');
