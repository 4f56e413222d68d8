import { html } from 'hono/html';
import { NotFound } from '../../operations/change.ts';
import { sandboxAccount, type ListedGateway } from '../../../postgres/gateways.ts';
import type { Action } from '../actions.ts';
import { action, coded, type Html, type Row, state } from '../html.ts';
import type { ConsoleOperations, ConsoleResponse, PersonRequest, Route } from '../request.ts';
import { page } from '../request.ts';

const actionsOf = ({ slug, driver, enabled, hasCredentials }: ListedGateway): Html =>
  html`<div class="buttons">
    ${action(`/gateways/${slug}/${enabled ? 'disable' : 'enable'}`, enabled ? 'Disable' : 'Enable')}
    ${driver === sandboxAccount.driver ? '' : action(`/gateways/${slug}/credentials`, hasCredentials ? 'Replace the credentials' : 'Set the credentials')}
  </div>`;

const cellsOf = (gateway: ListedGateway): Row => ({
  Gateway: gateway.slug,
  Driver: gateway.driver,
  Environment: coded('gateway', gateway.kind),
  Status: state(gateway.enabled ? 'enabled' : 'disabled'),
  Credentials:
    gateway.driver === sandboxAccount.driver
      ? 'none needed'
      : state(gateway.hasCredentials ? 'set' : 'missing'),
  'Asked last until': gateway.silentUntil,
  Added: gateway.createdAt,
});

/** @throws NotFound */
const gatewayCells = async (
  slug: string,
  { gateways }: Pick<ConsoleOperations, 'gateways'>,
): Promise<Row> => {
  const gateway = (await gateways.list()).find((each) => each.slug === slug);
  if (!gateway) throw new NotFound(`There is no gateway ${slug}.`);
  return cellsOf(gateway);
};

const list = async ({ cells, session, operations }: PersonRequest): Promise<ConsoleResponse> => {
  const gateways = await operations.gateways.list();
  return page(
    'Gateways',
    html`${cells.table({
      caption: 'Gateways',
      rows: gateways.map((gateway) => ({
        ...cellsOf(gateway),
        Action: session.role === 'admin' ? actionsOf(gateway) : null,
      })),
      ifEmpty: 'There is no gateway yet. The command line adds one.',
    })}
      <p class="soft">
        The command line adds gateways. The console can replace credentials, and cannot read them.
      </p>`,
  );
};
export const gatewayRoutes: Route[] = [
  { method: 'GET', path: '/gateways', role: 'viewer', handle: list },
];

const statusAction = (word: 'Enable' | 'Disable', consequence: string): Action => ({
  path: `/gateways/:slug/${word.toLowerCase()}`,
  role: 'admin',
  isSensitive: word === 'Disable',
  confirm: async ({ params: { slug }, operations }) => ({
    facts: await gatewayCells(slug, operations),
    title: `${word} the gateway ${slug}`,
    consequence,
    button: word,
    isDangerous: word === 'Disable',
    done: `The gateway ${slug} is ${word.toLowerCase()}d.`,
    back: '/gateways',
  }),
  execute: async ({ operations, params }, reason) => {
    await operations.gateways.setEnabled(params.slug, word === 'Enable', reason);
  },
});

export const gatewayActions: readonly Action[] = [
  statusAction('Disable', 'The gateway takes no new payments. Open payments go on to their end.'),
  statusAction('Enable', 'The gateway takes new payments again.'),
  {
    path: '/gateways/:slug/credentials',
    role: 'admin',
    isSensitive: true,
    confirm: async ({ params: { slug }, operations }) => ({
      facts: await gatewayCells(slug, operations),
      title: `Replace the credentials of ${slug}`,
      consequence:
        'The next call to the gateway uses the new credentials, for open payments too. With those of another account, the money of new payments goes there. Nobody can read the old ones back. Secrets of notifications, and what only refunds need, stay unless they are given.',
      button: 'Replace',
      done: `The credentials of ${slug} were replaced.`,
      back: '/gateways',
      typedName: slug,
      // Never filled in again.
      fields: html`<label>
        Credentials, a JSON object in the driver’s format
        <textarea
          name="credentials"
          rows="6"
          maxlength="10000"
          autocomplete="off"
          autocapitalize="off"
          spellcheck="false"
          required
        ></textarea>
      </label>`,
    }),
    execute: async ({ operations, params, form }, reason) => {
      const credentials = form.get('credentials') ?? '';
      await operations.gateways.setCredentials(params.slug, credentials, reason);
    },
  },
];
