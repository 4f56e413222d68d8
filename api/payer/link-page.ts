import { html, raw } from 'hono/html';
import encodeQR from 'qr';
import { PaymentError } from '../../contract/errors.ts';
import { linkIdPattern } from '../../contract/ids.ts';
import { parseJson } from '../../contract/json.ts';
import { linkTriesMax, linkUrl } from '../../contract/link.ts';
import { payerAdvice } from '../../contract/payer-advice.ts';
import { checkoutUrl } from '../../contract/payment-fields.ts';
import type { Payment } from '../../contract/payment.ts';
import { isTerminal, type Status } from '../../contract/status.ts';
import { findDriver } from '../../gateways/registry.ts';
import type { Sql } from '../../postgres/driver/sql.ts';
import { createGateways } from '../../postgres/gateways/gateways.ts';
import { createLinks, type Links, type PayableLink } from '../../postgres/links/links.ts';
import { createPayments, type Payments } from '../../postgres/payments/payments.ts';
import type { ApiMetrics } from '../../telemetry/metrics.ts';
import { pageHeaders } from '../http/response-headers.ts';
import type { Handler, RequestOf, RouteSpec } from '../http/route.ts';
import { linkParams } from '../links/get.ts';
import { paymentOfLink } from '../links/payment-of-link.ts';
import type { Backlog } from '../payments/backlog.ts';
import { type Deps as NewPaymentDeps, newPayment } from '../payments/new-payment.ts';
import type { Starter } from '../payments/starter.ts';
import { type Visit, visitOf } from './language.ts';
import { page, paymentParts, problemPage } from './pages.ts';
import { type Html, speak, type TextName } from './texts.ts';

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
  exhausted: ['link_closed_title', 'link_exhausted_text'],
} as const satisfies Record<string, readonly [TextName, TextName]>;

/** Undefined: a payer may begin, or go on with the payment that is open. */
const whyClosed = (link: PayableLink): keyof typeof closedPages | undefined => {
  if (link.status === 'paid' || link.isOrderPaid || link.lastTry?.status === 'paid') return 'paid';
  if (link.status === 'disabled' || link.isApplicationDisabled) return 'disabled';
  // A transaction that has waited for the lock may have begun before the time was over.
  if (link.isOver || link.status === 'expired') return 'expired';
  return link.tries >= linkTriesMax && !isOpen(link) ? 'exhausted' : undefined;
};

const isOpen = ({ lastTry }: Pick<PayableLink, 'lastTry'>): boolean =>
  lastTry !== null && !isTerminal(lastTry.status as Status);

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
      return page(visit, {
        status: 200,
        title: 'wait_title',
        headers: { refresh: String(reloadSeconds) },
        content: html`${paymentParts(visit)}
          <p role="status">
            ${speak(visit.language)('asking')} ${speak(visit.language)('reloads')}
          </p>`,
      });
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
  const returnTime = ended && findDriver(ended.driver)?.capabilities.returnTime;
  const advice = ended ? payerAdvice({ ...ended, returnTime }, visit.language, now()) : [];
  const url = linkUrl(link.id, publicBaseUrl);
  return page(visit, {
    status: 200,
    title: 'link_title',
    // The checkout sends the payer on to the gateway.
    formTargets: 'any',
    content: html`${paymentParts(visit)} ${advice.map((sentence) => html`<p>${sentence}</p>`)}
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
const begin = (
  deps: Deps,
  { id, lastTry }: PayableLink,
): Promise<{ link: PayableLink; payment?: Payment }> =>
  deps.sql.begin(async (tx) => {
    const link = await createLinks(tx).getForPayer(id, { lock: true });
    if (!link) throw new Error(`The link ${id} is gone, which nothing deletes while it is open`);
    // The lock may have waited for another payer, whose payment this statement does not see.
    const current = (await createLinks(tx).getForPayer(id)) ?? link;
    if (whyClosed(current) !== undefined || isOpen(current)) return { link: current };
    const { test, defaultGateway, fallbackGateways, application } = current;
    const tried = paymentOfLink(
      current,
      {
        ...{ application, defaultGateway, fallbackGateways, mode: test ? 'test' : 'live' },
        ...{ callbackUrls: [], ordersPaidOnce: true },
      },
      deps.publicBaseUrl,
    );
    const refuse = (code: ConstructorParameters<typeof PaymentError>[0], message?: string) =>
      new PaymentError('SERVICE_UNAVAILABLE', message, { cause: code });
    // In this transaction: who holds a connection must not wait for another one.
    const inTransaction = { ...deps, gateways: createGateways(tx) };
    const created = await newPayment(
      inTransaction,
      { caller: tried.caller, refuse },
      parseJson(tried.body),
    );
    const payment = { ...created.payment, linkId: id };
    const { candidates, isPaidOnce, payer } = created;
    const { isInserted } = await createPayments(tx).insert(payment, null, {
      candidates,
      isPaidOnce,
      payerLocale: payer?.locale ?? null,
    });
    return isInserted
      ? { link: current, payment }
      : { link: { ...current, lastTry, isOrderPaid: true } };
  });
