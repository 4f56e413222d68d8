import { html } from 'hono/html';
import { accountDifferenceStates } from '../../../contract/account-difference.ts';
import { formatMoney } from '../../../contract/money.ts';
import { minuteMs } from '../../../contract/time.ts';
import { NotFound } from '../../operations/change.ts';
import type { ComparedDay } from '../../../postgres/accounts/days.ts';
import { isQueryCanceled } from '../../../postgres/driver/error-codes.ts';
import type { AccountDay, MovementSum } from '../../../contract/movement.ts';
import { addDays, isDay, lastBegunDay, nameOfMonth } from '../calendar.ts';
import { applicationChoice, choiceOf, filterBar } from '../filter-bar.ts';
import { pageOf, pageSize, readOwner } from '../filters.ts';
import { coded, type Html, link, marked, notice } from '../html.ts';
import { type Live, live, partOf } from '../live.ts';
import { fileName } from '../mode.ts';
import { visibleApplications, visibleGateways } from '../owner.ts';
import type { Query } from '../query.ts';
import type { ConsoleResponse, Deps, PersonRequest, Route } from '../request.ts';
import { page, redirect } from '../request.ts';
import { differenceTable } from './account-differences.ts';

/** A page or a file of accounts: what is not chosen is not in its address. */
export const addressOf = (path: string, query: Record<string, string | null>): string => {
  const chosen = Object.entries(query).filter(
    (entry): entry is [string, string] => entry[1] !== null,
  );
  const text = String(new URLSearchParams(chosen));
  return text === '' ? path : `${path}?${text}`;
};

export const amountOf = (amount: number, currency: string): Html =>
  html`<span class="amount">${formatMoney({ amount, currency })}</span>`;

/** A fee may belong to no payment, and so to no application. */
export const applicationOf = (application: string | null): Html =>
  application === null
    ? html`<span class="soft">none</span>`
    : link(`/applications/${application}`, application);

/** Instead of sums that take too long. */
export const tooMany = html`<p class="empty">
  There are too many movements to add them up here. The file of the movements has them all.
</p>`;

const daySums = ({ cells }: PersonRequest, sums: readonly MovementSum[] | undefined): Html => {
  if (sums === undefined) return tooMany;
  const table = cells.table({
    caption: 'Sums of the day',
    rows: sums.map(({ application, kind, currency, count, amount }) => ({
      Application: applicationOf(application),
      Kind: coded('movement', kind),
      Movements: count.toLocaleString('en'),
      Amount: amountOf(amount, currency),
    })),
    ifEmpty: 'No money moved on this day.',
  });
  return html`<div class="sums">${table}</div>`;
};

const methods = {
  list: 'with the list of the gateway',
  each: 'by asking the gateway about each movement',
} as const;

const dayState = (compared: ComparedDay | undefined): Html => {
  if (!compared) return marked('off', 'not compared');
  return compared.closedAt === null
    ? html`${marked('open', 'not closed')} <span class="soft">· may get more movements</span>`
    : marked('good', 'closed');
};

/** The facts of a day. Its hash and its size are those of all applications and of both modes. */
const dayFacts = (
  compared: ComparedDay | undefined,
  timeZone: string,
  { cells, session }: PersonRequest,
): Html => {
  const isOfService = session.applications === null;
  return cells.facts({
    State: dayState(compared),
    'From midnight to midnight': timeZone,
    'Open differences': compared && marked(compared.open > 0 ? 'bad' : 'good', `${compared.open}`),
    Compared: compared && methods[compared.method],
    'Compared at': compared?.comparedAt,
    'Closed at': compared?.closedAt,
    Movements: isOfService ? compared?.movements?.toLocaleString('en') : null,
    Hash: isOfService && compared?.hash ? html`<code>${compared.hash}</code>` : null,
  });
};

