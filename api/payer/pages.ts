import { html, raw } from 'hono/html';
import type { ErrorCode } from '../../contract/errors.ts';
import { languages } from '../../contract/languages.ts';
import type { Redirect } from '../../contract/payment.ts';
import { type ErrorPage, OverloadedError } from '../http/error-response.ts';
import type { HandlerResult } from '../http/route.ts';
import { amountParts } from './amount.ts';
import { cspHash, htmlPage } from './html-page.ts';
import { type Visit, visitOf } from './language.ts';
import { type Html, speak, type TextName } from './texts.ts';

const submitScript = 'document.forms[0].submit()';
const scriptHash = cspHash(submitScript);
const scriptElement = raw(`<script>${submitScript}</script>`);

export interface Page<Status extends number> {
  status: Status;
  title: TextName;
  content: Html;
  headers?: Record<string, string>;
  /** Origins that a form of this page may submit to. `any`: what it leads to may send the payer on to any place. */
  formTargets?: readonly string[] | 'any';
}

/** A page for a payer. Its policy allows one style and one script, and nothing from other origins. */
export const page = async <const Status extends number>(
  visit: Visit,
  { status, title, content, headers, formTargets }: Page<Status>,
): Promise<HandlerResult<Status>> => {
  const { language } = visit;
  const text = speak(language);
  return htmlPage({
    status,
    language,
    direction: text('direction'),
    title: text(title),
    above: paidTo(visit),
    content: html`${content} ${languageLinks(visit)}`,
    script: scriptHash,
    forms: formsOf(formTargets),
    headers,
  });
};

/** Chromium checks each redirect after a form against this too; shops and banks have several. */
const formsOf = (targets: Page<number>['formTargets']): string | undefined => {
  if (targets === 'any') return undefined;
  return targets ? [...targets, 'https:'].join(' ') : `'none'`;
};

const paidTo = ({ language, payment }: Visit): Html | '' =>
  payment
    ? html`<p class="soft">
        ${speak(language)('pay_to', { name: html`<bdi>${payment.paidTo}</bdi>` })}
      </p>`
    : '';

/** The purchase of the payer, and its amount. */
export const paymentParts = ({ language, payment }: Visit): Html | '' =>
  payment
    ? html`${payment.test ? html`<p class="soft">${speak(language)('test_payment')}</p>` : ''}
      ${amountParts(language, payment)}
      ${payment.description === null ? '' : html`<p><bdi>${payment.description}</bdi></p>`}`
    : '';

const languageLinks = ({ language, searchIn }: Visit): Html =>
  html`<nav aria-label="${speak(language)('choose_language')}">
    ${languages
      .filter((other) => other !== language)
      .map((other) => {
        const text = speak(other);
        return html`<a
          href="${searchIn(other)}"
          lang="${other}"
          dir="${text('direction')}"
          hreflang="${other}"
          >${text('language_name')}</a
        > `;
      })}
  </nav>`;

/** Says why the page cannot be shown, or what the payer can do. */
export const problemPage = <const Status extends number>(
  visit: Visit,
  status: Status,
  title: TextName,
  name: TextName,
): Promise<HandlerResult<Status>> =>
  page(visit, { status, title, content: html`<p>${speak(visit.language)(name)}</p>` });

/** Reloads by itself, without JavaScript. */
export const reloadingPage = <const Status extends number>(
  visit: Visit,
  status: Status,
  name: TextName,
  headers: Record<string, string>,
): Promise<HandlerResult<Status>> => {
  const text = speak(visit.language);
  return page(visit, {
    status,
    title: 'wait_title',
    headers,
    content: html`${paymentParts(visit)}
      <p role="status">${text(name)} ${text('reloads')}</p>`,
  });
};

/** For a problem of ours. */
export const retryingPage = <const Status extends number>(
  visit: Visit,
  status: Status,
  name: TextName,
  afterSeconds: number,
): Promise<HandlerResult<Status>> =>
  reloadingPage(visit, status, name, {
    refresh: String(afterSeconds),
    'retry-after': String(afterSeconds),
  });

/** For work that goes on meanwhile. */
export const waitPage = (
  visit: Visit,
  name: TextName,
  afterSeconds: number,
): Promise<HandlerResult<202>> =>
  reloadingPage(visit, 202, name, { refresh: String(afterSeconds) });

/** An error's own message is for developers, in English. */
const errorTexts: Partial<Record<ErrorCode, TextName>> = {
  RATE_LIMITED: 'too_many_requests',
  SERVICE_UNAVAILABLE: 'unavailable',
  METHOD_NOT_ALLOWED: 'wrong_method',
  MALFORMED_JSON: 'form_unreadable',
  PAYLOAD_TOO_LARGE: 'form_unreadable',
  UNSUPPORTED_MEDIA_TYPE: 'form_unreadable',
  VALIDATION_FAILED: 'form_unreadable',
  PAYMENT_NOT_FOUND: 'not_found_text',
  // A browser at a part of a link.
  NOT_FOUND: 'link_incomplete',
  UNAUTHENTICATED: 'link_incomplete',
};

/** For an error of any payer's route. */
export const errorPage: ErrorPage = ({ status, error, requestId, retryAfter, request }) => {
  const visit = visitOf(request);
  const name =
    error instanceof OverloadedError ? 'overloaded' : (errorTexts[error.code] ?? 'internal');
  if (retryAfter !== undefined) return retryingPage(visit, status, name, retryAfter);
  const text = speak(visit.language);
  const id = html`<bdi dir="ltr">${requestId}</bdi>`;
  return page(visit, {
    status,
    title: 'error_title',
    content: html`<p>${text(name)}</p>
      <p>${text('error_is_no_outcome')}</p>
      <p class="soft">${text('request_id', { id })}</p>`,
  });
};

export const unknownPaymentPage = (visit: Visit) =>
  problemPage(visit, 404, 'not_found_title', 'not_found_text');

/** Says that a link works, to a program that looks. */
export const linkPage = (visit: Visit) => problemPage(visit, 200, 'continue', 'continue');

/**
 * Some providers refuse a payer without a referrer. Sends them our origin only, never the link with the
 * payment's id.
 */
const originOnly = { 'referrer-policy': 'strict-origin-when-cross-origin' };

/** Sends the browser to the gateway: by redirect, or by a form that submits itself. */
export const redirectToGateway = async (
  visit: Visit,
  redirect: Redirect,
): Promise<HandlerResult<200 | 302>> =>
  redirect.method === 'GET'
    ? { status: 302, headers: { location: redirect.url, ...originOnly } }
    : page(visit, {
        status: 200,
        title: 'continue',
        headers: originOnly,
        formTargets: [new URL(redirect.url).origin],
        content: html`${paymentParts(visit)}
          <form method="post" action="${redirect.url}">
            ${Object.entries(redirect.fields).map(
              ([name, value]) => html`<input type="hidden" name="${name}" value="${value}" />`,
            )}
            <button class="main">${speak(visit.language)('continue')}</button>
          </form>
          ${scriptElement}`,
      });
