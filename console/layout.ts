import { html } from 'hono/html';
import type { ConsoleSession } from '../postgres/console-logins.ts';
import type { AssetUrls } from './assets.ts';
import type { Html } from './html.ts';

export interface Layout {
  title: string;
  content: Html;
  /** The path of the request, to mark its section. */
  path: string;
  session: ConsoleSession | undefined;
  csrf: string;
  zone: string;
  assets: AssetUrls;
}

export const sections = [
  ['/', 'Overview'],
  ['/payments', 'Payments'],
  ['/deliveries', 'Deliveries'],
  ['/applications', 'Applications'],
  ['/gateways', 'Gateways'],
  ['/reconcile', 'Reconcile'],
  ['/audit', 'Audit'],
  ['/people', 'People'],
] as const;

const isIn = (path: string, section: string) =>
  section === '/' ? path === '/' : path === section || path.startsWith(`${section}/`);

const navigation = (path: string): Html =>
  html`<nav aria-label="Sections">
    <ul>
      ${sections.map(
        ([href, label]) =>
          html`<li>
            <a href="${href}" ${isIn(path, href) ? html`aria-current="page"` : ''}>${label}</a>
          </li>`,
      )}
    </ul>
  </nav>`;

/** It posts: a pasted secret must not get into a URL, which histories and logs keep. */
const searchBox = (csrf: string): Html =>
  html`<form class="search" method="post" action="/search" role="search">
    <input type="hidden" name="csrf" value="${csrf}" />
    <label class="hidden" for="search">Search by any id</label>
    <input
      id="search"
      type="search"
      name="text"
      maxlength="500"
      autocomplete="off"
      spellcheck="false"
      placeholder="Payment, event, order, reference … ( / )"
      required
    />
    <button>Search</button>
  </form>`;

const personMenu = ({ session, csrf, zone }: Layout & { session: ConsoleSession }): Html =>
  html`<div class="person">
    <span><a href="/account">${session.name}</a> <span class="soft">(${session.role})</span></span>
    <a href="/settings">Times in ${zone}</a>
    <form method="post" action="/logout">
      <input type="hidden" name="csrf" value="${csrf}" />
      <button class="plain">Log out</button>
    </form>
  </div>`;

export const layout = (page: Layout): Html => {
  const { title, content, path, session, csrf, assets } = page;
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="robots" content="noindex" />
        <title>${title} · Payments console</title>
        <link rel="icon" href="${assets.icon}" type="image/svg+xml" />
        <link rel="stylesheet" href="${assets.style}" />
        <meta name="htmx-config" content='{"history":false,"includeIndicatorCSS":false,"morphIgnore":["data-htmx-powered","open"]}' />
        <script src="${assets.htmx}" defer></script>
        <script src="${assets.script}" defer></script>
      </head>
      <body>
        <a class="skip" href="#content">Skip to the content</a>
        <header>
          <div class="bar">
            <a class="brand" href="/">Payments console</a>
            ${session ? html`${searchBox(csrf)}${personMenu({ ...page, session })}` : ''}
          </div>
          ${session ? navigation(path) : ''}
        </header>
        <main id="content" tabindex="-1">
          <h1>${title}</h1>
          ${content}
        </main>
      </body>
    </html>`;
};
