import { html } from 'hono/html';
import { formatMoney } from '../../../contract/money.ts';
import { dayMs } from '../../../contract/time.ts';
import { feeText, reportedFeesText } from '../../operations/facts.ts';
import type { GatewayDetails } from '../../operations/gateways.ts';
import type { ComparedDay } from '../../../postgres/accounts/days.ts';
import { type CallCount, callsMax } from '../../../postgres/gateways/figures.ts';
import { addDays, lastBegunDay } from '../calendar.ts';
import { chartPart } from '../chart.ts';
import { hourIn, hoursUntil } from '../hours.ts';
import { changeable, coded, type Html, idLink, link, marked, type Row, time } from '../html.ts';
import type { ConsoleResponse, Deps, PersonRequest, Route } from '../request.ts';
import { page } from '../request.ts';
import { gatewayActionsOf, gatewayCells, opensNothingCell } from './gateways.ts';
import { conversions, percent } from './overview.ts';

const daysShown = 7;
/** A longer list of currencies is folded. */
const currenciesShown = 10;

const series = [
  { name: 'answered', className: 'paid' },
  { name: 'no answer', className: 'other' },
  { name: 'failed here', className: 'waiting' },
] as const;

const partOf = ({ result }: CallCount): number =>
  result === 'no_answer' ? 1 : result === 'error' ? 2 : 0;

const callsPart = (
  calls: readonly CallCount[],
  hours: readonly Date[],
  { cells, zone }: PersonRequest,
): Html => {
  if (calls.length === 0)
    return html`<p class="empty">No call of the last 24 hours is recorded.</p>`;
  const label = hourIn(zone);
  const bars = hours.map((hour) => {
    const own = calls.filter((each) => each.hour.getTime() === hour.getTime());
    const parts = series.map((_series, part) =>
      own.filter((each) => partOf(each) === part).reduce((sum, { count }) => sum + count, 0),
    );
    return { label: label(hour), parts };
  });
  return html`${chartPart(
    { title: 'Calls of the last 24 hours, by hour and answer', bars, series },
    {
      caption: 'Calls by hour',
      rows: bars.map(({ label: hour, parts }) => ({
        Hour: hour,
        ...Object.fromEntries(series.map(({ name }, part) => [name, parts[part]])),
      })),
    },
    cells,
  )}
    <p class="soft">
      The recorded calls of the account, live and test, at most the newest ${callsMax.toLocaleString('en')} with each answer. Of repeated
      inquiries about a payment the last one counts, and the first one without an answer.
    </p>`;
};

const daysPart = (
  slug: string,
  days: readonly ComparedDay[],
  { cells }: Pick<PersonRequest, 'cells'>,
): Html =>
  html`<h2>Days</h2>
    ${cells.table({
      caption: 'Days',
      rows: days.map(({ day, closedAt, open, comparedAt }) => ({
        Day: link(`/accounts/${slug}/${day}`, day),
        State: closedAt === null ? marked('open', 'not closed') : marked('good', 'closed'),
        'Open differences': open === 0 ? '0' : marked('bad', String(open)),
        Compared: comparedAt,
      })),
      ifEmpty: `No day of the last ${daysShown} was compared.`,
    })}
    <p class="links">${link('/accounts', 'All account days')}</p>`;

