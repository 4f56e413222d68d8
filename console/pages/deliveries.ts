import { html } from 'hono/html';
import { errorClasses } from '../../contract/attempt-error.ts';
import { deliveryStatuses } from '../../contract/status.ts';
import type { DeliveryRow } from '../../postgres/console.ts';
import type { Replay } from '../../postgres/replays.ts';
import {
  choose,
  listFilters,
  pageLinks,
  pageOf,
  positionOf,
  readDeliveryFilter,
  select,
} from '../filters.ts';
import type { Cell, Html } from '../html.ts';
import { idLink, link, notice, state, nowrap } from '../html.ts';
import type { ConsoleResponse, Deps, PersonRequest, Route } from '../request.ts';
import { page } from '../request.ts';

const headings = [
  'Payment',
  'Ended',
  'Application',
  'Order',
  'Event',
  'Webhook',
  'Attempts',
  'Last answer',
];

const rowOf = (row: DeliveryRow, isPending: boolean): Cell[] => [
  idLink(`/payments/${row.paymentId}`, row.paymentId),
  row.createdAt,
  html`${link(`/applications/${row.application}`, row.application)}${row.test ? ' (test)' : ''}`,
  row.orderId,
  nowrap(row.kind),
  state(row.status),
  row.attempts,
  [row.responseStatus, row.errorClass].filter((part) => part !== null).join(' · '),
  ...(isPending ? [row.nextAttemptAt] : []),
];

const checkbox = ({ eventId, paymentId }: DeliveryRow): Html =>
  html`<input type="checkbox" name="event" value="${eventId}" aria-label="Select ${paymentId}" />`;

/** The statuses from which another round can begin. */
export const retriggerable = ['exhausted', 'delivered'] as const;

const runningShown = 5;

const runningNotice = (running: readonly Replay[]): Html =>
  html`${running.map(({ id, begun, refused, matched }) =>
    notice(
      'info',
      html`A re-trigger is running: ${begun + refused} of ${matched}.
        <a href="/deliveries/retriggers/${id}">Show it</a>`,
    ),
  )}`;

/** The filter goes along, so that the re-trigger takes what the list shows, and not only this page of it. */
const selection = (query: URLSearchParams, table: Html): Html =>
  html`<form method="get" action="/deliveries/retrigger">
    ${[...query]
      .filter(([name, value]) => name !== 'after' && name !== 'event' && value !== '')
      .map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}" />`)}
    <div class="actions">
      <button name="scope" value="selected">Re-trigger the selected</button>
      <button name="scope" value="all">Re-trigger all that match</button>
      <label class="choice" hidden data-selects-all>
        <input type="checkbox" /> Select this page <span class="soft"></span>
      </label>
    </div>
    ${table}
  </form>`;

export const deliveryRoutes = (deps: Deps): Route[] => {
  const list = async (request: PersonRequest): Promise<ConsoleResponse> => {
    const { query, cells, session } = request;
    const status = choose(query, 'status', deliveryStatuses) ?? 'exhausted';
    const errorClass = choose(query, 'error', errorClasses);
    const operations = deps.operationsOf(session.name);
    const [found, applications, running] = await Promise.all([
      deps.queries.listDeliveries({
        ...readDeliveryFilter(request, deps.now()),
        statuses: [status],
        kind: null,
        errorClass,
      }),
      operations.applications.list(1_000),
      operations.retriggers.listRunning(runningShown),
    ]);
    const { rows, last } = pageOf(found);
    const own = html`${select('Webhook', 'status', { choices: deliveryStatuses, chosen: status })}
    ${select('Last error', 'error', {
      choices: errorClasses,
      chosen: errorClass,
      any: 'any',
    })}`;
    const selects =
      session.role !== 'viewer' && rows.length > 0 && retriggerable.some((each) => each === status);
    const isPending = status === 'pending';
    const table = cells.table({
      caption: 'Deliveries',
      headings: [
        ...(selects ? ['Select'] : []),
        ...headings,
        ...(isPending ? ['Next attempt'] : []),
      ],
      rows: rows.map((row) => [...(selects ? [checkbox(row)] : []), ...rowOf(row, isPending)]),
      ifEmpty:
        status === 'exhausted' && errorClass === null
          ? 'No webhook is exhausted: every event was delivered, or will be tried again.'
          : 'No delivery matches this filter.',
    });
    return page(
      'Deliveries',
      html`<p class="links">${link('/deliveries/retriggers', 'Recent re-triggers')}</p>
      ${runningNotice(running)}
      ${listFilters(request, { own, applications: applications.map(({ slug }) => slug) })}
      ${selects ? selection(query, table) : table}
      ${pageLinks('/deliveries', query, {
        next: last ? positionOf({ at: last.createdAt, id: last.eventId }) : null,
      })}
      `,
    );
  };
  return [{ method: 'GET', path: '/deliveries', role: 'viewer', handle: list }];
};
