import { html } from 'hono/html';
import { describeRights } from '../../../postgres/console/logins.ts';
import { ownPath } from '../begun-login.ts';
import { notice, type Html } from '../html.ts';
import type { ConsoleRequest, ConsoleResponse, Deps, PersonRequest, Route } from '../request.ts';
import { page, redirect } from '../request.ts';

const linkHelp = (args: string): Html =>
  html`<pre><code>npm run admin -- console login ${args}</code></pre>
    <p>
      In the Compose stack it is <code>docker compose run --rm admin console login ${args}</code>. The
      link opens the console once, within 15 minutes.
    </p>`;

const anyLink = linkHelp('NAME --role viewer|operator|admin');

/** The script of the pages asks the device, and sends the form with its answer. */
const passkeyForm = (csrf: string, back: string): Html =>
  html`<form method="post" action="/login/passkey" data-passkey="get" data-options="/login/passkey/options">
    <input type="hidden" name="csrf" value="${csrf}" />
    <input type="hidden" name="back" value="${back}" />
    <input type="hidden" name="response" />
    <button class="main" hidden>Log in with a passkey</button>
    <p role="status"></p>
  </form>`;

/** A link and not a form: browsers apply the policy of a form to where its answer leads. */
const providerLink = ({ identityProvider }: Deps, back: string): Html | string =>
  identityProvider
    ? html`<a class="button main" href="/login/provider?back=${encodeURIComponent(back)}">Log in with ${identityProvider.name}</a>`
    : '';

const waysIn = (deps: Deps, { csrf, back }: { csrf: string; back: string }): Html =>
  html`<div class="actions">${providerLink(deps, back)} ${passkeyForm(csrf, back)}</div>`;

/** A change that cannot be taken back, or outlives the session, needs the person and not only an open browser. */
export const confirmLoginPage = (
  deps: Deps,
  { session, csrf }: PersonRequest,
  path: string,
): ConsoleResponse => ({
  ...page(
    'Log in again first',
    html`<p>
        This page needs a proof that it is you: a login of the last ten minutes. Nothing was changed. Log in
        again, which leads back here${deps.drafts.isIn(path) ? ', with what you typed, but for secrets' : ''}:
      </p>
      ${waysIn(deps, { csrf, back: ownPath(path) })}
      ${
        session.via === 'provider'
          ? html`<p>If this page comes back after a login there, your provider does not say when it asked for
              you. Use another way then.</p>`
          : ''
      }
      <p>Or open a new link from the command line in this browser:</p>
      ${linkHelp(`${session.name} --role ${session.role}`)}`,
    403,
  ),
  // The link, which does not know the page, leads to it.
  begunLogin: deps.begunLogins.begin(ownPath(path)),
});

export const refusedLogin = (title: string, text: Html | string, status: number): ConsoleResponse =>
  page(title, html`<p>${text}</p><p><a href="/login">Go to the login page</a>.</p>`, status);

const spentLink = (): ConsoleResponse =>
  page(
    'The link is spent',
    html`<p>A link opens the console once, within 15 minutes. This one was used, is too old, or is not
        whole. Print a new one:</p>
      ${anyLink}`,
    410,
  );

export const spentLogin = (): ConsoleResponse =>
  refusedLogin(
    'The login is too old',
    'A login ends in the browser in which it began, within ten minutes, and once. Begin again.',
    410,
  );

/** `/login/:code` matches every path below `/login/`, so these routes are registered last. */
export const loginRoutes = (deps: Deps): Route[] => {
  const { logins, begunLogins, operationsOf } = deps;

  const loginPage = async ({ csrf, query }: ConsoleRequest): Promise<ConsoleResponse> => {
    const back = ownPath(query.get('back'));
    return {
      ...page(
        'Log in',
        html`${
          deps.drafts.isIn(back)
            ? notice(
                'info',
                'Your login had ended, so nothing was done. Log in again, which leads back to the form with what you typed, but for secrets.',
              )
            : ''
        }
          ${waysIn(deps, { csrf, back })}
          <p>A link from the command line lets you in, too:</p>
          ${anyLink}`,
      ),
      ...(back !== '/' && { begunLogin: begunLogins.begin(back) }),
    };
  };

  /** It spends nothing: mail scanners and previews open links too. */
  const showLink = async ({ params, csrf }: ConsoleRequest): Promise<ConsoleResponse> => {
    const person = await logins.getLink(params.code);
    if (!person) return spentLink();
    return page(
      'Log in',
      html`<form class="form" method="post">
        <input type="hidden" name="csrf" value="${csrf}" />
        <p>You log in as <strong>${person.name}</strong> with the role <strong>${describeRights(person)}</strong>.</p>
        <div class="actions"><button class="main">Log in</button></div>
      </form>`,
    );
  };

  const openLink = async ({
    params,
    secret,
    begunLogin,
  }: ConsoleRequest): Promise<ConsoleResponse> => {
    const code = params.code;
    const person = await logins.getLink(code);
    const session =
      person &&
      (await operationsOf(person.name).console.logIn('link', (to) => to.openSession(code)));
    if (session === undefined) return spentLink();
    if (secret !== undefined) await logins.endSession(secret);
    const login = begunLogin === undefined ? undefined : await begunLogins.end(begunLogin);
    return { kind: 'redirect', to: login?.back ?? '/', session };
  };

  const logOut = async ({ secret }: ConsoleRequest): Promise<ConsoleResponse> => {
    if (secret !== undefined) await logins.endSession(secret);
    return { kind: 'redirect', to: '/login', session: null };
  };

  return [
    { method: 'GET', path: '/login', role: 'anyone', handle: loginPage },
    { method: 'GET', path: '/login/:code', role: 'anyone', handle: showLink },
    { method: 'POST', path: '/login/:code', role: 'anyone', endsLogin: 'link', handle: openLink },
    { method: 'POST', path: '/logout', role: 'viewer', owner: 'person', handle: logOut },
    { method: 'GET', path: '/logout', role: 'anyone', handle: async () => redirect('/') },
  ];
};
