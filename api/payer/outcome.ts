import { html } from 'hono/html';
import { payerAdvice } from '../../contract/payer-advice.ts';
import { checkoutUrl } from '../../contract/payment-fields.ts';
import { findDriver } from '../../gateways/registry.ts';
import type { PayerOutcome, Payments } from '../../postgres/payments/payments.ts';
import { pageHeaders } from '../http/response-headers.ts';
import type { Handler, RouteSpec } from '../http/route.ts';
import { findByPaymentId, paymentParams } from '../payments/payment-id.ts';
import { redirectToCallback } from './callback.ts';
import { type Visit, visitOf } from './language.ts';
import { page, paymentParts, unknownPaymentPage } from './pages.ts';
import { type Html, speak } from './texts.ts';

export const showOutcomeRoute = {
  summary: 'Say what became of a payment',
  description:
    'For the payer: the outcome, why the payment failed, the next step, how long money takes that goes back, and refunds. ' +
    'It has no code, and of `suspected_fraud` it says what it says of `card_declined`. The service never leads there: link to it ' +
    'from your page or mail. It asks no gateway and changes nothing.',
  params: paymentParams,
  responses: { 200: { description: 'The page.', headers: pageHeaders, content: 'page' } },
  errors: ['PAYMENT_NOT_FOUND'],
} as const satisfies RouteSpec;

export interface Deps {
  payments: Pick<Payments, 'getOutcomeForPayer'>;
  publicBaseUrl: string;
  now: () => Date;
}

export const showOutcomeHandler =
  ({ payments, publicBaseUrl, now }: Deps): Handler<'payer', typeof showOutcomeRoute> =>
  async (request) => {
    const payment = await findByPaymentId(request, payments.getOutcomeForPayer);
    const visit = visitOf(request, payment);
    if (!payment) return unknownPaymentPage(visit);
    return page(visit, {
      status: 200,
      title: 'outcome_title',
      content: html`${paymentParts(visit)}
        ${adviceParts(visit, payment, now())} ${wayOn(visit, payment, publicBaseUrl)}`,
    });
  };

/** Says what became of the payment, and what its payer can do. */
export const adviceParts = ({ language }: Visit, payment: PayerOutcome, now: Date): Html[] => {
  const returnTime = findDriver(payment.driver)?.capabilities.returnTime;
  return payerAdvice({ ...payment, returnTime }, language, now).map(
    (sentence) => html`<p>${sentence}</p>`,
  );
};

/** A payer who can still pay goes to the gateway, any other one back to the shop. */
const wayOn = ({ language }: Visit, payment: PayerOutcome, publicBaseUrl: string): Html => {
  const { status } = payment;
  const isOpen = status === 'pending';
  const address = isOpen
    ? checkoutUrl(payment, publicBaseUrl)
    : redirectToCallback(payment, status).headers.location;
  return html`<a class="button" href="${address}"
    >${speak(language)(isOpen ? 'continue' : 'back_to_shop')}</a
  >`;
};
