import { html } from 'hono/html';
import type { AccountDifference } from '../../../postgres/account-days.ts';
import { isQueryCanceled } from '../../../postgres/driver/error-codes.ts';
import type { ListedGateway } from '../../../postgres/gateways.ts';
import type { MovementSum } from '../../../postgres/movements.ts';
import {
  addMonths,
  calendar,
  lastBegunDay,
  lastDayOf,
  nameOfMonth,
  readMonth,
} from '../calendar.ts';
import { pageOf, pageSize, readFilter, select } from '../filters.ts';
import { type Html, link, modeTag } from '../html.ts';
import { visibleApplications } from '../owner.ts';
import type { ConsoleOperations, ConsoleResponse, Deps, PersonRequest, Route } from '../request.ts';
import { page } from '../request.ts';
import { accountDayRoutes, addressOf, amountOf, applicationOf, tooMany } from './account-day.ts';
import { accountDifferenceRoutes, differenceTable } from './account-differences.ts';
import { modeOf, testOf } from './attention.ts';

type GatewaySum = MovementSum & { gateway: string };

/**
 * Adds up a month, gateway by gateway: each is a statement that may be long.
 * @returns undefined if there are too many movements to add them up for a page
 */
const sumMonth = async (
  { accounts }: Pick<ConsoleOperations, 'accounts'>,
  gateways: readonly ListedGateway[],
  { month, application }: { month: string; application: string | null },
): Promise<GatewaySum[] | undefined> => {
  const sums: GatewaySum[] = [];
  try {
    for (const { slug: gateway } of gateways) {
      const range = { gateway, from: `${month}-01`, to: lastDayOf(month) };
      const found = await accounts.sum(range, application);
      sums.push(...found.map((sum) => ({ ...sum, gateway })));
    }
  } catch (error) {
    if (isQueryCanceled(error)) return undefined;
    throw error;
  }
  return sums;
};

const total = (sums: readonly { amount: number }[]): number =>
  sums.reduce((sum, { amount }) => sum + amount, 0);

const monthSums = ({ cells }: PersonRequest, sums: readonly GatewaySum[] | undefined): Html => {
  if (sums === undefined) return tooMany;
  const groups = Object.groupBy(sums, ({ gateway, application, test, currency }) =>
    JSON.stringify([application, test, gateway, currency]),
  );
  const table = cells.table({
    caption: 'Sums of the month',
    rows: Object.keys(groups)
      .sort()
      .flatMap((key) => {
        const group = groups[key] ?? [];
        const [first] = group;
        if (!first) return [];
        const { application, test, gateway, currency } = first;
        return {
          Application: applicationOf(application, test),
          Gateway: gateway,
          Movements: group.reduce((sum, { count }) => sum + count, 0).toLocaleString('en'),
          In: amountOf(total(group.filter(({ amount }) => amount > 0)), currency),
          Out: amountOf(total(group.filter(({ amount }) => amount < 0)), currency),
          Balance: amountOf(total(group), currency),
        };
      }),
    ifEmpty: 'No money moved in this month.',
  });
  return html`<div class="sums">${table}</div>`;
};

/** The oldest open differences, of the gateways of one mode or of all. One more than a page has. */
const listOpen = async (
  { accounts }: Pick<ConsoleOperations, 'accounts'>,
  gateways: readonly ListedGateway[] | null,
  application: string | null,
): Promise<AccountDifference[]> => {
  const filter = { day: null, state: 'open', application } as const;
  const found = await Promise.all(
    (gateways?.map(({ slug }) => slug) ?? [null]).map((gateway) =>
      accounts.listDifferences({ ...filter, gateway }, pageSize + 1),
    ),
  );
  return found.flat().sort((one, other) => one.id - other.id);
};

const legend = html`<p class="soft">
  ✓ closed, no difference is open · ▲ open differences · not closed: it may get more movements ·
  no sign: not compared
</p>`;