/** Whether the person's application has or had to do with the account: nobody learns which accounts others have. */
const concerns = async (request: PersonRequest, gateway: string, day: string): Promise<boolean> => {
  if ((await visibleGateways(request)).includes(gateway)) return true;
  const { accounts } = request.operations;
  const owner = readOwner(request);
  if (owner.application === null) return false;
  const found = await accounts.listDifferences({ gateway, day, state: null, ...owner }, 1);
  if (found.length > 0) return true;
  const sums = await sumOrNone(request, { gateway, from: day, to: day, ...owner });
  return sums === undefined || sums.length > 0;
};

/** Undefined: there are too many movements. */
const sumOrNone = async (
  { operations }: PersonRequest,
  filter: Parameters<PersonRequest['operations']['accounts']['sum']>[0],
): Promise<MovementSum[] | undefined> => {
  try {
    return await operations.accounts.sum(filter);
  } catch (error) {
    if (isQueryCanceled(error)) return undefined;
    throw error;
  }
};

const findDay = async (request: PersonRequest) => {
  const { gateway, day } = request.params;
  const gateways = await request.operations.gateways.list();
  const account = gateways.find(({ slug }) => slug === gateway);
  if (!isDay(day) || !account || !(await concerns(request, gateway, day)))
    throw new NotFound('There is no such day of a gateway.');
  return { gateway, day, timeZone: account.timeZone };
};

/** The number of the last difference on the page before. */
const readAfter = (query: Query): number =>
  query.read('after', (text) => (/^\d{1,15}$/.test(text) ? Number(text) : null)) ?? 0;

const waitMs = 15 * minuteMs;

/** A comparison that a person has begun: the time of the one before it, and until when the page waits for its end. */
const readBegun = (query: Query) =>
  query.read('begun', (text) => {
    const [, before, at] = /^(\d{1,15})\.(\d{1,15})$/.exec(text) ?? [];
    return at === undefined ? null : { before: Number(before), until: Number(at) + waitMs };
  });
const timeOf = (compared: ComparedDay | undefined): number => compared?.comparedAt.getTime() ?? 0;

const findCompared = async (
  { operations }: PersonRequest,
  { gateway, day }: AccountDay,
): Promise<ComparedDay | undefined> => {
  const range = { gateway, from: day, to: day };
  const [compared] = await operations.accounts.listDays(range, { application: null, test: null });
  return compared;
};

const comparisonNotice = (runs: boolean | 'for too long'): Html => {
  if (runs === 'for too long')
    return notice(
      'bad',
      'The comparison has no result yet: the gateway gives no answer, or no worker runs. The service goes on trying.',
    );
  return runs
    ? notice('info', 'The comparison runs. Its result appears here by itself.')
    : notice('good', 'The day was compared. This is the result.');
};

