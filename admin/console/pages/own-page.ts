import { html } from 'hono/html';
import { labelOf } from '../../operations/labels.ts';
import { NotFound } from '../../operations/change.ts';
import { describeRights } from '../../../postgres/console/logins.ts';
import type { Action } from '../actions.ts';
import { action, notice } from '../html.ts';
import { createPasskeys } from '../passkeys.ts';
import type { ConsoleResponse, Deps, PersonRequest, Route } from '../request.ts';
import { page, redirect } from '../request.ts';
import { spentLogin } from './login.ts';
import { viewsPart } from './views.ts';

const labelMax = 50;

/** The login of the person who looks at it, with the person's passkeys. */
export const ownPageRoutes = (deps: Deps): Route[] => {
  const { baseUrl, begunLogins, passkeys: stored } = deps;
  const passkeys = createPasskeys(baseUrl);

  const show = async (request: PersonRequest): Promise<ConsoleResponse> => {
    const { cells, session, csrf } = request;
    const rows = await stored.list(session.name);
    return page(
      'You',
      html`${cells.facts({
        Person: session.name,
        Role: describeRights(session),
        'Logged in': session.createdAt,
        'Signed in with': labelOf('login', session.via),
      })}
        <h2>Passkeys</h2>
        ${cells.table({
          caption: 'Passkeys',
          rows: rows.map(({ id, label, createdAt, usedAt }) => ({
            Name: label,
            Added: createdAt,
            'Last used': usedAt,
            Action: action(`/me/passkeys/${id}/remove`, 'Remove'),
          })),
          ifEmpty: 'You have no passkey.',
        })}
        <div class="actions">${action('/me/passkeys', 'Add a passkey')}</div>
        <h2>Saved views</h2>
        ${viewsPart(request)}
        <h2>This browser</h2>
        <div class="actions">
          ${action('/settings', 'Time zone')}
          <form method="post" action="/logout">
            <input type="hidden" name="csrf" value="${csrf}" />
            <button>Log out here</button>
          </form>
        </div>`,
    );
  };

  const askForPasskey = async (
    { csrf }: Pick<PersonRequest, 'csrf'>,
    problem?: string,
  ): Promise<ConsoleResponse> =>
    page(
      'Add a passkey',
      html`${problem === undefined ? '' : notice('bad', problem)}
        <form class="form" method="post" data-passkey="create" data-options="/me/passkeys/options">
          <input type="hidden" name="csrf" value="${csrf}" />
          <input type="hidden" name="response" />
          <p>A passkey logs you in with your device or security key, and its PIN, fingerprint or face.</p>
          <label>
            Name of the device
            <input name="label" maxlength="${labelMax}" autocomplete="off" required />
          </label>
          <div class="actions">
            <button class="main" hidden>Add</button>
            <a class="button" href="/me">Cancel</a>
          </div>
          <p role="status"></p>
        </form>`,
      problem === undefined ? 200 : 400,
    );

  const begin = async ({ session }: PersonRequest): Promise<ConsoleResponse> => {
    const begunLogin = begunLogins.begin('/me');
    const known = await stored.list(session.name);
    return {
      kind: 'data',
      data: await passkeys.optionsToAdd(begunLogin, session.name, known),
      begunLogin,
    };
  };

  const add = async (request: PersonRequest): Promise<ConsoleResponse> => {
    const { form, begunLogin, session, operations } = request;
    const label = form.get('label')?.trim() ?? '';
    if (!new RegExp(`^\\P{C}{1,${labelMax}}$`, 'u').test(label))
      return askForPasskey(request, `The name has 1 to ${labelMax} characters.`);
    const login = begunLogin === undefined ? undefined : await begunLogins.end(begunLogin);
    if (begunLogin === undefined || !login) return spentLogin();
    const passkey = await passkeys.verifyNew(begunLogin, form.get('response') ?? '');
    if (!passkey) return askForPasskey(request, 'The answer of the device is not valid.');
    const { name } = session;
    await operations.console.addPasskey({ ...passkey, name }, label);
    return redirect(login.back, `The passkey “${label}” was added.`);
  };

  // A passkey outlives the session, so an open browser is not enough to add one.
  const sensitive = { role: 'viewer', owner: 'person', isSensitive: true } as const;
  return [
    { method: 'GET', path: '/me', role: 'viewer', owner: 'person', handle: show },
    { method: 'GET', path: '/me/passkeys', ...sensitive, handle: askForPasskey },
    { method: 'POST', path: '/me/passkeys/options', ...sensitive, handle: begin },
    { method: 'POST', path: '/me/passkeys', ...sensitive, handle: add },
  ];
};

export const ownPageActions = ({ passkeys }: Deps): readonly Action[] => [
  {
    path: '/me/passkeys/:passkey/remove',
    role: 'viewer',
    owner: 'person',
    confirm: async ({ session, params }) => {
      const own = await passkeys.list(session.name);
      const passkey = own.find(({ id }) => id === params.passkey);
      if (!passkey) throw new NotFound('You have no such passkey.');
      return {
        title: `Remove the passkey “${passkey.label}”`,
        consequence:
          'The passkey logs nobody in any more. Sessions that it opened stay open; your device may still show it.',
        button: 'Remove',
        facts: { Passkey: passkey.label, Added: passkey.createdAt, 'Last used': passkey.usedAt },
        done: `The passkey “${passkey.label}” was removed.`,
        back: '/me',
      };
    },
    execute: async ({ operations, params, session }, reason) => {
      const id = params.passkey;
      await operations.console.removePasskey({ name: session.name, id }, reason);
    },
  },
];