const boundsPart = (
  bounds: GatewayDetails['bounds'],
  { cells }: Pick<PersonRequest, 'cells'>,
): Html => {
  if (bounds === null) return html`<p class="empty">This version does not have its driver.</p>`;
  const { currencies, expirySeconds } = bounds;
  const table = cells.table({
    caption: 'Amounts that it takes',
    rows: [...currencies].map(([currency, { min, max, step }]) => ({
      Currency: currency,
      From: formatMoney({ amount: min, currency }),
      To: formatMoney({ amount: max, currency }),
      'In steps of': step === 1 ? null : formatMoney({ amount: step, currency }),
    })),
    ifEmpty: 'It takes no currency.',
  });
  const timeText = (seconds: number) =>
    seconds < 7_200 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds / 3_600)} h`;
  return html`<p>
      A payment may be open for ${timeText(expirySeconds.min)} to ${timeText(expirySeconds.max)}.
    </p>
    ${
      currencies.size <= currenciesShown
        ? table
        : html`<details><summary>${currencies.size} currencies</summary>${table}</details>`
    }`;
};

/** The page of one gateway. */
export const gatewayPageRoutes = ({
  gatewayFigures,
  queries,
  now,
}: Pick<Deps, 'gatewayFigures' | 'queries' | 'now'>): Route[] => {
  const healthFacts = async (slug: string, request: PersonRequest, since: Date): Promise<Row> => {
    const [silentSince, lastError, counts] = await Promise.all([
      gatewayFigures.silentSince(slug),
      gatewayFigures.lastError(slug),
      queries.countByGateway(request.test, since),
    ]);
    const [conversion] = conversions(counts.filter(({ gateway }) => gateway === slug));
    return {
      Answers:
        silentSince === null
          ? marked('good', 'yes')
          : html`${marked('bad', 'none since')} ${time(silentSince, request.formatTime)}`,
      'Last error': lastError
        ? html`${time(lastError.at, request.formatTime)} · ${coded('exchange', lastError.operation)} ·
            ${
              lastError.message === null && lastError.code === null
                ? coded('exchangeResult', lastError.result)
                : request.cells.cell(lastError.message ?? lastError.code)
            } ·
            ${idLink(`/payments/${lastError.paymentId}`, lastError.paymentId)}`
        : 'none is recorded',
      'Conversion of 24 hours': conversion
        ? `${percent(conversion.paid, conversion.ended) ?? '–'} of ${conversion.ended} that ended`
        : 'no payment',
    };
  };

  const show = async (request: PersonRequest): Promise<ConsoleResponse> => {
    const { operations, params, session } = request;
    const { slug } = params;
    const { gateway, bounds, reportsFees } = await operations.gateways.get(slug);
    const at = now();
    const hours = hoursUntil(at);
    const since = hours[0] ?? new Date(at.getTime() - dayMs);
    const today = lastBegunDay(at);
    const range = { gateway: slug, from: addDays(today, 1 - daysShown), to: today };
    const [opensNothing, health, calls, days] = await Promise.all([
      operations.gateways.opensNothing(request.test),
      healthFacts(slug, request, since),
      gatewayFigures.calls(slug, since),
      operations.accounts.listDays(range, { application: null, test: request.test }),
    ]);
    const isAdmin = session.role === 'admin';
    const setting = (value: string, name: string) =>
      isAdmin ? changeable(value, `/gateways/${slug}/account`, name) : value;
    const reported = reportedFeesText(gateway, reportsFees);
    const { Gateway: _, ...cells } = gatewayCells(
      gateway,
      opensNothingCell(opensNothing.get(slug), request),
    );
    return page(
      `Gateway ${slug}`,
      html`${request.cells.facts({
        ...cells,
        ...health,
        'Its days begin at midnight of': setting(gateway.timeZone, 'time zone'),
        'Fee of a payment': setting(feeText(gateway), 'fee'),
        'Fees that it reports': reportsFees ? setting(reported, 'reported fees') : reported,
      })}
        <p class="links">
          ${link(`/payments?gateway=${slug}`, 'Payments')} ${link(`/attention/silent?gateway=${slug}`, 'Open payments without an answer')}
          ${link(`/audit?subject=gateway:${slug}`, 'Audit')}
        </p>
        ${isAdmin ? gatewayActionsOf(gateway) : ''}
        <h2>Calls by hour</h2>
        ${callsPart(calls, hours, request)}
        ${daysPart(slug, days, request)}
        <h2>What it takes</h2>
        ${boundsPart(bounds, request)}`,
    );
  };

  return [{ method: 'GET', path: '/gateways/:slug', role: 'viewer', handle: show }];
};
