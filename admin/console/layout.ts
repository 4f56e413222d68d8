import { html } from 'hono/html';
import { version } from '../../contract/version.ts';
import { type ConsoleSession, describeRights } from '../../postgres/console/logins.ts';
import type { AssetUrls } from './assets.ts';
import { escapeControls, notice, type Html } from './html.ts';
import { modeBar, modeSwitch } from './mode.ts';

export interface Layout {
  title: Html | string;
  content: Html;
  /** The path of the request, to mark its section. */
  path: string;
  /** With the query: the page to come back to. */
  address: string;
  /** The words of the browser's tab, if not the title. */
  tab: string | undefined;
  /** The text that the search box keeps. */
  searched: string | undefined;
  session: ConsoleSession | undefined;
  csrf: string;
  zone: string;
  /** Whether the person looks at tests. */
  test: boolean;
  /** Whether the page is about a test; undefined: about nothing that has a mode. */
  thing: boolean | undefined;
  /** The words about the last change. */
  message: string | undefined;
  /** The form on it was sent before a login, and nothing was done. */
  isRestored: boolean;
  assets: AssetUrls;
}

/** Each with the path of its icon, in a square of 16. */
const icons = {
  '/': 'M2 7.5 8 2l6 5.5V14H2z',
  '/payments': 'M1.5 3.5h13v9h-13zM1.5 6.5h13',
  '/refunds': 'M6 4 2.5 7.5 6 11M2.5 7.5H11a3 3 0 0 1 0 6H8',
  '/links': 'M6.5 9.5l3-3M7 4.5l2-2a3.2 3.2 0 0 1 4.5 4.5l-2 2M9 11.5l-2 2A3.2 3.2 0 0 1 2.5 9l2-2',
  '/disputes': 'M3.5 14V2M3.5 2.5h9l-2 3 2 3h-9',
  '/accounts': 'M3 2h10v12H3zM5.5 2v12M8 5.5h2.5M8 8.5h2.5',
  '/deliveries': 'M14 2 1.5 7l5 2 2 5z',
  '/applications': 'M2 2h5v5H2zM9 2h5v5H9zM2 9h5v5H2zM9 9h5v5H9z',
  '/gateways': 'M2 6l6-4 6 4zM4 6v6M8 6v6M12 6v6M1.5 13.5h13',
  '/reconcile': 'M4 3v10M2 11l2 2 2-2M12 13V3M10 5l2-2 2 2',
  '/audit': 'M8 2a6 6 0 1 0 0 12A6 6 0 0 0 8 2zM8 5v3l2 2',
  '/people': 'M8 8a3 3 0 1 0 0-6 3 3 0 0 0 0 6zM2.5 14c0-3 2.5-4.5 5.5-4.5s5.5 1.5 5.5 4.5',
} as const;

export const sections = [
  ['/', 'Overview'],
  ['/payments', 'Payments'],
  ['/refunds', 'Refunds'],
  ['/disputes', 'Disputes'],
  ['/links', 'Links'],
  ['/accounts', 'Accounts'],
  ['/deliveries', 'Deliveries'],
  ['/applications', 'Applications'],
  ['/gateways', 'Gateways'],
  ['/reconcile', 'Reconcile'],
  ['/audit', 'Audit'],
  ['/people', 'People'],
] as const;

const isIn = (path: string, section: string) =>
  section === '/'
    ? path === '/' || path.startsWith('/attention')
    : path === section ||
      path.startsWith(`${section}/`) ||
      (section === '/payments' && path.startsWith('/orders/'));

/** The sections for people of some applications. */
const sectionsOfApplications = new Set([
  '/payments',
  '/refunds',
  '/disputes',
  '/links',
  '/accounts',
  '/deliveries',
  '/applications',
]);

const navigation = (path: string, { applications, views }: ConsoleSession): Html =>
  html`<nav aria-label="Sections">
    <ul>
      ${sections
        .filter(([href]) => applications === null || sectionsOfApplications.has(href))
        .map(
          ([href, label]) =>
            html`<li>
            <a href="${href}" ${isIn(path, href) ? html`aria-current="page"` : ''}>
              <svg viewBox="0 0 16 16" aria-hidden="true"><path d="${icons[href]}" /></svg>${label}
            </a>
          </li>`,
        )}
      ${views.map(
        ({ name, address }) =>
          html`<li class="saved"><a href="${address}"><bdi>${escapeControls(name)}</bdi></a></li>`,
      )}
    </ul>
    <p class="soft">Version ${version}</p>
  </nav>`;

/** It posts: a pasted secret must not get into a URL, which histories and logs keep. */
const searchBox = ({ csrf, searched }: Pick<Layout, 'csrf' | 'searched'>): Html =>
  html`<form class="search" method="post" action="/search" role="search">
    <input type="hidden" name="csrf" value="${csrf}" />
    <label class="hidden" for="search">Search by id, order, last digits of a card, amount or name</label>
    <input
      id="search"
      type="search"
      name="text"
      maxlength="500"
      value="${searched ?? ''}"
      autocomplete="off"
      spellcheck="false"
      placeholder="Id, order, card, amount, person … ( / )"
      required
    />
    <button class="hidden" tabindex="-1">Search</button>
  </form>`;

const personMenu = ({ session, csrf, zone }: Layout & { session: ConsoleSession }): Html =>
  html`<div class="person">
    <span><a href="/me">${session.name}</a> <span class="soft">(${describeRights(session)})</span></span>
    <a href="/settings">Times in ${zone}</a>
    <form method="post" action="/logout">
      <input type="hidden" name="csrf" value="${csrf}" />
      <button class="plain">Log out</button>
    </form>
  </div>`;

const restoredText =
  'Nothing was sent yet: your login had ended, or was too old for this. What you typed is here again, but secrets and the typed name. Look at it, then press the button.';

export const layout = (page: Layout): Html => {
  const { content, path, session, csrf, message, assets } = page;
  // A title names things of others: tokens, applications, people.
  const title = typeof page.title === 'string' ? escapeControls(page.title) : page.title;
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="robots" content="noindex" />
        <title>${page.tab ?? title} · Payments console</title>
        <link rel="icon" href="${assets.icon}" type="image/svg+xml" />
        <link rel="stylesheet" href="${assets.style}" />
        <meta name="htmx-config" content='{"history":false,"defaultTimeout":10000,"includeIndicatorCSS":false,"morphIgnore":["data-htmx-powered","open","data-age","title"]}' />
        <script src="${assets.htmx}" defer></script>
        <script src="${assets.script}" defer></script>
      </head>
      <body>
        <a class="skip" href="#content">Skip to the content</a>
        <header>
          <a class="brand" href="/"><img src="${assets.icon}" alt="Overview" width="22" height="22" /> <span>Payments console</span></a>
          ${session ? html`${searchBox(page)}${modeSwitch(page)}${personMenu({ ...page, session })}` : ''}
        </header>
        ${session ? modeBar(page.test, page.thing) : ''}
        ${session ? navigation(path, session) : ''}
        <main id="content" tabindex="-1">
          <p id="stale" class="notice bad" role="alert" data-zone="${page.zone}" hidden></p>
          ${message === undefined ? '' : notice('good', html`<bdi>${escapeControls(message)}</bdi>`)}
          ${page.isRestored ? notice('info', restoredText) : ''}
          <h1>${title}</h1>
          ${content}
        </main>
        ${
          session
            ? html`<form id="at-once" method="post">
                <input type="hidden" name="csrf" value="${csrf}" />
                <input type="hidden" name="back" value="${page.address}" />
              </form>`
            : ''
        }
      </body>
    </html>`;
};
