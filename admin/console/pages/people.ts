import { html } from 'hono/html';
import { NotFound } from '../../operations/change.ts';
import { describeRights } from '../../../postgres/console/logins.ts';
import { labelOf } from '../../operations/labels.ts';
import type { ListedPerson } from '../../../postgres/console/people.ts';
import { type Action, secretPage } from '../actions.ts';
import { select } from '../filters.ts';
import { action, type Html, type Row, state } from '../html.ts';
import type { ConsoleOperations, ConsoleResponse, PersonRequest, Route } from '../request.ts';
import { page } from '../request.ts';
import { linesOf, text, typedOr } from './application-action.ts';

const peopleMax = 500;
const loginsMax = 100;

const waysOf = ({ hasAccount, email, passkeys }: ListedPerson): string =>
  [
    hasAccount ? 'provider' : email === null ? '' : 'provider, not used yet',
    passkeys === 0 ? '' : `passkeys: ${passkeys}`,
  ]
    .filter((way) => way !== '')
    .join('; ') || 'links';

const cellsOf = (person: ListedPerson): Row => ({
  Person: person.name,
  Role: describeRights(person),
  'E-mail': person.email,
  'Logs in with': waysOf(person),
  'Open sessions': person.openSessions,
});

const actionsOf = ({ name, role, openSessions, unusedLinks }: ListedPerson): Html => {
  const at = `/people/${encodeURIComponent(name)}`;
  return html`<div class="buttons">
    ${role === 'admin' ? '' : action(`${at}/link`, 'New link')}
    ${openSessions + unusedLinks > 0 ? action(`${at}/end`, 'End sessions') : ''}
    ${action(`${at}/remove`, 'Remove')}
  </div>`;
};

/** @throws NotFound */
const personCells = async (
  name: string,
  { console }: Pick<ConsoleOperations, 'console'>,
): Promise<Row> => {
  const person = (await console.people(peopleMax)).find((each) => each.name === name);
  if (!person) throw new NotFound('There is no such person.');
  return { ...cellsOf(person), 'Unused links': person.unusedLinks };
};

const list = async ({ cells, session, operations }: PersonRequest): Promise<ConsoleResponse> => {
  const { console } = operations;
  const [people, logins] = await Promise.all([console.people(peopleMax), console.list(loginsMax)]);
  return page(
    'People',
    html`${
      session.role === 'admin'
        ? html`<div class="actions">${action('/invite', 'Let a person in')}</div>`
        : ''
    }
        ${cells.table({
          caption: 'People',
          rows: people.map((person) => ({
            ...cellsOf(person),
            Action: session.role === 'admin' ? actionsOf(person) : null,
          })),
          ifEmpty: 'Nobody may enter.',
        })}
        <p class="soft">
          Admins are made on the command line, <code>npm run admin -- console login NAME --role admin</code>, and
          get their links there: an admin who could make another one would be the second admin of all that needs two.
        </p>
        <h2>The last ${loginsMax} logins</h2>
        ${cells.table({
          caption: 'Logins',
          rows: logins.map(({ name, via, createdAt, seenAt, isOpen, id }) => ({
            Person:
              id === session.id ? html`${name} <span class="soft">(this browser)</span>` : name,
            With: labelOf('login', via),
            'Logged in': createdAt,
            'Last seen': seenAt,
            Session: state(isOpen ? 'open' : 'ended'),
          })),
          ifEmpty: 'Nobody has logged in.',
        })}`,
  );
};
export const peopleRoutes: Route[] = [
  { method: 'GET', path: '/people', role: 'viewer', handle: list },
];

const roles = ['viewer', 'operator'] as const;

const linkPage = ({ name, url }: { name: string; url: string }): ConsoleResponse =>
  secretPage(
    `A link for ${name}`,
    'Opens the console once, within 15 minutes; not in this browser, where it would log you out',
    url,
    '/people',
  );

const invite: Action = {
  path: '/invite',
  role: 'admin',
  isSensitive: true,
  confirm: async (request) => ({
    title: 'Let a person in',
    consequence:
      'Without an e-mail address you get a link, which is shown once: hand it over by a way that nobody else reads. With an address, the account of your identity provider that has it is the person.',
    button: 'Let in',
    facts: {},
    done: `${text(request, 'name')} can log in through the identity provider.`,
    back: '/people',
    fields: html`<label>
        Name
        <input name="name" maxlength="100" value="${text(request, 'name')}" autocomplete="off" required />
      </label>
      ${select('Role', 'role', { choices: roles, chosen: typedOr(request, 'role', 'viewer'), of: 'role' })}
      <label>
        Only these applications, one in a line; empty: the whole service
        <textarea name="applications" rows="2" maxlength="1100" spellcheck="false">${text(request, 'applications')}</textarea>
      </label>
      <label>
        E-mail address at the identity provider; empty: a link
        <input type="email" name="email" maxlength="255" value="${text(request, 'email')}" autocomplete="off" />
      </label>`,
  }),
  execute: async (request, reason) => {
    const { console } = request.operations;
    const slugs = linesOf(request, 'applications');
    const person = {
      name: text(request, 'name'),
      role: roles.find((role) => role === text(request, 'role')) ?? 'viewer',
      applications: slugs.length === 0 ? null : slugs,
    };
    const email = text(request, 'email');
    if (email === '') return linkPage(await console.invite(person, reason));
    return console.inviteAccount({ ...person, email }, reason);
  },
};

export const peopleActions: readonly Action[] = [
  invite,
  {
    path: '/people/:name/link',
    role: 'admin',
    isSensitive: true,
    confirm: async ({ params: { name }, operations }) => ({
      facts: await personCells(name, operations),
      title: `A new link for ${name}`,
      consequence: `It is shown once, and opens the console as ${name} once, within 15 minutes. Open sessions of ${name} stay.`,
      button: 'Make the link',
      done: 'The link was made.',
      back: '/people',
    }),
    execute: async ({ operations, params }, reason) =>
      linkPage(await operations.console.newLink(params.name, reason)),
  },
  {
    path: '/people/:name/remove',
    role: 'admin',
    isSensitive: true,
    confirm: async ({ params: { name }, operations }) => ({
      facts: await personCells(name, operations),
      title: `Remove ${name}`,
      consequence: `Nobody logs in as ${name} any more: all sessions end, links open nothing, and passkeys and saved views are deleted.`,
      button: 'Remove',
      typedName: name,
      done: `${name} was removed.`,
      back: '/people',
    }),
    execute: async ({ operations, params }, reason) => {
      await operations.console.remove(params.name, reason);
    },
  },
  {
    path: '/people/:name/end',
    role: 'admin',
    confirm: async ({ params: { name }, operations }) => ({
      facts: await personCells(name, operations),
      title: `End the sessions of ${name}`,
      consequence: `Every browser in which ${name} is logged in is logged out at its next request, and unused links of ${name} open nothing. To keep ${name} out, remove the person.`,
      button: 'End sessions',
      done: `The sessions of ${name} have ended.`,
      back: '/people',
    }),
    execute: async ({ operations, params }, reason) => {
      await operations.console.logOut(params.name, reason);
    },
  },
];