/** The pages of one day of a gateway's account. */
export const accountDayRoutes = ({ now }: Pick<Deps, 'now'>): Route[] => {
  /** Whether the comparison that the page waits for still runs. Undefined: it waits for none. */
  const isRunning = ({ query }: PersonRequest, compared: ComparedDay | undefined) => {
    const begun = readBegun(query);
    if (!begun) return undefined;
    if (timeOf(compared) !== begun.before) return false;
    return now().getTime() < begun.until ? true : 'for too long';
  };

  /** The part of the page that a comparison changes. */
  const current = async (request: PersonRequest): Promise<Live> => {
    const { query, operations, session, csrf } = request;
    const { accounts } = operations;
    const { gateway, day, timeZone } = await findDay(request);
    const owner = readOwner(request);
    const { application } = owner;
    const choice = choiceOf(query, 'state', accountDifferenceStates, {
      label: 'State',
      of: 'differenceState',
    });
    const state = choice.chosen;
    const after = readAfter(query);
    const range = { gateway, from: day, to: day };
    const [[compared], sums, found, applications] = await Promise.all([
      accounts.listDays(range, owner),
      sumOrNone(request, { ...range, ...owner }),
      accounts.listDifferences({ gateway, day, state, ...owner, after }, pageSize + 1),
      visibleApplications(request),
    ]);
    const { rows, last } = pageOf(found);
    const path = `/accounts/${gateway}/${day}`;
    const runs = isRunning(request, compared);
    const shown = { application, state, after: query.get('after'), begun: query.get('begun') };
    return live(
      html`${runs === undefined ? '' : comparisonNotice(runs)} ${dayFacts(compared, timeZone, request)}
        ${filterBar(request, {
          path,
          choices: [choice, applicationChoice(request, applications, application)],
          hasTimes: false,
          others:
            session.role === 'viewer' || session.applications !== null || day > lastBegunDay(now())
              ? undefined
              : html`<form method="post" action="${path}/compare">
                  <input type="hidden" name="csrf" value="${csrf}" />
                  <button class="main">${compared ? 'Compare again' : 'Compare'}</button>
                </form>`,
        })}
        <h2>Sums of the day</h2>
        ${daySums(request, sums)}
        <h2>Differences</h2>
        ${
          rows.length === 0 && !compared
            ? notice('info', 'The day was not compared yet.')
            : differenceTable(request, rows, {
                ifEmpty:
                  state === null ? 'The day has no difference.' : 'There is no such difference.',
              })
        }
        ${
          last
            ? html`<nav class="pages" aria-label="Pages">
                <a href="${addressOf(path, { application, state, after: `${last.id}` })}" rel="next">More</a>
              </nav>`
            : ''
        }`,
      { address: runs === true ? addressOf(`${path}/state`, shown) : null, seconds: 2 },
    );
  };

  /** Until the comparison has ended, it reads no sums: the page has asked for them. */
  const poll = async (request: PersonRequest): Promise<ConsoleResponse> => {
    const { gateway, day } = await findDay(request);
    const compared = await findCompared(request, { gateway, day });
    if (isRunning(request, compared) === true) return { kind: 'part', content: undefined };
    return partOf(request, await current(request));
  };

  const show = async (request: PersonRequest): Promise<ConsoleResponse> => {
    const { session } = request;
    const { gateway, day } = await findDay(request);
    const { application } = readOwner(request);
    const at = `/accounts/${gateway}`;
    const { content } = await current(request);
    return page(
      `${gateway} on ${day}`,
      html`<p class="links">
          ${link(addressOf('/accounts', { month: day.slice(0, 7), application }), nameOfMonth(day.slice(0, 7)))}
          ${link(addressOf(`${at}/${addDays(day, -1)}`, { application }), '← The day before')}
          ${link(addressOf(`${at}/${addDays(day, 1)}`, { application }), 'The day after →')}
          ${
            session.role === 'viewer'
              ? ''
              : link(addressOf(`${at}/${day}/file`, { application }), 'Movements of the day as CSV')
          }
        </p>
        ${content}`,
    );
  };

  /** It changes no movement and no difference that an admin has explained, so it asks nothing and leaves no record. */
  const compare = async (request: PersonRequest): Promise<ConsoleResponse> => {
    const { gateway, day } = await findDay(request);
    const compared = await findCompared(request, { gateway, day });
    await request.operations.accounts.compare({ gateway, day });
    const begun = `${timeOf(compared)}.${now().getTime()}`;
    return redirect(addressOf(`/accounts/${gateway}/${day}`, { begun }));
  };

  const fileOfDay = async (request: PersonRequest): Promise<ConsoleResponse> => {
    const { gateway, day } = await findDay(request);
    const owner = readOwner(request);
    const filter = { gateway, ...owner, from: day, to: day };
    const { lines } = await request.operations.accounts.exportMovements(filter);
    return { kind: 'file', name: fileName(`movements-${gateway}-${day}`, owner.test), lines };
  };

  const path = '/accounts/:gateway/:day';
  return [
    { method: 'GET', path, role: 'viewer', owner: 'list', handle: show },
    {
      method: 'GET',
      path: `${path}/state`,
      role: 'viewer',
      isPolled: true,
      owner: 'list',
      handle: poll,
    },
    { method: 'GET', path: `${path}/file`, role: 'operator', owner: 'list', handle: fileOfDay },
    { method: 'POST', path: `${path}/compare`, role: 'operator', handle: compare },
  ];
};
