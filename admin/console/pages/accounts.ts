import { html } from 'hono/html';
import type { ComparedDay, DifferenceOwner } from '../../../postgres/accounts/days.ts';
import { isQueryCanceled } from '../../../postgres/driver/error-codes.ts';
import type { ListedGateway } from '../../../postgres/gateways/gateways.ts';
import type { MovementSum } from '../../../contract/movement.ts';
import {
  addMonths,
  calendar,
  lastBegunDay,
  lastDayOf,
  nameOfMonth,
  readMonth,
} from '../calendar.ts';
import { NotFound } from '../../operations/change.ts';
import { applicationChoice, filterBar } from '../filter-bar.ts';
import { pageOf, pageSize, readFilter, refuseUnread } from '../filters.ts';
import { type Html, link, notice } from '../html.ts';
import { fileName } from '../mode.ts';
import { visibleApplications } from '../owner.ts';
import type { ConsoleOperations, ConsoleResponse, Deps, PersonRequest, Route } from '../request.ts';
import { page } from '../request.ts';
import { accountDayRoutes, addressOf, amountOf, applicationOf, tooMany } from './account-day.ts';
import { accountDifferenceRoutes, differenceTable } from './account-differences.ts';

type GatewaySum = MovementSum & { gateway: string };

/**
 * Adds up a month, gateway by gateway: each is a statement that may be long.
 * @returns undefined if there are too many movements to add them up for a page
 */
const sumMonth = async (
  { accounts }: Pick<ConsoleOperations, 'accounts'>,
  gateways: readonly ListedGateway[],
  { month, ...owner }: DifferenceOwner & { month: string },
): Promise<GatewaySum[] | undefined> => {
  const sums: GatewaySum[] = [];
  try {
    for (const { slug: gateway } of gateways) {
      const range = { gateway, from: `${month}-01`, to: lastDayOf(month) };
      const found = await accounts.sum({ ...range, ...owner });
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
  const groups = Object.groupBy(sums, ({ gateway, application, currency }) =>
    JSON.stringify([application, gateway, currency]),
  );
  const table = cells.table({
    caption: 'Sums of the month',
    rows: Object.keys(groups)
      .sort()
      .flatMap((key) => {
        const group = groups[key] ?? [];
        const [first] = group;
        if (!first) return [];
        const { application, gateway, currency } = first;
        return {
          Application: applicationOf(application),
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

/** Why the file of the month is not final. */
const openDays = (
  days: readonly ComparedDay[],
  gateways: readonly ListedGateway[],
  month: string,
): Html => {
  const open = gateways.flatMap(({ slug }) => {
    const last = days.findLast(({ gateway, closedAt }) => gateway === slug && closedAt !== null);
    return last?.day === lastDayOf(month) ? [] : [{ slug, last }];
  });
  return open.length === 0
    ? html``
    : notice(
        'info',
        html`The file of the month may get more movements:
          ${open
            .map(
              ({ slug, last }) =>
                `${slug} is ${last ? `closed up to ${last.day}` : 'not closed on any day'}`,
            )
            .join(', ')}.`,
      );
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
    const { application, test } = readFilter(request, now());
    const owner = { application, test };
    const shown = month(request);
    const thisMonth = formatTime(now()).slice(0, 7);
    const range = { from: `${shown}-01`, to: lastDayOf(shown), gateway: null };
    const [all, applications, days] = await Promise.all([
      operations.gateways.list(),
      visibleApplications(request),
      accounts.listDays(range, owner),
    ]);
    const [sums, open] = await Promise.all([
      sumMonth(operations, all, { month: shown, ...owner }),
      accounts.listDifferences({ gateway: null, day: null, state: 'open', ...owner }, pageSize + 1),
    ]);
    // An application has nothing to do with the other gateways. A sandbox may have live payments.
    const isUsed = ({ slug, kind }: ListedGateway): boolean =>
      (application === null && (kind === 'sandbox') === test) ||
      sums === undefined ||
      sums.some(({ gateway }) => gateway === slug) ||
      days.some((day) => day.gateway === slug && day.open > 0);
    const gateways = all.filter(isUsed);
    const at = (path: string, more: Record<string, string | null> = {}) =>
      addressOf(path, { application, ...more });
    const ofDay = (gateway: string, day: string) =>
      addressOf(`/accounts/${gateway}/${day}`, { application });
    const { rows: differences, last } = pageOf(open);
    return page(
      `Accounts, ${nameOfMonth(shown)}`,
      html`${filterBar(request, {
        path: '/accounts',
        choices: [applicationChoice(request, applications, application)],
        hasTimes: false,
        kept: ['month'],
      })}
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
          ${session.applications === null ? link('/accounts/payouts', 'Payouts and the bank’s lines') : ''}
        </p>
        ${session.role === 'viewer' ? '' : openDays(days, gateways, shown)}
        ${
          gateways.length === 0
            ? html`<p class="empty">There is nothing to compare in this month.</p>`
            : html`<div class="months">
                ${gateways.map(
                  ({ slug, kind }) =>
                    html`<section>
                      <h2>${slug} ${kind === 'sandbox' && slug !== 'sandbox' ? html`<span class="tag">sandbox</span>` : ''}</h2>
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
    const { application, test } = readFilter(request, now());
    const { query } = request;
    if (query.has('month') && readMonth(query.get('month')) === null)
      throw new NotFound('There is no such month.');
    refuseUnread(request, { application });
    const wanted = month(request);
    const filter = {
      gateway: null,
      application,
      test,
      from: `${wanted}-01`,
      to: lastDayOf(wanted),
    };
    const { lines } = await request.operations.accounts.exportMovements(filter);
    return { kind: 'file', name: fileName(`movements-${wanted}`, test), lines };
  };

  return [
    { method: 'GET', path: '/accounts', role: 'viewer', owner: 'list', handle: list },
    { method: 'GET', path: '/accounts/file', role: 'operator', owner: 'list', handle: fileOfMonth },
    ...accountDifferenceRoutes,
    ...accountDayRoutes(deps),
  ];
};
