import { html } from 'hono/html';
import { NotFound } from '../../operations/change.ts';
import { describeRights } from '../../../postgres/console-logins.ts';
import { labelOf } from '../../operations/labels.ts';
import type { ListedPerson } from '../../../postgres/console-people.ts';
import type { Action } from '../actions.ts';
import { action, type Row, state } from '../html.ts';
import type { ConsoleOperations, ConsoleResponse, PersonRequest, Route } from '../request.ts';
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

const cellsOf = (person: ListedPerson): Row => ({
  Person: person.name,
  Role: describeRights(person),
  'E-mail': person.email,
  'Logs in with': waysOf(person),
  'Open sessions': person.openSessions,
});

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
    html`<p>The command line lets people in, and out for good:</p>
        <pre><code>npm run admin -- console login NAME --role viewer|operator|admin
npm run admin -- console login NAME --role viewer|operator --application SLUG
npm run admin -- console add NAME --role viewer|operator|admin --email ADDRESS
npm run admin -- console remove NAME</code></pre>
        ${cells.table({
          caption: 'People',
          rows: people.map((person) => ({
            ...cellsOf(person),
            Action:
              session.role === 'admin' && person.openSessions + person.unusedLinks > 0
                ? action(`/people/${encodeURIComponent(person.name)}/end`, 'End sessions')
                : null,
          })),
          ifEmpty: 'Nobody may enter.',
        })}
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

export const peopleActions: readonly Action[] = [
  {
    path: '/people/:name/end',
    role: 'admin',
    confirm: async ({ params: { name }, operations }) => ({
      facts: await personCells(name, operations),
      title: `End the sessions of ${name}`,
      consequence: `Every browser in which ${name} is logged in is logged out at its next request, and unused links of ${name} open nothing. To keep ${name} out, use “console remove” of the command line.`,
      button: 'End sessions',
      done: `The sessions of ${name} have ended.`,
      back: '/people',
    }),
    execute: async ({ operations, params }, reason) => {
      await operations.console.logOut(params.name, reason);
    },
  },
];
