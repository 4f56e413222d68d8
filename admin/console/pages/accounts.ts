import { html } from 'hono/html';
import { type MonthOfAccounts, monthOf } from '../../operations/account-month.ts';
import type { ComparedDay } from '../../../postgres/accounts/days.ts';
import { isQueryCanceled } from '../../../postgres/driver/error-codes.ts';
import type { ListedGateway } from '../../../postgres/gateways/gateways.ts';
import { addMonths, calendar, lastBegunDay, nameOfMonth, readMonth } from '../calendar.ts';
import { NotFound } from '../../operations/change.ts';
import { applicationChoice, filterBar } from '../filter-bar.ts';
import { pageOf, pageSize, readOwner } from '../filters.ts';
import { cut, type Html, link, notice } from '../html.ts';
import { fileName } from '../mode.ts';
import { visibleApplications, visibleGateways } from '../owner.ts';
import type { ConsoleResponse, Deps, PersonRequest, Route } from '../request.ts';
import { page } from '../request.ts';
import { accountDayRoutes, addressOf } from './account-day.ts';
import { accountDifferenceRoutes, differenceTable } from './account-differences.ts';
import { monthPart } from './account-month.ts';

/** @returns undefined if there are too many movements to add them up for a page */
const addUp = async (found: Promise<MonthOfAccounts>): Promise<MonthOfAccounts | undefined> =>
  found.catch((error: unknown) => {
    if (isQueryCanceled(error)) return undefined;
    throw error;
  });

/** Why the file of the month is not final. */
const openDays = (
  days: readonly ComparedDay[],
  gateways: readonly ListedGateway[],
  month: string,
): Html => {
  const open = gateways.flatMap(({ slug }) => {
    const last = days.findLast(({ gateway, closedAt }) => gateway === slug && closedAt !== null);
    return last?.day === monthOf(month).to ? [] : [{ slug, last }];
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
    query.read('month', readMonth) ?? formatTime(now()).slice(0, 7);

  const list = async (request: PersonRequest): Promise<ConsoleResponse> => {
    const { operations, session, formatTime } = request;
    const { accounts } = operations;
    const owner = readOwner(request);
    const { application, test } = owner;
    const shown = month(request);
    const thisMonth = formatTime(now()).slice(0, 7);
    const range = { ...monthOf(shown), gateway: null };
    const [all, visible, applications, days] = await Promise.all([
      operations.gateways.list(),
      visibleGateways(request),
      visibleApplications(request),
      accounts.listDays(range, owner),
    ]);
    const slugs = all.map(({ slug }) => slug);
    const [found, open] = await Promise.all([
      addUp(accounts.month(shown, slugs, owner)),
      accounts.listDifferences({ gateway: null, day: null, state: 'open', ...owner }, pageSize + 1),
    ]);
    // An application has nothing to do with the other gateways. A sandbox may have live payments.
    const isUsed = ({ slug, kind }: ListedGateway): boolean =>
      (application === null && (kind === 'sandbox') === test) ||
      (found === undefined && visible.includes(slug)) ||
      found?.accounts.some(({ gateway }) => gateway === slug) === true ||
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
          ${link('#month', 'Sums and payouts')} ${link('#differences', 'Open differences')}
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
              : html`${link(at('/accounts/month/file', { month: shown }), 'The month as CSV')}
                ${link(at('/accounts/file', { month: shown }), 'Movements of the month as CSV')}`
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
        ${monthPart(request, found, { isOfApplication: application !== null })}
        <h2 id="differences">Open differences of all months</h2>
        ${last ? html`<p>These are the oldest ${pageSize}.</p>` : ''}
        ${differenceTable(request, differences, {
          ifEmpty: 'No difference is open.',
          dayOf: ({ gateway, day }) =>
            html`<span class="nowrap">${link(ofDay(gateway, day), day)}</span><br />${cut(gateway)}`,
        })}`,
    );
  };

  /** Reads the month and the owner of a file. @throws NotFound */
  const readMonthFile = (request: PersonRequest) => {
    if (request.query.get('month') === '') throw new NotFound('The address names no month.');
    return { wanted: month(request), owner: readOwner(request) };
  };

  const fileOfMovements = async (request: PersonRequest): Promise<ConsoleResponse> => {
    const { wanted, owner } = readMonthFile(request);
    const range = { gateway: null, ...monthOf(wanted), ...owner };
    const { lines } = await request.operations.accounts.exportMovements(range);
    return { kind: 'file', name: fileName(`movements-${wanted}`, owner.test), lines };
  };

  const fileOfMonth = async (request: PersonRequest): Promise<ConsoleResponse> => {
    const { wanted, owner } = readMonthFile(request);
    const { lines } = await request.operations.accounts.exportMonth(wanted, owner);
    return { kind: 'file', name: fileName(`month-${wanted}`, owner.test), lines };
  };

  const files = { '/accounts/file': fileOfMovements, '/accounts/month/file': fileOfMonth };
  return [
    { method: 'GET', path: '/accounts', role: 'viewer', owner: 'list', handle: list },
    ...Object.entries(files).map(([path, handle]): Route => ({
      method: 'GET',
      path,
      role: 'operator',
      owner: 'list',
      handle,
    })),
    ...accountDifferenceRoutes,
    ...accountDayRoutes(deps),
  ];
};
