import { createHash } from 'node:crypto';
import { html, raw } from 'hono/html';
import type { ErrorCode } from '../../contract/errors.ts';
import { languages } from '../../contract/languages.ts';
import type { Redirect } from '../../contract/payment.ts';
import { type ErrorPage, OverloadedError } from '../http/error-response.ts';
import type { HandlerResult } from '../http/route.ts';
import { amountParts } from './amount.ts';
import { type Visit, visitOf } from './language.ts';
import { type Html, speak, type TextName } from './texts.ts';

const style = `
  :root { color-scheme: light dark; --ink: #1c2430; --paper: #f5f6f8; --card: #fff; --line: #d8dde5;
    --main: #1d4ed8; --soft: #5b6675 }
  @media (prefers-color-scheme: dark) { :root { --ink: #e7ebf1; --paper: #12161c; --card: #1b212a;
    --line: #333c49; --main: #7aa2ff; --soft: #9aa6b5 } }
  * { box-sizing: border-box }
  body { margin: 0; min-height: 100svh; overflow-wrap: anywhere; display: grid; place-items: center; padding: 1.25rem;
    font: 1rem/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper) }
  main { width: 100%; max-width: 26rem; padding: 1.75rem; background: var(--card);
    border: 1px solid var(--line); border-radius: .9rem }
  h1 { margin: 0 0 .25rem; font-size: 1.25rem }
  p { margin: .5rem 0 } .soft { color: var(--soft); font-size: .9rem }
  .amount { font-size: clamp(1rem, 6.5vw, 2rem); font-weight: 650; margin: .75rem 0;
    overflow-wrap: normal }
  form { display: grid; gap: .6rem; margin-top: 1.25rem }
  button, .button { font: inherit; font-weight: 600; padding: .75rem 1rem; border-radius: .6rem; cursor: pointer;
    border: 1px solid var(--line); background: transparent; color: inherit; text-align: center; text-decoration: none }
  a.button { display: block; margin-top: 1.25rem }
  button.main { background: var(--main); border-color: var(--main); color: var(--card) }
  button:focus-visible, select:focus-visible, a:focus-visible { outline: 3px solid var(--main); outline-offset: 2px }
  select { font: inherit; padding: .6rem; border-radius: .6rem; border: 1px solid var(--line);
    background: var(--card); color: inherit; width: 100% }
  label { display: grid; gap: .25rem } hr { border: 0; border-top: 1px solid var(--line); width: 100% }
  dl { margin: .5rem 0 } dd { margin: 0 0 .35rem; color: var(--ink) }
  section + section, form + section { margin-top: 1.75rem } main > :first-child { margin-top: 0 }
  nav { display: flex; flex-wrap: wrap; gap: .25rem 1rem; margin-top: 1.75rem; font-size: .9rem }
  nav a { color: var(--soft) }
  .unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%) }`;

const submitScript = 'document.forms[0].submit()';

const cspHash = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
export const styleHash = cspHash(style);
const scriptHash = cspHash(submitScript);
// Whole elements, because a hash covers every character between the tags, line breaks included.
export const styleElement = raw(`<style>${style}</style>`);
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
  return {
    status,
    headers: {
      'content-language': language,
      vary: 'Accept-Language',
      'content-security-policy': [
        `default-src 'none'`,
        `style-src ${styleHash}`,
        `script-src ${scriptHash}`,
        // Chromium checks each redirect after a form against this too; shops and banks have several.
        ...(formTargets === 'any'
          ? []
          : [`form-action ${formTargets ? [...formTargets, 'https:'].join(' ') : `'none'`}`]),
        `base-uri 'none'`,
        `frame-ancestors 'none'`,
      ].join('; '),
      ...headers,
    },
    body: String(
      await html`<!doctype html>
        <html lang="${language}" dir="${text('direction')}">
          <head>
            <meta charset="utf-8" />
            <meta name="viewport" content="width=device-width, initial-scale=1" />
            <meta name="robots" content="noindex" />
            <title>${text(title)}</title>
            ${styleElement}
          </head>
          <body>
            <main>
              ${paidTo(visit)}
              <h1>${text(title)}</h1>
              ${content} ${languageLinks(visit)}
            </main>
          </body>
        </html>`,
    ),
  };
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
const reloadingPage = <const Status extends number>(
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
