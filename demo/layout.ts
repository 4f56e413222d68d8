import { createHash } from 'node:crypto';
import { html, raw } from 'hono/html';
import { liveScript } from './live.ts';
import { currency } from './products.ts';
import { style } from './style.ts';

/** Escaped HTML: a template escapes every value that is not itself a template. */
export type Html = ReturnType<typeof html>;

export interface Page {
  title: string;
  path: string;
  content: Html;
  /** One part of the page follows the orders. Without scripts it can reload itself instead. */
  live?: { reloads: boolean };
}

const hash = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

// Whole elements, because the hash covers every character between the tags.
const styleElement = raw(`<style>${style}</style>`);
const scriptElement = raw(`<script type="module">${liveScript}</script>`);

/** A page may load nothing, and use only this script and this stylesheet. */
export const contentSecurityPolicy = [
  "default-src 'none'",
  `style-src ${hash(style)}`,
  `script-src ${hash(liveScript)}`,
  "connect-src 'self'",
  'img-src data:',
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ');

const icon =
  'data:image/svg+xml,' +
  encodeURIComponent(
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24"><rect width="24" height="24" rx="6" fill="#1d5c45"/><path d="M6 9h10v6a3 3 0 0 1-3 3H9a3 3 0 0 1-3-3zm10 1.5h1.5a2 2 0 0 1 0 4H16" fill="none" stroke="#fff" stroke-width="1.6"/></svg>',
  );

export const layout = ({ title, path, content, live }: Page): Html =>
  html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${title} · Corner Coffee</title>
        <link rel="icon" href="${icon}" />
        ${styleElement}
        ${live?.reloads ? html`<noscript><meta http-equiv="refresh" content="4" /></noscript>` : ''}
      </head>
      <body>
        <header>
          <a class="brand" href="/">Corner Coffee</a>
          <nav aria-label="Shop">${link('/', 'Shop', path)} ${link('/orders', 'Orders', path)}
            ${link('/mailbox', 'Mailbox', path)}</nav>
        </header>
        <main>${content}</main>
        <footer>
          A demo shop: an application that uses the payment service over its public API and webhooks.
          Nothing is sold, and no money moves.
        </footer>
        <div id="news" class="unseen" role="status"></div>
        ${live ? scriptElement : ''}
      </body>
    </html>`;

const link = (href: string, name: string, path: string): Html =>
  href === path
    ? html`<a href="${href}" aria-current="page">${name}</a>`
    : html`<a href="${href}">${name}</a>`;

const format = new Intl.NumberFormat('en', { style: 'currency', currency });

/** 1290 EUR → "€12.90". The shop knows the decimals of its own currency only. */
export const formatMoney = (total: { amount: number; currency: string }): string =>
  total.currency === currency
    ? format.format(total.amount / 100)
    : `${total.amount} ${total.currency} minor units`;