/** The comparison of gateways' accounts with the gateways' own books. */
export const accountsRoutes = (deps: Pick<Deps, 'now'>): Route[] => {
  const { now } = deps;
  const month = ({ query, formatTime }: PersonRequest): string =>
    readMonth(query.get('month')) ?? formatTime(now()).slice(0, 7);

  const list = async (request: PersonRequest): Promise<ConsoleResponse> => {
    const { operations, session, formatTime } = request;
    const { accounts } = operations;
    const { application } = readFilter(request, now());
    const [mode, test] = [modeOf(request), testOf(request)];
    const shown = month(request);
    const thisMonth = formatTime(now()).slice(0, 7);
    const range = { from: `${shown}-01`, to: lastDayOf(shown), gateway: null };
    const [all, applications, days] = await Promise.all([
      operations.gateways.list(),
      visibleApplications(request),
      accounts.listDays(range, application),
    ]);
    const ofMode = all.filter(({ kind }) => test === null || (kind === 'sandbox') === test);
    const [sums, open] = await Promise.all([
      sumMonth(operations, ofMode, { month: shown, application }),
      listOpen(operations, test === null ? null : ofMode, application),
    ]);
    // An application has nothing to do with the other gateways.
    const isUsed = ({ slug }: ListedGateway): boolean =>
      application === null ||
      sums === undefined ||
      sums.some(({ gateway }) => gateway === slug) ||
      days.some((day) => day.gateway === slug && day.open > 0);
    const gateways = ofMode.filter(isUsed);
    const at = (path: string, more: Record<string, string | null> = {}) =>
      addressOf(path, { application, mode, ...more });
    const ofDay = (gateway: string, day: string) =>
      addressOf(`/accounts/${gateway}/${day}`, { application });
    const { rows: differences, last } = pageOf(open);
    return page(
      `Accounts, ${nameOfMonth(shown)}`,
      html`<form class="filters" method="get">
          <input type="hidden" name="month" value="${shown}" />
          ${select('Mode', 'mode', { choices: ['live', 'test'], chosen: mode, any: 'live and test' })}
          ${select('Application', 'application', { choices: applications, chosen: application, any: 'all' })}
          <button>Filter</button>
        </form>
        <p class="links">
          ${link(at('/accounts', { month: addMonths(shown, -1) }), `← ${nameOfMonth(addMonths(shown, -1))}`)}
          ${
            shown < thisMonth
              ? link(
                  at('/accounts', { month: addMonths(shown, 1) }),
                  `${nameOfMonth(addMonths(shown, 1))} →`,
                )
              : ''
          }
          ${
            session.role === 'viewer'
              ? ''
              : link(
                  addressOf('/accounts/file', { month: shown, application }),
                  'Movements of the month as CSV',
                )
          }
        </p>
        ${
          gateways.length === 0
            ? html`<p class="empty">There is nothing to compare in this month.</p>`
            : html`<div class="months">
                ${gateways.map(
                  ({ slug, kind }) =>
                    html`<section>
                      <h2>${slug} ${modeTag(kind === 'sandbox')}</h2>
                      ${calendar({
                        month: shown,
                        label: `Days of ${slug}`,
                        today: lastBegunDay(now()),
                        days: days.filter(({ gateway }) => gateway === slug),
                        addressOf: (day) => ofDay(slug, day),
                      })}
                    </section>`,
                )}
              </div>
              ${legend}`
        }
        <h2>Sums of the month</h2>
        ${monthSums(request, sums)}
        <h2>Open differences</h2>
        ${last ? html`<p>These are the oldest ${pageSize}.</p>` : ''}
        ${differenceTable(request, differences, {
          ifEmpty: 'No difference is open.',
          dayOf: ({ gateway, day }) => html`${link(ofDay(gateway, day), day)}<br />${gateway}`,
        })}`,
    );
  };

  const fileOfMonth = async (request: PersonRequest): Promise<ConsoleResponse> => {
    const { application } = readFilter(request, now());
    const wanted = month(request);
    const filter = { gateway: null, application, from: `${wanted}-01`, to: lastDayOf(wanted) };
    const { lines } = await request.operations.accounts.exportMovements(filter);
    return { kind: 'file', name: `movements-${wanted}.csv`, lines };
  };

  return [
    { method: 'GET', path: '/accounts', role: 'viewer', owner: 'list', handle: list },
    { method: 'GET', path: '/accounts/file', role: 'operator', owner: 'list', handle: fileOfMonth },
    ...accountDifferenceRoutes,
    ...accountDayRoutes(deps),
  ];
};
