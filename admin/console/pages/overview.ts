import { html } from 'hono/html';
import { labelOf } from '../../operations/labels.ts';
import type { Attention } from '../../../postgres/admin/attention.ts';
import {
  comparedMax,
  type GatewayCount,
  type HourCount,
  type Waiting,
  waitingMax,
} from '../../../postgres/console/queries.ts';
import type { FailureCount } from '../../../postgres/console/health.ts';
import { singleFlight } from '../../../telemetry/single-flight.ts';
import { chartPart } from '../chart.ts';
import { hourIn, hoursUntil } from '../hours.ts';
import { type Html, idLink, link, notice } from '../html.ts';
import type { ConsoleRequest, ConsoleResponse, Deps, PersonRequest, Route } from '../request.ts';
import { page, redirect } from '../request.ts';
import { modeIn, modeName } from '../mode.ts';
import { attentionPart } from './attention.ts';
import { dayMs } from '../../../contract/time.ts';

const failuresShown = 20;
const keptMs = 14_000;
const heartbeatTimeoutMs = 1_500;

interface Figures {
  at: Date;
  counts: HourCount[];
  gateways: GatewayCount[];
  failures: FailureCount[];
  waiting: Waiting;
  attention: Attention;
  oldest: { id: string; createdAt: Date } | undefined;
  /** Undefined: Temporal does not answer. */
  sweeper: Date | null | undefined;
}

const readFigures = async (
  deps: Deps,
  test: boolean,
  readSweeper: () => Promise<Date | null | undefined>,
): Promise<Figures> => {
  const at = deps.now();
  const [firstHour = at] = hoursUntil(at);
  const [counts, gateways, failures, waiting, attention, oldest, sweeper] = await Promise.all([
    deps.queries.countByHour(test, firstHour),
    deps.queries.countByGateway(test, firstHour),
    deps.health.failures(test, { since: new Date(at.getTime() - dayMs), until: at }, failuresShown),
    deps.queries.waiting(test),
    deps.attention.get(test),
    deps.queries.oldestOpen(test),
    readSweeper(),
  ]);
  return { at, counts, gateways, failures, waiting, attention, oldest, sweeper };
};

const total = (counts: readonly Pick<HourCount, 'count'>[]): number =>
  counts.reduce((sum, { count }) => sum + count, 0);

const series = [
  { name: 'paid', className: 'paid' },
  { name: 'failed, cancelled or expired', className: 'other' },
  { name: 'open', className: 'waiting' },
] as const;

const partOf = ({ status }: Pick<HourCount, 'status'>): number =>
  status === 'paid' ? 0 : status === 'pending' || status === 'processing' ? 2 : 1;

const hourly = ({ at, counts }: Figures, zone: string) => {
  const label = hourIn(zone);
  return hoursUntil(at).map((hour) => {
    const own = counts.filter((each) => each.hour.getTime() === hour.getTime());
    const parts = series.map((_series, part) => total(own.filter((each) => partOf(each) === part)));
    return { label: label(hour), parts };
  });
};

export const conversions = (counts: readonly GatewayCount[]) =>
  [...Map.groupBy(counts, ({ gateway }) => gateway)]
    .toSorted(([one], [other]) => one.localeCompare(other))
    .map(([gateway, own]) => {
      const paid = total(own.filter(({ status }) => status === 'paid'));
      const ended = total(own.filter((each) => partOf(each) !== 2));
      return { gateway, paid, ended, all: total(own) };
    });

export const percent = (part: number, whole: number): string | null =>
  whole === 0 ? null : `${((100 * part) / whole).toFixed(1)} %`;

const seconds = (count: number): string => {
  if (count < 120) return `${Math.round(count)} s`;
  if (count < 7_200) return `${Math.round(count / 60)} min`;
  return count < 172_800 ? `${Math.round(count / 3_600)} h` : `${Math.round(count / 86_400)} days`;
};

const card = (name: string, value: Html | string, detail: Html | string = ''): Html =>
  html`<li>${name}<strong>${value}</strong><span class="soft">${detail}</span></li>`;

const most = (count: number): string => (count === waitingMax ? '10,000+' : String(count));

const sweeperCard = ({ sweeper, at }: Figures): Html => {
  if (sweeper === undefined) return card('Background checks', '?', 'Temporal does not answer');
  if (sweeper === null) return card('Background checks', '▲ not running', 'no worker reports');
  const age = seconds((at.getTime() - sweeper.getTime()) / 1000);
  return card('Background checks', 'running', `last report ${age} ago`);
};

const quarterNames = ['24 to 18 h ago', '18 to 12 h', '12 to 6 h', 'The last 6 h'];

