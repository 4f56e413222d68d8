import { html, raw } from 'hono/html';
import encodeQR from 'qr';
import { PaymentError } from '../../contract/errors.ts';
import { linkIdPattern } from '../../contract/ids.ts';
import { linkTriesMax, linkUrl } from '../../contract/links/link.ts';
import { checkoutUrl } from '../../contract/payment-fields.ts';
import type { Payment } from '../../contract/payment.ts';
import { isTerminal } from '../../contract/status.ts';
import type { Sql } from '../../postgres/driver/sql.ts';
import { createGateways } from '../../postgres/gateways/gateways.ts';
import { createLinks, type Links, type PayableLink } from '../../postgres/links/links.ts';
import { createPayments, type Payments } from '../../postgres/payments/payments.ts';
import type { ApiMetrics } from '../../telemetry/metrics.ts';
import { pageHeaders } from '../http/response-headers.ts';
import type { Handler, RequestOf, RouteSpec } from '../http/route.ts';
import { linkParams } from './get.ts';
import { newPaymentOfLink } from './payment-of-link.ts';
import type { Backlog } from '../payments/backlog.ts';
import type { Deps as NewPaymentDeps } from '../payments/new-payment.ts';
import type { Starter } from '../payments/starter.ts';
import { type Visit, visitOf } from '../payer/language.ts';
import { adviceParts } from '../payer/outcome.ts';
import { page, paymentParts, problemPage, reloadingPage } from '../payer/pages.ts';
import { type Html, speak, type TextName } from '../payer/texts.ts';

export const showLinkRoute = {
  summary: 'Show the page of a link',
  description:
    'For the payer: whom and what the link pays, and a button. To open it changes nothing, however often. It says so when the ' +
    'link is paid, has expired or was disabled, and while somebody pays.',
  params: linkParams,
  responses: { 200: { description: 'The page.', headers: pageHeaders, content: 'page' } },
  errors: ['LINK_NOT_FOUND'],
} as const satisfies RouteSpec;

export const payLinkRoute = {
  summary: 'Begin to pay a link',
  description:
    'Makes a payment of the link, unless one is open, and sends the payer to its checkout. The page sends the form; its body is ' +
    'not read.',
  params: linkParams,
  responses: {
    303: {
      description: 'To the checkout of the payment, or back to the page if nobody can pay now.',
      headers: ['location'],
    },
  },
  errors: ['LINK_NOT_FOUND'],
} as const satisfies RouteSpec;

type LinkRequest = RequestOf<'payer', typeof showLinkRoute>;

export interface PageDeps {
  links: Pick<Links, 'getForPayer'>;
  payments: Pick<Payments, 'getOutcomeForPayer'>;
  publicBaseUrl: string;
  now: () => Date;
}

export interface Deps extends NewPaymentDeps {
  sql: Sql;
  links: Pick<Links, 'getForPayer'>;
  starter: Pick<Starter, 'start'>;
  backlog: Pick<Backlog, 'check'>;
  metrics: Pick<ApiMetrics, 'created'>;
  publicBaseUrl: string;
}

/** While a payment of the link is being verified, its page asks again. */
const reloadSeconds = 5;

/** Why nobody can begin to pay, as the title and the sentence of the page. */
const closedPages = {
  paid: ['link_paid_title', 'link_paid_text'],
  expired: ['link_closed_title', 'link_expired_text'],
  disabled: ['link_closed_title', 'link_disabled_text'],
} as const satisfies Record<string, readonly [TextName, TextName]>;

/** Undefined: a payer may begin, or go on with the payment that is open. */
const whyClosed = (link: PayableLink): keyof typeof closedPages | undefined => {
  if (link.status === 'paid' || link.isOrderPaid || link.lastTry?.status === 'paid') return 'paid';
  const isExhausted = link.tries >= linkTriesMax && !isOpen(link);
  if (link.status === 'disabled' || link.isApplicationDisabled || isExhausted) return 'disabled';
  // A transaction that has waited for the lock may have begun before the time was over.
  return link.isOver || link.status === 'expired' ? 'expired' : undefined;
};

const isOpen = ({ lastTry }: Pick<PayableLink, 'lastTry'>): boolean =>
  lastTry !== null && !isTerminal(lastTry.status);

/** Finds by the id in the path; does not query for a text that cannot be an id. */
const find = async (
  { params }: LinkRequest,
  get: (id: string) => Promise<PayableLink | undefined>,
): Promise<PayableLink | undefined> => {
  const id = params['link_id'] ?? '';
  return linkIdPattern.test(id) ? get(id) : undefined;
};

