import { createHash } from 'node:crypto';
import { html, raw } from 'hono/html';
import type { Redirect } from '../../contract/payment.ts';
import type { ErrorPage } from '../http/error-response.ts';
import type { HandlerResult } from '../http/route.ts';

/** A part of a page, already escaped. */
export type Html = ReturnType<typeof html>;

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
  .amount { font-size: 2rem; font-weight: 650; margin: .75rem 0 }
  form { display: grid; gap: .6rem; margin-top: 1.25rem }
  button, .button { font: inherit; font-weight: 600; padding: .75rem 1rem; border-radius: .6rem; cursor: pointer;
    border: 1px solid var(--line); background: transparent; color: inherit; text-align: center; text-decoration: none }
  a.button { display: block; margin-top: 1.25rem }
  button.main { background: var(--main); border-color: var(--main); color: var(--card) }
  button:focus-visible, select:focus-visible, a:focus-visible { outline: 3px solid var(--main); outline-offset: 2px }
  select { font: inherit; padding: .6rem; border-radius: .6rem; border: 1px solid var(--line);
    background: var(--card); color: inherit; width: 100% }
  label { display: grid; gap: .25rem } hr { border: 0; border-top: 1px solid var(--line); width: 100% }`;

const submitScript = 'document.forms[0].submit()';

const cspHash = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
const styleHash = cspHash(style);
const scriptHash = cspHash(submitScript);
// Whole elements, because a hash covers every character between the tags, line breaks included.
const styleElement = raw(`<style>${style}</style>`);
const scriptElement = raw(`<script>${submitScript}</script>`);

export interface Page<Status extends number> {
  status: Status;
  title: string;
  content: Html;
  headers?: Record<string, string>;
  /** Origins that a form of this page may submit to. `any`: what it leads to may send the payer on to any place. */
  formTargets?: readonly string[] | 'any';
}

/** A page for a payer. Its policy allows one style and one script, and nothing from other origins. */
export const page = async <const Status extends number>({
  status,
  title,
  content,
  headers,
  formTargets,
}: Page<Status>): Promise<HandlerResult<Status>> => ({
  status,
  headers: {
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
      <html lang="en">
        <head>
          <meta charset="utf-8" />
          <meta name="viewport" content="width=device-width, initial-scale=1" />
          <meta name="robots" content="noindex" />
          <title>${title}</title>
          ${styleElement}
        </head>
        <body>
          <main>
            <h1>${title}</h1>
            ${content}
          </main>
        </body>
      </html>`,
  ),
});

/** Says why the page cannot be shown, or what the payer can do. */
export const problemPage = <const Status extends number>(
  status: Status,
  title: string,
  text: string,
): Promise<HandlerResult<Status>> => page({ status, title, content: html`<p>${text}</p>` });

/** Reloads by itself, without JavaScript. */
const reloadingPage = <const Status extends number>(
  status: Status,
  text: string,
  headers: Record<string, string>,
): Promise<HandlerResult<Status>> =>
  page({
    status,
    title: 'One moment, please',
    headers,
    content: html`<p role="status">${text} This page reloads by itself.</p>`,
  });

/** For a problem of ours. */
export const retryingPage = <const Status extends number>(
  status: Status,
  text: string,
  afterSeconds: number,
): Promise<HandlerResult<Status>> =>
  reloadingPage(status, text, {
    refresh: String(afterSeconds),
    'retry-after': String(afterSeconds),
  });

/** For work that goes on meanwhile. */
export const waitPage = (text: string, afterSeconds: number): Promise<HandlerResult<202>> =>
  reloadingPage(202, text, { refresh: String(afterSeconds) });

/** For an error of any payer's route. */
export const errorPage: ErrorPage = ({ status, message, requestId, retryAfter }) =>
  retryAfter === undefined
    ? // The title must not suggest to a returning payer that the payment failed.
      problemPage(status, 'This page cannot be shown', `${message} (${requestId})`)
    : retryingPage(status, message, retryAfter);

export const unknownPaymentPage = () =>
  problemPage(
    404,
    'Payment not found',
    'This link does not belong to a payment. Please go back to the shop.',
  );

/** Says that a link works, to a program that looks. */
export const linkPage = () =>
  problemPage(200, 'Your payment', 'This link leads to the payment gateway.');

/**
 * Some providers refuse a payer without a referrer. Sends them our origin only, never the link with the
 * payment's id.
 */
const originOnly = { 'referrer-policy': 'strict-origin-when-cross-origin' };

/** Sends the browser to the gateway: by redirect, or by a form that submits itself. */
export const redirectToGateway = async (redirect: Redirect): Promise<HandlerResult<200 | 302>> =>
  redirect.method === 'GET'
    ? { status: 302, headers: { location: redirect.url, ...originOnly } }
    : page({
        status: 200,
        title: 'Continue to the payment gateway',
        headers: originOnly,
        formTargets: [new URL(redirect.url).origin],
        content: html`<form method="post" action="${redirect.url}">
            ${Object.entries(redirect.fields).map(
              ([name, value]) => html`<input type="hidden" name="${name}" value="${value}" />`,
            )}
            <button class="main">Continue to the payment gateway</button>
          </form>
          ${scriptElement}`,
      });
