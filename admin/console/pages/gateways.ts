import { html } from 'hono/html';
import { formatPercent, parsePercent } from '../../../contract/basis-points.ts';
import { formatMoney } from '../../../contract/money.ts';
import { parseWholeNumber } from '../../../contract/whole-number.ts';
import { Refusal } from '../../operations/change.ts';
import { opensNothingText } from '../../operations/facts.ts';
import type { OpensNothing } from '../../../postgres/admin/attention.ts';
import { sandboxAccount, type ListedGateway } from '../../../postgres/gateways/gateways.ts';
import type { Action } from '../actions.ts';
import { select } from '../filters.ts';
import { action, coded, type Html, link, marked, nowrap, type Row, state } from '../html.ts';
import type { ConsoleOperations, ConsoleResponse, PersonRequest, Route } from '../request.ts';
import { page } from '../request.ts';
import { unopenedPath } from './attention.ts';
import { typedOr } from './application-action.ts';
import { zonesWith } from './settings.ts';

export const gatewayActionsOf = ({ slug, driver, enabled, hasCredentials }: ListedGateway): Html =>
  html`<div class="buttons">
    ${action(`/gateways/${slug}/${enabled ? 'disable' : 'enable'}`, enabled ? 'Disable' : 'Enable')}
    ${driver === sandboxAccount.driver ? '' : action(`/gateways/${slug}/credentials`, hasCredentials ? 'Replace the credentials' : 'Set the credentials')}
  </div>`;

/** @param nothing it opens no payment */
export const gatewayCells = (gateway: ListedGateway, nothing: Html | '' = ''): Row => ({
  Gateway: link(`/gateways/${gateway.slug}`, gateway.slug),
  Driver: nowrap(gateway.driver),
  Environment: coded('gateway', gateway.kind),
  Status: html`${state(gateway.enabled ? 'enabled' : 'disabled')} ${nothing}`,
  Credentials:
    gateway.driver === sandboxAccount.driver
      ? 'none needed'
      : state(gateway.hasCredentials ? 'set' : 'missing'),
  Added: gateway.createdAt,
});

/** Says that a gateway opens nothing, with a link to its payments; empty: it does. */
export const opensNothingCell = (
  nothing: OpensNothing | undefined,
  { formatTime }: Pick<PersonRequest, 'formatTime'>,
): Html | '' =>
  nothing === undefined
    ? ''
    : html`${marked('bad', '')} ${opensNothingText(nothing, formatTime)} ${link(unopenedPath(nothing.gateway), 'Show')}`;

/** @throws NotFound */
const factsOf = async (
  slug: string,
  { gateways }: Pick<ConsoleOperations, 'gateways'>,
): Promise<Row> => gatewayCells((await gateways.get(slug)).gateway);

const backTo = (slug: string): string => `/gateways/${slug}`;

const list = async (request: PersonRequest): Promise<ConsoleResponse> => {
  const { cells, session, operations, test } = request;
  const [gateways, opensNothing] = await Promise.all([
    operations.gateways.list(),
    operations.gateways.opensNothing(test),
  ]);
  return page(
    'Gateways',
    html`${cells.table({
      caption: 'Gateways',
      rows: gateways.map((gateway) => ({
        ...gatewayCells(gateway, opensNothingCell(opensNothing.get(gateway.slug), request)),
        Action: session.role === 'admin' ? gatewayActionsOf(gateway) : null,
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
    facts: await factsOf(slug, operations),
    title: `${word} the gateway ${slug}`,
    consequence,
    button: word,
    warning: word === 'Disable' ? await operations.consequences.ofDisabling(slug) : null,
    isDangerous: word === 'Disable',
    done: `The gateway ${slug} is ${word.toLowerCase()}d.`,
    back: backTo(slug),
  }),
  execute: async ({ operations, params }, reason) => {
    await operations.gateways.setEnabled(params.slug, word === 'Enable', reason);
  },
});

const feeFixedMax = 1_000_000;

/** A number of a form, or null for an empty field. @throws Refusal */
const numberIn = (
  text: string,
  parse: (text: string) => number | undefined,
  problem: string,
): number | null => {
  if (text === '') return null;
  const value = parse(text);
  if (value === undefined) throw new Refusal(problem);
  return value;
};

const feesChoices = ['off', 'booked'];

const changeTerms: Action = {
  path: '/gateways/:slug/account',
  role: 'admin',
  confirm: async (request) => {
    const { slug } = request.params;
    const { gateway, bounds, reportsFees } = await request.operations.gateways.get(slug);
    const [currency = 'EUR'] = bounds?.currencies.keys() ?? [];
    const { timeZone, feeBasisPoints, feeFixed, feesReported } = gateway;
    const percent = feeBasisPoints === null ? '' : formatPercent(feeBasisPoints);
    return {
      title: `Time zone and fee of ${slug}`,
      consequence:
        'The next comparison uses them. Closed days stay as they are. With another time zone its days have other hours: compare the last day again.',
      button: 'Change',
      facts: gatewayCells(gateway),
      done: `Time zone and fee of ${slug} were changed.`,
      back: backTo(slug),
      fields: html`${select('Its days begin at midnight of', 'zone', {
        choices: zonesWith(timeZone),
        chosen: typedOr(request, 'zone', timeZone),
      })}
        <label>
          Agreed fee of a payment, in percent; empty: not known
          <input name="percent" inputmode="decimal" maxlength="6" value="${typedOr(request, 'percent', percent)}" autocomplete="off" />
        </label>
        <label>
          And a fixed part, in minor units of its currency, 25 for ${formatMoney({ amount: 25, currency })}; empty: not known
          <input name="fixed" inputmode="numeric" maxlength="7" value="${typedOr(request, 'fixed', String(feeFixed ?? ''))}" autocomplete="off" />
        </label>
        ${
          reportsFees
            ? select('The fees that it reports with its payments', 'fees', {
                choices: feesChoices,
                chosen: typedOr(request, 'fees', feesReported ? 'booked' : 'off'),
              })
            : ''
        }`,
    };
  },
  execute: async (request, reason) => {
    const typed = (name: string) => typedOr(request, name, '');
    const terms = {
      timeZone: typed('zone'),
      feeBasisPoints: numberIn(
        typed('percent'),
        parsePercent,
        'The fee is a number from 0 to 100 with at most two decimals.',
      ),
      feeFixed: numberIn(
        typed('fixed'),
        (text) => parseWholeNumber(text, { min: 0, max: feeFixedMax }),
        `The fixed part is a whole number of minor units, up to ${feeFixedMax}.`,
      ),
      feesReported: typed('fees') === 'booked',
    };
    await request.operations.gateways.setAccount(request.params.slug, terms, reason);
  },
};

export const gatewayActions: readonly Action[] = [
  statusAction('Disable', 'The gateway takes no new payments. Open payments go on to their end.'),
  statusAction('Enable', 'The gateway takes new payments again.'),
  changeTerms,
  {
    path: '/gateways/:slug/credentials',
    role: 'admin',
    isSensitive: true,
    confirm: async ({ params: { slug }, operations }) => ({
      facts: await factsOf(slug, operations),
      title: `Replace the credentials of ${slug}`,
      consequence:
        'The next call to the gateway uses the new credentials, for open payments too. With those of another account, the money of new payments goes there. Nobody can read the old ones back. Secrets of notifications, and what only refunds need, stay unless they are given.',
      button: 'Replace',
      done: `The credentials of ${slug} were replaced.`,
      back: backTo(slug),
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