const visitOfLink = (request: LinkRequest, link?: PayableLink): Visit =>
  visitOf(request, link && { ...link, payerLocale: link.locale });

const unknownPage = (request: LinkRequest) =>
  problemPage(visitOfLink(request), 404, 'not_found_title', 'link_not_found_text');

export const showLinkHandler =
  (deps: PageDeps): Handler<'payer', typeof showLinkRoute> =>
  async (request) => {
    const link = await find(request, deps.links.getForPayer);
    if (!link) return unknownPage(request);
    const visit = visitOfLink(request, link);
    const closed = whyClosed(link);
    if (closed !== undefined) {
      const [title, name] = closedPages[closed];
      const content = html`${paymentParts(visit)}
        <p>${speak(visit.language)(name)}</p>`;
      return page(visit, { status: 200, title, content });
    }
    if (link.lastTry?.status === 'processing')
      return reloadingPage(visit, 200, 'asking', { refresh: String(reloadSeconds) });
    return payPage(deps, visit, link);
  };

const payPage = async (
  { payments, publicBaseUrl, now }: PageDeps,
  visit: Visit,
  link: PayableLink,
) => {
  const text = speak(visit.language);
  const ended =
    link.lastTry && !isOpen(link) ? await payments.getOutcomeForPayer(link.lastTry.id) : undefined;
  const url = linkUrl(link.id, publicBaseUrl);
  return page(visit, {
    status: 200,
    title: 'outcome_title',
    // The checkout sends the payer on to the gateway.
    formTargets: 'any',
    content: html`${paymentParts(visit)} ${ended ? adviceParts(visit, ended, now()) : ''}
      ${isOpen(link) ? html`<p role="status">${text('link_begun')}</p>` : ''}
      <form method="post" action="${url}">
        <button class="main">${text(isOpen(link) ? 'continue' : 'link_pay')}</button>
      </form>
      ${qrPart(url, text('link_scan'))}`,
  });
};

/** The address of the page, for a phone or on paper. */
const qrPart = (url: string, label: Html): Html =>
  html`<figure class="qr">
    ${raw(encodeQR(url, 'svg', { border: 2 }))}
    <figcaption class="soft">${label}</figcaption>
  </figure>`;

export const payLinkHandler =
  (deps: Deps): Handler<'payer', typeof payLinkRoute> =>
  async (request) => {
    const { publicBaseUrl, starter, metrics, backlog } = deps;
    backlog.check();
    const begun = await find(request, deps.links.getForPayer);
    if (!begun) return unknownPage(request);
    const { link, payment } = await begin(deps, begun);
    if (payment) {
      metrics.created.inc({ gateway: payment.gateway });
      starter.start(payment);
    }
    const id = payment?.id ?? (whyClosed(link) === undefined ? link.lastTry?.id : undefined);
    const language = request.search().get('lang');
    const query = language === null ? '' : `?lang=${encodeURIComponent(language)}`;
    const location =
      id === undefined
        ? linkUrl(link.id, publicBaseUrl)
        : checkoutUrl({ id, status: 'pending' }, publicBaseUrl);
    return { status: 303, headers: { location: `${location}${query}` } };
  };

/** Makes a payment of the link, unless one is open or nobody can pay it. The second of two payers at once finds the payment of the first. */
const begin = (deps: Deps, found: PayableLink): Promise<{ link: PayableLink; payment?: Payment }> =>
  deps.sql.begin(async (tx) => {
    const links = createLinks(tx);
    await links.lock(found.id);
    // After the lock, which may have waited for another payer.
    const link = await links.getForPayer(found.id);
    if (!link)
      throw new Error(`The link ${found.id} is gone, which nothing deletes while it is open`);
    if (whyClosed(link) !== undefined || isOpen(link)) return { link };
    const { test, ...caller } = link;
    const refuse = (code: ConstructorParameters<typeof PaymentError>[0], message?: string) =>
      new PaymentError('SERVICE_UNAVAILABLE', message, { cause: code });
    const { payment: made, ...created } = await newPaymentOfLink(
      // In this transaction: who holds a connection must not wait for another one.
      { ...deps, gateways: createGateways(tx) },
      link,
      { caller: { ...caller, mode: test ? 'test' : 'live' }, refuse },
    );
    const payment = { ...made, linkId: link.id };
    const payerLocale = created.payer?.locale ?? null;
    const { candidates, isPaidOnce } = created;
    const { isInserted } = await createPayments(tx).insert(payment, null, {
      ...{ candidates, isPaidOnce, payerLocale },
    });
    return isInserted ? { link, payment } : { link: { ...link, isOrderPaid: true } };
  });
