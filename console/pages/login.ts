import { html } from 'hono/html';
import type { ConsoleSession } from '../../postgres/console-logins.ts';
import type { ConsoleRequest, ConsoleResponse, Deps, Route } from '../request.ts';
import { page, redirect } from '../request.ts';

const howTo = (args: string) =>
  html`<pre><code>npm run admin -- console login ${args}</code></pre>
    <p>
      In the Compose stack it is <code>docker compose run --rm admin console login ${args}</code>. The
      link opens the console once, within 15 minutes.
    </p>`;

const loginPage = async (): Promise<ConsoleResponse> =>
  page(
    'Log in',
    html`<p>A link from the command line lets you in:</p>
      ${howTo('NAME --role viewer|operator|admin')}`,
  );

/** A change that cannot be taken back needs the person again, and not only an open browser. */
export const confirmLoginPage = ({ name, role }: ConsoleSession): ConsoleResponse =>
  page(
    'Log in again first',
    html`<p>
        This cannot be taken back, so it needs a login of the last ten minutes. Nothing was changed. Open
        a new link and come back here:
      </p>
      ${howTo(`${name} --role ${role}`)}`,
    403,
  );

const spent = () =>
  page(
    'The link is spent',
    html`<p>A link opens the console once, within 15 minutes. This one was used, is too old, or is not
        whole. Print a new one:</p>
      ${howTo('NAME --role viewer|operator|admin')}`,
    410,
  );

export const loginRoutes = ({ logins }: Deps): Route[] => {
  /** It spends nothing: mail scanners and previews open links too. */
  const showLink = async ({ params, csrf }: ConsoleRequest): Promise<ConsoleResponse> => {
    const person = await logins.getLink(params['code'] ?? '');
    if (!person) return spent();
    return page(
      'Log in',
      html`<form class="form" method="post">
        <input type="hidden" name="csrf" value="${csrf}" />
        <p>You log in as <strong>${person.name}</strong> with the role <strong>${person.role}</strong>.</p>
        <div class="actions"><button class="main">Log in</button></div>
      </form>`,
    );
  };

  const openSession = async ({ params, secret }: ConsoleRequest): Promise<ConsoleResponse> => {
    const session = await logins.openSession(params['code'] ?? '');
    if (session === undefined) return spent();
    if (secret !== undefined) await logins.endSession(secret);
    return { kind: 'redirect', to: '/', session };
  };

  const logOut = async ({ secret }: ConsoleRequest): Promise<ConsoleResponse> => {
    if (secret !== undefined) await logins.endSession(secret);
    return { kind: 'redirect', to: '/login', session: null };
  };

  return [
    { method: 'GET', path: '/login', role: 'anyone', handle: loginPage },
    { method: 'GET', path: '/login/:code', role: 'anyone', handle: showLink },
    { method: 'POST', path: '/login/:code', role: 'anyone', handle: openSession },
    { method: 'POST', path: '/logout', role: 'viewer', handle: logOut },
    { method: 'GET', path: '/logout', role: 'anyone', handle: async () => redirect('/') },
  ];
};