const cards = (figures: Figures): Html => {
  const { waiting, oldest, counts, at } = figures;
  const { notStarted, notStartedSince, overdueSince } = waiting;
  const ageOf = (since: Date) => seconds((at.getTime() - since.getTime()) / 1000);
  const ended = counts.filter((each) => partOf(each) !== 2);
  return html`<ul class="cards">
    ${card('Payments in 24 hours', String(total(counts)))}
    ${card(
      'Conversion',
      percent(total(ended.filter((each) => each.status === 'paid')), total(ended)) ?? '–',
      'paid, of those that ended',
    )}
    ${card(
      'Oldest open payment',
      oldest ? ageOf(oldest.createdAt) : '–',
      oldest ? idLink(`/payments/${oldest.id}`, oldest.id) : 'none is open',
    )}
    ${card(
      'Payments not started yet',
      most(notStarted),
      notStartedSince ? `the oldest for ${ageOf(notStartedSince)}` : '',
    )}
    ${card('Longest overdue webhook', overdueSince ? ageOf(overdueSince) : 'none')}
    ${sweeperCard(figures)}
  </ul>`;
};

const figuresPart = (figures: Figures, request: ConsoleRequest, test: boolean): Html => {
  const { cells, zone, formatTime } = request;
  const bars = hourly(figures, zone);
  return html`${
    figures.sweeper === undefined
      ? notice(
          'bad',
          'Temporal is unavailable. The API still creates and shows payments. Outcomes and webhooks wait until Temporal is back.',
        )
      : ''
  }
    ${
      total(figures.counts) === 0 && !test
        ? html`<p class="soft">No live payment was created in the last 24 hours. The switch in the head shows tests.</p>`
        : ''
    }
    <h2>Needs attention</h2>
    ${attentionPart(figures.attention, request, figures.at)}
    ${cards(figures)}
    <h2>Payments by hour</h2>
    ${chartPart(
      { title: 'Payments of the last 24 hours, by hour and result', bars, series },
      {
        caption: 'Payments by hour',
        rows: bars.map(({ label, parts }) => ({
          Hour: label,
          ...Object.fromEntries(series.map(({ name }, part) => [name, parts[part]])),
        })),
      },
      cells,
    )}
    <h2>Conversion by gateway</h2>
    <div class="compact">${cells.table({
      caption: 'Conversion by gateway',
      rows: conversions(figures.gateways).map(({ gateway, all, ended, paid }) => ({
        Gateway: gateway,
        Payments: all,
        Ended: ended,
        Paid: paid,
        'Paid of ended': percent(paid, ended),
      })),
      ifEmpty: 'No payment was created in the last 24 hours.',
    })}</div>
    <h2>Failures by gateway and reason</h2>
    <div class="compact">${cells.table({
      caption: 'Failures by gateway and reason',
      rows: figures.failures.map(({ gateway, failureCode, quarters }) => ({
        Gateway: gateway,
        Reason: link(
          `/payments?gateway=${gateway}&failure=${failureCode}&period=24+hours`,
          labelOf('failure', failureCode),
        ),
        ...Object.fromEntries(quarterNames.map((name, quarter) => [name, quarters[quarter]])),
      })),
      ifEmpty: 'No payment failed in the last 24 hours.',
    })}</div>
    <p class="soft">
      The last 24 hours. Large applications: their newest ${comparedMax.toLocaleString('en')} payments, and as many failures.
    </p>
    <p class="soft">As of ${formatTime(figures.at)}.</p>`;
};

/** Several tabs share one reading. */
const createReader = (deps: Deps) => {
  const readSweeper = singleFlight(deps.readLastHeartbeat, { limitMs: heartbeatTimeoutMs });
  const kept = new Map<boolean, { readAt: number; figures: Promise<Figures> }>();
  return (test: boolean): Promise<Figures> => {
    const known = kept.get(test);
    const readAt = performance.now();
    if (known && readAt - known.readAt < keptMs) return known.figures;
    const figures = readFigures(deps, test, readSweeper);
    kept.set(test, { readAt, figures });
    figures.catch(() => kept.delete(test));
    return figures;
  };
};

export const overviewRoutes = (deps: Deps): Route[] => {
  const read = createReader(deps);
  const figuresOf = async (request: ConsoleRequest, test: boolean): Promise<Html> =>
    figuresPart(await read(test), request, test);

  const show = async (request: PersonRequest): Promise<ConsoleResponse> => {
    const [own] = request.session.applications ?? [];
    if (own !== undefined) return redirect(`/applications/${own}`);
    const { test } = request;
    return page(
      'Overview',
      html`<div hx-get="/overview?mode=${modeName(test)}" hx-trigger="every 15s" hx-swap="innerMorph">
        ${await figuresOf(request, test)}
      </div>`,
    );
  };

  /** In the mode of the page that asks, also if the person has changed it in another tab. */
  const refresh = async (request: ConsoleRequest): Promise<ConsoleResponse> => ({
    kind: 'part',
    content: await figuresOf(request, modeIn(request.query) ?? request.test),
  });

  return [
    { method: 'GET', path: '/', role: 'viewer', owner: 'person', handle: show },
    { method: 'GET', path: '/overview', role: 'viewer', isPolled: true, handle: refresh },
  ];
};
