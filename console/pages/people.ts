import { html } from 'hono/html';
import type { ListedPerson } from '../../postgres/console-people.ts';
import type { Action } from '../actions.ts';
import { action, state } from '../html.ts';
import type { ConsoleResponse, Deps, PersonRequest, Route } from '../request.ts';
import { page } from '../request.ts';

const peopleMax = 500;
const loginsMax = 100;

const waysOf = ({ hasAccount, email, passkeys }: ListedPerson): string =>
  [
    hasAccount ? 'provider' : email === null ? '' : 'provider, not used yet',
    passkeys === 0 ? '' : `passkeys: ${passkeys}`,
  ]
    .filter((way) => way !== '')
    .join('; ') || 'links';

export const peopleRoutes = (deps: Deps): Route[] => {
  const list = async ({ cells, session }: PersonRequest): Promise<ConsoleResponse> => {
    const { console } = deps.operationsOf(session.name);
    const [people, logins] = await Promise.all([
      console.people(peopleMax),
      console.list(loginsMax),
    ]);
    return page(
      'People',
      html`<p>The command line lets people in, and out for good:</p>
        <pre><code>npm run admin -- console login NAME --role viewer|operator|admin
npm run admin -- console add NAME --role viewer|operator|admin --email ADDRESS
npm run admin -- console remove NAME</code></pre>
        ${cells.table({
          caption: 'People',
          headings: ['Person', 'Role', 'E-mail', 'Logs in with', 'Open sessions', 'Action'],
          rows: people.map((person) => [
            person.name,
            person.role,
            person.email,
            waysOf(person),
            person.openSessions,
            session.role === 'admin' && person.openSessions + person.unusedLinks > 0
              ? action(`/people/${encodeURIComponent(person.name)}/end`, 'End sessions')
              : null,
          ]),
          ifEmpty: 'Nobody may enter.',
        })}
        <h2>The last ${loginsMax} logins</h2>
        ${cells.table({
          caption: 'Logins',
          headings: ['Person', 'With', 'Logged in', 'Last seen', 'Session'],
          rows: logins.map(({ name, via, createdAt, seenAt, isOpen, id }) => [
            id === session.id ? html`${name} <span class="soft">(this browser)</span>` : name,
            via,
            createdAt,
            seenAt,
            state(isOpen ? 'open' : 'ended'),
          ]),
          ifEmpty: 'Nobody has logged in.',
        })}`,
    );
  };
  return [{ method: 'GET', path: '/people', role: 'viewer', handle: list }];
};

export const peopleActions: readonly Action[] = [
  {
    path: '/people/:name/end',
    role: 'admin',
    confirm: async ({ params: { name = '' } }) => ({
      title: `End the sessions of ${name}`,
      consequence: `Every browser in which ${name} is logged in is logged out at its next request, and unused links of ${name} open nothing. To keep ${name} out, use “console remove” of the command line.`,
      button: 'End sessions',
      back: '/people',
    }),
    execute: async ({ operations, request: { params }, reason }) => {
      await operations.console.logOut(params['name'] ?? '', reason);
    },
  },
];
