import { html } from 'hono/html';
import type { Action } from '../actions.ts';
import { action, state } from '../html.ts';
import type { ConsoleResponse, Deps, PersonRequest, Route } from '../request.ts';
import { page } from '../request.ts';

export const gatewayRoutes = (deps: Deps): Route[] => {
  const list = async ({ cells, session }: PersonRequest): Promise<ConsoleResponse> => {
    const gateways = await deps.queries.listGateways();
    const change = (slug: string, enabled: boolean) =>
      action(`/gateways/${slug}/${enabled ? 'disable' : 'enable'}`, enabled ? 'Disable' : 'Enable');
    return page(
      'Gateways',
      html`${cells.table({
        caption: 'Gateways',
        headings: ['Gateway', 'Driver', 'Environment', 'Status', 'Added', 'Action'],
        rows: gateways.map(({ slug, driver, kind, enabled, createdAt }) => [
          slug,
          driver,
          kind,
          state(enabled ? 'enabled' : 'disabled'),
          createdAt,
          session.role === 'admin' ? change(slug, enabled) : null,
        ]),
        ifEmpty: 'There is no gateway yet. The command line adds one.',
      })}
      <p class="soft">The command line adds gateways and their credentials, which the console cannot read.</p>`,
    );
  };
  return [{ method: 'GET', path: '/gateways', role: 'viewer', handle: list }];
};

const statusAction = (word: 'Enable' | 'Disable', consequence: string): Action => ({
  path: `/gateways/:slug/${word.toLowerCase()}`,
  role: 'admin',
  ask: async ({ params: { slug = '' } }) => ({
    title: `${word} the gateway ${slug}`,
    consequence,
    button: word,
    back: '/gateways',
  }),
  run: async ({ operations, request: { params }, reason }) => {
    await operations.gateways.setEnabled(params['slug'] ?? '', word === 'Enable', reason);
  },
});

export const gatewayActions: readonly Action[] = [
  statusAction('Disable', 'The gateway takes no new payments. Open payments go on to their end.'),
  statusAction('Enable', 'The gateway takes new payments again.'),
];
