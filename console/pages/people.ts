import { html } from 'hono/html';
import type { Action } from '../actions.ts';
import { action, state } from '../html.ts';
import type { ConsoleResponse, Deps, PersonRequest, Route } from '../request.ts';
import { page } from '../request.ts';

const loginsMax = 100;

export const peopleRoutes = (deps: Deps): Route[] => {
  const list = async ({ cells, session }: PersonRequest): Promise<ConsoleResponse> => {
    const logins = await deps.operationsOf(session.name).console.list(loginsMax);
    const shown = new Set<string>();
    return page(
      'People',
      html`<p>The last ${loginsMax} logins. The command line lets people in:</p>
        <pre><code>npm run admin -- console login NAME --role viewer|operator|admin</code></pre>
        ${cells.table({
          caption: 'Logins',
          headings: ['Person', 'Role', 'Logged in', 'Last seen', 'Session', 'Action'],
          rows: logins.map(({ name, role, createdAt, seenAt, isOpen, id }) => {
            const isFirst = isOpen && !shown.has(name);
            if (isFirst) shown.add(name);
            return [
              id === session.id ? html`${name} <span class="soft">(this browser)</span>` : name,
              role,
              createdAt,
              seenAt,
              state(isOpen ? 'open' : 'ended'),
              isFirst && session.role === 'admin'
                ? action(`/people/${encodeURIComponent(name)}/end`, 'End sessions')
                : null,
            ];
          }),
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
    ask: async ({ params: { name = '' } }) => ({
      title: `End the sessions of ${name}`,
      consequence: `Every browser in which ${name} is logged in is logged out at its next request.`,
      button: 'End sessions',
      back: '/people',
    }),
    run: async ({ operations, request: { params }, reason }) => {
      await operations.console.logOut(params['name'] ?? '', reason);
    },
  },
];
